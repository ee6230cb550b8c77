//! Codex as a worker: its command line and its output.
//!
//! Measured with 0.166.0. `tests/codex` has recorded output.

use super::wire::{Item, OutputLine};
use crate::agent_process::{AgentOutput, Conversation, EndedTurns, FileAccess, StartOptions};

/// `codex exec` never asks. Its options go before `resume`, which has no option for the sandbox and does
/// not remember the earlier one.
pub(super) fn arguments(start: &StartOptions<'_>) -> Vec<String> {
    let sandbox = match start.file_access {
        FileAccess::ReadOnly => "read-only",
        FileAccess::ArtifactsOnly | FileAccess::ReadWrite => "workspace-write",
    };
    let mut words = vec!["exec", "--json", "--skip-git-repo-check", "-s", sandbox];
    words.extend(start.model.into_iter().flat_map(|model| ["-m", model]));
    match start.conversation {
        Conversation::New(_) => {}
        Conversation::Resume(id) => words.extend(["resume", id]),
    }
    words.push("-");
    words.into_iter().map(str::to_owned).collect()
}

pub(super) fn read_line(line: &[u8], agent_output: &mut AgentOutput) {
    let Some(line) = super::wire::parse(line) else {
        return;
    };
    match line {
        OutputLine::ThreadStarted { thread_id } => agent_output.set_conversation(&thread_id),
        OutputLine::ItemStarted { item } | OutputLine::ItemUpdated { item } => {
            if let Some((tool, with)) = activity(&item) {
                agent_output.set_activity(tool, with);
            }
            item_seen(&item, agent_output);
        }
        OutputLine::ItemCompleted { item } => match item {
            Item::AgentMessage { text } => {
                agent_output.set_reply(&text);
                agent_output.note_answer();
            }
            other => item_seen(&other, agent_output),
        },
        OutputLine::TurnCompleted { usage } => {
            // Each sum is of the whole conversation.
            agent_output.ended = EndedTurns::default();
            agent_output.count_turn(EndedTurns {
                tokens: usage.input_tokens.saturating_add(usage.output_tokens),
                ..EndedTurns::default()
            });
            agent_output.finish();
        }
        OutputLine::TurnFailed { error } => {
            // It tells no tokens of a turn that failed.
            if agent_output.is_turn_open() {
                agent_output.count_turn(EndedTurns::default());
            }
            agent_output.fail(&error.message);
        }
        OutputLine::Error { message } => agent_output.note_error(&message),
        OutputLine::Other => {}
    }
}

/// A declined tool call does not count as use, but it is an answer.
fn item_seen(item: &Item, agent_output: &mut AgentOutput) {
    match item {
        Item::CommandExecution { status, .. }
        | Item::FileChange { status }
        | Item::McpToolCall { status }
        | Item::CollabToolCall { status } => {
            agent_output.used_a_tool |= status.as_deref() != Some("declined");
            agent_output.note_answer();
        }
        Item::WebSearch => {
            agent_output.used_a_tool = true;
            agent_output.note_answer();
        }
        Item::AgentMessage { .. } | Item::Other => {}
    }
}

/// The activity, in words for a person.
fn activity(item: &Item) -> Option<(&'static str, Option<&str>)> {
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
