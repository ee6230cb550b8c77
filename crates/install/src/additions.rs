//! What a pipeline adds to files that are the person's: lines of `.gitignore`, and a part of the memory
//! file that every session reads.

use engine::Definition;
use evidence::Project;
use language::Sources;
use runtime::failure::Failure;

use super::disk::BaseFolder;
use super::host::PLACES;
use super::marked_section::{MarkStyle, SectionOwner, UnpairedMark};
use super::plan::{Change, Plan};
use super::record::FileKind;
use super::settings_files::LOCAL;

const IGNORED: &str = ".gitignore";
const MEMORY: &str = PLACES.memory;

/// What one pipeline adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Additions {
    owner: SectionOwner,
    /// What git is to leave out: what we render for one machine, and what the definition names.
    ignored: Vec<String>,
    /// The text for every session.
    protocol: Option<String>,
}

impl Additions {
    pub fn of(definition: &Definition, sources: &Sources) -> Self {
        let views = definition.views.iter().map(|view| pattern(&view.path));
        let mut ignored: Vec<String> = Vec::new();
        // What the definition ignores may cover what we render.
        for line in definition.ignores.iter().cloned().chain(views) {
            if !has(&ignored.join("\n"), &line) {
                ignored.push(line);
            }
        }
        let path = definition.protocol.as_ref();
        let protocol = path.and_then(|path| sources.files.get(path));
        Self {
            owner: SectionOwner::Pipeline(definition.name.to_string()),
            ignored,
            protocol: protocol.map(|bytes| String::from_utf8_lossy(bytes).into_owned()),
        }
    }

    /// The settings of this machine, which git is to leave out.
    pub fn of_settings() -> Self {
        Self {
            owner: SectionOwner::Program,
            ignored: vec![LOCAL.to_owned()],
            protocol: None,
        }
    }

    /// What is no longer in the project's files, each with the file that lacks it.
    pub fn missing(&self, base: &BaseFolder, project: &Project) -> Result<Vec<String>, Failure> {
        let mut missing = Vec::new();
        if project.is_git() {
            let present = text(base.read(IGNORED)?.as_deref());
            let lines = self.ignored.iter().filter(|line| !has(&present, line));
            missing.extend(lines.map(|line| format!("{IGNORED} lacks `{line}`")));
        }
        if let Some(protocol) = &self.protocol
            && !base.is_link(MEMORY)
        {
            let present = base.read(MEMORY)?.unwrap_or_default();
            let renewed = MarkStyle::Markup.with(&present, &self.owner, &spaced(protocol));
            if renewed.as_ref() != Ok(&present) {
                missing.push(format!("{MEMORY} lacks the protocol of {}", self.owner));
            }
        }
        Ok(missing)
    }
}

/// Plans the lines of `.gitignore`. Without git they would mean nothing.
pub fn plan_ignored(plan: &mut Plan, project: &Project, all: &[Additions]) -> Result<(), Failure> {
    if !project.is_git() {
        return Ok(());
    }
    let before = plan.base.read(IGNORED)?;
    let present = before.clone().unwrap_or_default();
    let own = MarkStyle::Hash.without_ours(&present);
    let own = text(Some(&own.map_err(|unpaired| unclear(IGNORED, &unpaired))?));
    let mut after = present;
    for additions in all {
        let lines = additions.ignored.iter();
        let lines: Vec<&str> = lines
            .map(String::as_str)
            .filter(|line| !has(&own, line))
            .collect();
        let renewed = MarkStyle::Hash.with(&after, &additions.owner, &lines.join("\n"));
        after = renewed.map_err(|unpaired| unclear(IGNORED, &unpaired))?;
    }
    push(plan, IGNORED, MarkStyle::Hash, before, after);
    Ok(())
}

/// Plans what the memory file tells to every session.
pub fn plan_memory(plan: &mut Plan, all: &[Additions]) -> Result<(), Failure> {
    if plan.base.is_link(MEMORY) {
        if all.iter().any(|additions| additions.protocol.is_some()) {
            plan.note(format!(
                "{MEMORY} is a symbolic link and was not changed: sessions do not get the protocol"
            ));
        }
        return Ok(());
    }
    let before = plan.base.read(MEMORY)?;
    let mut after = before.clone().unwrap_or_default();
    for additions in all {
        let protocol = additions.protocol.as_deref().map(spaced);
        let protocol = protocol.unwrap_or_default();
        let renewed = MarkStyle::Markup.with(&after, &additions.owner, &protocol);
        after = renewed.map_err(|unpaired| unclear(MEMORY, &unpaired))?;
    }
    push(plan, MEMORY, MarkStyle::Markup, before, after);
    Ok(())
}

fn push(plan: &mut Plan, path: &str, marks: MarkStyle, before: Option<Vec<u8>>, after: Vec<u8>) {
    // A file in which nothing would stand is not made.
    if before.is_none() && after.is_empty() {
        return;
    }
    plan.push(Change {
        path: path.to_owned(),
        kind: FileKind::Marked(marks),
        before,
        after: Some(after),
    });
}

/// Who took one of our marks away must say what is to become of the rest.
pub fn unclear(path: &str, unpaired: &UnpairedMark) -> Failure {
    let mark = &unpaired.mark;
    Failure::refused(format!(
        "in {path} the end mark of Gatewright's part is missing: {mark}"
    ))
    .hint("nothing was written; remove that line and Gatewright's lines below it")
}

/// Markdown reads what follows a comment at once as a part of it.
fn spaced(text: &str) -> String {
    format!("\n{}\n\n", text.trim())
}

fn text(bytes: Option<&[u8]>) -> String {
    String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned()
}

fn has(text: &str, line: &str) -> bool {
    text.lines().any(|present| covers(present, line))
}

/// Does this line of an ignore file plainly cover that one: the same, or a folder around it?
fn covers(line: &str, path: &str) -> bool {
    let line = line.trim().trim_start_matches('/');
    let folder = line.trim_end_matches('*').trim_end_matches('/');
    line == path.trim_start_matches('/')
        || (!folder.is_empty() && path.strip_prefix(folder).is_some_and(is_inside))
}

fn is_inside(rest: &str) -> bool {
    rest.starts_with('/')
}

/// A path with `*` for each of its placeholders.
fn pattern(path: &str) -> String {
    let mut parts = path.split('{');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |pattern, part| {
        let rest = part.split_once('}').map_or(part, |(_, rest)| rest);
        format!("{pattern}*{rest}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_become_stars() {
        for (path, expected) in [
            ("a/b.md", "a/b.md"),
            ("{run}.md", "*.md"),
            ("a/{run}/{target}.json", "a/*/*.json"),
        ] {
            assert_eq!(pattern(path), expected);
        }
    }

    #[test]
    fn a_path_that_is_ignored_already_is_known() {
        for (line, expected) in [
            (".claude/settings.local.json", true),
            ("/.claude/settings.local.json  ", true),
            (".claude", true),
            (".claude/", true),
            ("/.claude/*", true),
            ("*", false),
            ("", false),
            ("# .claude", false),
            ("!.claude/settings.local.json", false),
            (".claude-old", false),
            (".cla", false),
        ] {
            assert_eq!(covers(line, LOCAL), expected, "{line}");
        }
        assert!(covers(".task/", ".task/") && covers(".task", ".task/"));
        assert!(!covers(".task/x", ".task/") && !covers("*.md", "*.bundle.md"));
    }
}
