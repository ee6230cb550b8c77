//! The file of an agent: the host takes the model from there if a call names none.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use engine::AgentName;
use hosts::DEFAULT_SESSION_HOST;

use super::guarded_session::Guarded;

/// The front matter is at the beginning.
const MOST_BYTES: u64 = 16 * 1024;

/// The host's word for the model of the session.
const SESSIONS: &str = "inherit";

/// The model with which the host would start the agent: that of the call, else that of the agent's file, else
/// the session's own.
pub(super) fn model(guarded: &Guarded<'_, '_>, agent: &AgentName, named: Option<&str>) -> String {
    if let Some(named) = named {
        return named.to_owned();
    }
    let worktree = Path::new(guarded.opened.stored.worktree());
    let project = worktree.join(DEFAULT_SESSION_HOST.places.folder);
    let user = guarded.workspace.context.environment.settings_folder();
    let mut folders = [Some(project), user].into_iter().flatten();
    let of_file = folders.find_map(|folder| text(&folder, agent).map(|text| model_of(&text)));
    of_file.flatten().unwrap_or_else(|| SESSIONS.to_owned())
}

/// Names of agents have no slash, so the file stays in its folder.
fn text(folder: &Path, agent: &AgentName) -> Option<String> {
    let path = folder.join("agents").join(format!("{agent}.md"));
    let mut text = String::new();
    let file = fs::File::open(path).ok()?;
    file.take(MOST_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

/// `model: NAME` in the front matter.
fn model_of(text: &str) -> Option<String> {
    let mut lines = text.lines();
    if lines.next()?.trim_end() != "---" {
        return None;
    }
    let front = lines.take_while(|line| line.trim_end() != "---");
    let mut pairs = front.filter_map(|line| line.split_once(':'));
    let (_, value) = pairs.find(|(key, _)| key.trim() == "model")?;
    let value = value.trim().trim_matches(['"', '\'']);
    (!value.is_empty()).then(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_told_by_the_front_matter() {
        for (text, expected) in [
            ("---\nname: x\nmodel: opus\n---\nbody", Some("opus")),
            ("---\nmodel: 'sonnet'\n---\n", Some("sonnet")),
            ("---\nname: x\n---\nmodel: opus\n", None),
            ("---\nmodel:\n---\n", None),
            ("model: opus\n", None),
            ("", None),
        ] {
            assert_eq!(model_of(text).as_deref(), expected, "{text}");
        }
    }
}
