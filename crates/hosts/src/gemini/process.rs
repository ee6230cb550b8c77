//! Gemini CLI as a worker: its command line and its output.
//!
//! Measured with 0.61.0. `tests/gemini` has recorded output.

use super::wire::OutputLine;
use crate::agent_process::service_failure::{self, ServiceFailure};
use crate::agent_process::{AgentOutput, Conversation, EndedTurns, FileAccess, StartOptions};

/// Without a terminal it never asks: it does not offer tools that need a question.
pub(super) fn arguments(start: &StartOptions<'_>) -> Vec<String> {
    let mode = match start.file_access {
        FileAccess::ReadOnly => "default",
        FileAccess::ArtifactsOnly => "auto_edit",
        FileAccess::ReadWrite => "yolo",
    };
    let mut words = vec!["-o", "stream-json", "--skip-trust", "--approval-mode", mode];
    words.extend(start.model.into_iter().flat_map(|model| ["-m", model]));
    words.extend(match start.conversation {
        Conversation::New(id) => ["--session-id", id],
        Conversation::Resume(id) => ["-r", id],
    });
    words.into_iter().map(str::to_owned).collect()
}

/// It exits with the low byte of the service's HTTP status, or with 41 if nobody has logged in. Its
/// output does not always say that.
pub(super) fn service_failure(code: i32) -> Option<ServiceFailure> {
    const NOT_LOGGED_IN: i32 = 41;
    let by_status = |status: u64| {
        let fits = i32::try_from(status & 0xff) == Ok(code);
        service_failure::of_status(status).filter(|_| fits)
    };
    match code {
        NOT_LOGGED_IN => Some(ServiceFailure::NotLoggedIn),
        _ => [401, 403, 429, 503, 500, 502, 504]
            .into_iter()
            .find_map(by_status),
    }
}

pub(super) fn read_line(line: &[u8], agent_output: &mut AgentOutput) {
    let Some(line) = super::wire::parse(line) else {
        return;
    };
    match line {
        OutputLine::Init { session_id } => agent_output.set_conversation(&session_id),
        OutputLine::Message {
            role,
            content,
            delta,
        } if role == "assistant" => {
            agent_output.note_answer();
            if delta {
                agent_output.append_to_reply(&content)
            } else {
                agent_output.set_reply(&content)
            }
        }
        OutputLine::Message { .. } => agent_output.reply_is_partial = false,
        OutputLine::ToolUse {
            tool_name,
            parameters,
        } => {
            agent_output.reply_is_partial = false;
            agent_output.note_answer();
            agent_output.set_activity(&tool_name, parameters.detail());
        }
        OutputLine::ToolResult { status } => {
            agent_output.reply_is_partial = false;
            // A forbidden or unknown tool also ends as an error.
            agent_output.used_a_tool |= status == "success";
        }
        OutputLine::Error { message } => agent_output.note_error(&message),
        OutputLine::Result {
            status,
            error,
            stats,
        } => {
            agent_output.count_turn(EndedTurns {
                tokens: stats.total_tokens,
                ..EndedTurns::default()
            });
            let named = error.map(|error| error.message);
            // A turn whose stream was cut names no error in its result: the error had its own line.
            let failed = named.or_else(|| agent_output.last_error.clone());
            if status == "success" {
                agent_output.finish()
            } else {
                agent_output.fail(failed.as_ref().unwrap_or(&status))
            }
        }
        OutputLine::Other => {}
    }
}
