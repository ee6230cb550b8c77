//! What a project and its host get: slash commands, files of agents, commands and skills, lines for git.

use engine::{Act, CommandName, Outcome, PathGlob, nearest};

use super::Reader;
use crate::diagnostic::{listed, quote};
use crate::rule::LanguageRule;
use crate::source::{is_below, is_given};
use crate::tree::{Entry, Node};
use crate::vocabulary::ACTS;

/// Every session of a project reads it.
const MOST_PROTOCOL_BYTES: usize = 16 * 1024;

/// The start of the lines that mark Gatewright's part of a memory file.
const OUR_MARK: &str = "<!-- gatewright";

impl Reader<'_> {
    pub(super) fn slash_command(&mut self, entry: &Entry) -> Option<(CommandName, Act)> {
        let name = self.command_name(entry);
        let act = self.act(&entry.node);
        name.zip(act)
    }

    fn command_name(&mut self, entry: &Entry) -> Option<CommandName> {
        let Some(bare) = entry.key.strip_prefix('/') else {
            return self.key(entry, CommandName::parse);
        };
        let message = format!("{} starts with a slash", quote(&entry.key));
        let hint = format!("write {}", quote(bare));
        self.report(LanguageRule::BadName, &entry.key_span, message, hint);
        None
    }

    /// One of a few words; a choice may follow `answer`.
    fn act(&mut self, node: &Node) -> Option<Act> {
        let text = self.text(node)?;
        if let Some(choice) = text.strip_prefix("answer ") {
            let choice = self.parse_name(choice, &node.span, Outcome::parse)?;
            return Some(Act::Answer(Some(choice)));
        }
        let act = match text {
            "start" => Some(Act::Start),
            "answer" => Some(Act::Answer(None)),
            "finish" => Some(Act::Finish),
            "retry" => Some(Act::Retry),
            "cancel" => Some(Act::Cancel),
            "reset" => Some(Act::Reset),
            _ => None,
        };
        if act.is_none() {
            self.unknown_act(node, text);
        }
        act
    }

    fn unknown_act(&mut self, node: &Node, text: &str) {
        let first = text.split_whitespace().next().unwrap_or_default();
        let words = || ACTS.iter().copied();
        let hint = match (ACTS.contains(&first), nearest(text, words())) {
            (true, _) => format!("only `answer` takes a choice: write {}", quote(first)),
            (false, Some(meant)) => format!("did you mean {}?", quote(meant)),
            (false, None) => format!("write {}", listed(words(), "or")),
        };
        let message = format!("no command can {}", quote(text));
        self.report(LanguageRule::UnknownWord, &node.span, message, hint);
    }

    /// A file for the host. Its path here is its path in the host's own folder.
    pub(super) fn given(&mut self, node: &Node) -> Option<String> {
        let path = self.filled(node)?;
        if is_below(&path) && !is_given(&path) {
            let message = format!("a host has no place for {}", quote(&path));
            let hint = "write `agents/NAME.md`, `commands/NAME.md` or `skills/NAME/SKILL.md`";
            self.report(LanguageRule::BadGift, &node.span, message, hint);
            return None;
        }
        let path = self.existing_file(node)?;
        // Hosts read Markdown as text; other files of a skill may be anything.
        if path.ends_with(".md") {
            self.file_text(node).map(|_| path)
        } else {
            Some(path)
        }
    }

    /// A line for the project's ignore file.
    pub(super) fn ignored(&mut self, node: &Node) -> Option<String> {
        let line = self.filled(node)?;
        let plain = line.trim() == line && !line.chars().any(char::is_control);
        let (message, hint) = if !plain || line.starts_with(['#', '!']) {
            (
                format!("{} is not a pattern for git", quote(&line)),
                "write one pattern without spaces around it, such as `*.bundle.md` or `.task/`",
            )
        } else if line.chars().all(|letter| "*?/.[]^!-".contains(letter)) {
            (
                format!("{} would hide everything from git", quote(&line)),
                "gates check only what git sees: name only files that nobody commits",
            )
        } else {
            return Some(line);
        };
        self.report(LanguageRule::BadIgnored, &node.span, message, hint);
        None
    }

    /// A glob for untracked files that tools leave behind. A slash at its end means all below that folder.
    pub(super) fn litter(&mut self, node: &Node) -> Option<PathGlob> {
        let text = self.filled(node)?;
        match path_pattern(&text) {
            PathPattern::Some(glob) => Some(PathGlob::new(&glob)),
            PathPattern::Elsewhere => {
                let message = format!("{} is not a path pattern in the project", quote(&text));
                let hint = "write a path with `*` and `**`, such as `reports/**` or `**/*.profraw`";
                self.report(LanguageRule::BadLitter, &node.span, message, hint);
                None
            }
            PathPattern::Everything => {
                let message = format!("{} would hide sources from every gate", quote(&text));
                let hint = "name the folder or the ending of what a tool leaves behind";
                self.report(LanguageRule::BadLitter, &node.span, message, hint);
                None
            }
        }
    }

    /// A file whose text becomes a part of the host's memory file.
    pub(super) fn protocol(&mut self, node: &Node) -> Option<String> {
        let text = self.file_text(node)?;
        let (message, hint) = if text.trim().is_empty() {
            ("this protocol is empty", "write a text, or remove the key")
        } else if text.len() > MOST_PROTOCOL_BYTES {
            (
                "this protocol has more than 16 KiB",
                "every session reads it: keep only what all of them must know",
            )
        } else if text.contains(OUR_MARK) {
            (
                "this protocol contains a mark of Gatewright",
                "remove the lines with `<!-- gatewright`: `init` writes them",
            )
        } else {
            return self.owned_text(node);
        };
        self.report(LanguageRule::BadProtocol, &node.span, message.into(), hint);
        None
    }
}

/// Does the glob name no folder and no file, only wildcards and dots?
fn is_everything(glob: &str) -> bool {
    glob.chars().all(|letter| "*?/.".contains(letter))
}

/// Which files of the project a pattern covers.
pub(super) enum PathPattern {
    Some(String),
    Everything,
    /// It leaves the project, or cannot be read as a pattern.
    Elsewhere,
}

pub(super) fn path_pattern(text: &str) -> PathPattern {
    let folder = text.strip_suffix('/').map(|folder| format!("{folder}/**"));
    let glob = folder.unwrap_or_else(|| text.to_owned());
    let is_line = text.trim() == text && !text.chars().any(char::is_control);
    let is_path = |part: &str| !matches!(part, "" | "." | "..");
    let stays = !glob.contains('\\') && glob.split('/').all(is_path);
    if !is_line || text.starts_with(['#', '!']) || !stays {
        PathPattern::Elsewhere
    } else if is_everything(&glob) {
        PathPattern::Everything
    } else {
        PathPattern::Some(glob)
    }
}
