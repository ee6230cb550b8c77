//! Skills that open a conversation of their own: another way to begin an agent.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use engine::AgentName;
use hosts::DEFAULT_SESSION_HOST;
use runtime::environment::Environment;

use super::guarded_session::Guarded;

/// The front matter is at the beginning; no skill needs more.
const MOST_BYTES: u64 = 16 * 1024;

/// The agent that the host would begin for this skill, or `None` if it begins none. A skill whose
/// file is nowhere to be found is not judged here: what it begins was not admitted, and can do
/// nothing.
pub(super) fn forked(guarded: &Guarded<'_, '_>, skill: &str) -> Option<AgentName> {
    let worktree = Path::new(guarded.opened.stored.worktree());
    forked_in(worktree, &guarded.workspace.context.environment, skill)
}

/// The same for an agent that works in this folder.
pub(super) fn forked_in(
    worktree: &Path,
    environment: &Environment,
    skill: &str,
) -> Option<AgentName> {
    agent_of(&text_of(environment, Some(worktree), skill)?)
}

/// Is it certain that this skill begins no agent? Its file is there, and says so.
pub(super) fn begins_nobody(environment: &Environment, skill: &str) -> bool {
    let text = text_of(environment, environment.project.as_deref(), skill);
    text.is_some_and(|text| agent_of(&text).is_none())
}

fn text_of(environment: &Environment, worktree: Option<&Path>, skill: &str) -> Option<String> {
    let project = worktree.map(|worktree| worktree.join(DEFAULT_SESSION_HOST.places.folder));
    let folders = [project, environment.settings_folder()];
    let mut folders = folders.into_iter().flatten();
    folders.find_map(|folder| read(&folder, skill))
}

fn read(folder: &Path, skill: &str) -> Option<String> {
    // A name is the name of one folder; anything else is ignored.
    let plain = !skill.is_empty()
        && skill
            .chars()
            .all(|c| c.is_alphanumeric() || "-_.".contains(c));
    if !plain || skill.starts_with('.') {
        return None;
    }
    let files: [PathBuf; 2] = [
        folder.join("skills").join(skill).join("SKILL.md"),
        folder.join("commands").join(format!("{skill}.md")),
    ];
    files.into_iter().find_map(|path| {
        let mut text = String::new();
        let file = fs::File::open(path).ok()?;
        file.take(MOST_BYTES).read_to_string(&mut text).ok()?;
        Some(text)
    })
}

/// Reads `context: fork` and `agent: NAME` from the front matter.
fn agent_of(text: &str) -> Option<AgentName> {
    let mut lines = text.lines();
    if lines.next()?.trim_end() != "---" {
        return None;
    }
    let (mut forks, mut agent) = (false, "general-purpose".to_owned());
    for line in lines.take_while(|line| line.trim_end() != "---") {
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        let value = value.trim().trim_matches(['"', '\'']);
        match key.trim() {
            "context" => forks = value == "fork",
            "agent" => agent = value.to_owned(),
            _ => {}
        }
    }
    forks.then(|| AgentName::parse(&agent).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fork_is_told_by_the_front_matter() {
        for (text, expected) in [
            (
                "---\nname: x\ncontext: fork\n---\nbody",
                Some("general-purpose"),
            ),
            (
                "---\ncontext: \"fork\"\nagent: 'writer'\n---\n",
                Some("writer"),
            ),
            ("---\nagent: writer\n---\ncontext: fork\n", None),
            ("context: fork\n", None),
            ("", None),
        ] {
            let agent = agent_of(text);
            assert_eq!(agent.as_ref().map(AgentName::as_str), expected, "{text}");
        }
    }

    #[test]
    fn a_name_stays_in_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("skills/good")).unwrap();
        fs::write(folder.path().join("skills/good/SKILL.md"), "---").unwrap();
        assert!(read(folder.path(), "good").is_some());
        for name in ["../skills/good", "", ".", "good/", "absent"] {
            assert!(read(folder.path(), name).is_none(), "{name}");
        }
    }
}
