//! Codex as a worker: its command line, and what its output tells.
//!
//! Measured with 0.166.0. `tests/codex` holds what it prints.

use super::wire::{Item, Line};
use crate::agent_process::{Account, May, Start, Talk};

/// `codex exec` never asks. Its options stand before `resume`, which knows no sandbox of its own and
/// does not remember the one that it had.
pub fn arguments(start: &Start<'_>) -> Vec<String> {
    let sandbox = match start.may {
        May::Read => "read-only",
        May::Leave | May::Change => "workspace-write",
    };
    let mut words = vec!["exec", "--json", "--skip-git-repo-check", "-s", sandbox];
    words.extend(start.model.into_iter().flat_map(|model| ["-m", model]));
    match start.talk {
        Talk::New(_) => {}
        Talk::GoesOn(id) => words.extend(["resume", id]),
    }
    words.push("-");
    words.into_iter().map(str::to_owned).collect()
}

pub fn read_line(line: &[u8], account: &mut Account) {
    let Some(line) = super::wire::parse(line) else {
        return;
    };
    match line {
        Line::ThreadStarted { thread_id } => account.begin(&thread_id),
        Line::ItemStarted { item } | Line::ItemUpdated { item } => {
            if let Some((tool, with)) = deed(&item) {
                account.does(tool, with);
            }
            item_seen(&item, account);
        }
        Line::ItemCompleted { item } => match item {
            Item::AgentMessage { text } => account.say(&text),
            other => item_seen(&other, account),
        },
        Line::TurnCompleted { usage } => {
            account.used.turns += 1;
            account.used.tokens = usage.input_tokens.saturating_add(usage.output_tokens);
            account.finish();
        }
        Line::TurnFailed { error } => account.fail(&error.message),
        Line::Error { message } => account.complain(&message),
        Line::Other => {}
    }
}

/// A tool that was refused was not used.
fn item_seen(item: &Item, account: &mut Account) {
    match item {
        Item::CommandExecution { status, .. }
        | Item::FileChange { status }
        | Item::McpToolCall { status }
        | Item::CollabToolCall { status } => {
            account.worked |= status.as_deref() != Some("declined");
        }
        Item::WebSearch => account.worked = true,
        Item::AgentMessage { .. } | Item::Other => {}
    }
}

/// What it does, as a person would say it.
fn deed(item: &Item) -> Option<(&'static str, Option<&str>)> {
    match item {
        Item::CommandExecution { status, .. } if status.as_deref() == Some("declined") => None,
        Item::CommandExecution { command, .. } => Some(("shell", command.as_deref())),
        Item::FileChange { .. } => Some(("patch", None)),
        Item::McpToolCall { .. } => Some(("mcp", None)),
        Item::CollabToolCall { .. } => Some(("agent", None)),
        Item::WebSearch => Some(("web search", None)),
        Item::AgentMessage { .. } | Item::Other => None,
    }
}
