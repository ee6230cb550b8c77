//! Gemini CLI as a worker: its command line, and what its output tells.
//!
//! Measured with 0.61.0. `tests/gemini` holds what it prints.

use super::wire::Line;
use crate::agent_process::trouble::{self, Trouble};
use crate::agent_process::{Account, May, Start, Talk};

/// Without a terminal it never asks: a tool for which it would ask is not there at all.
pub fn arguments(start: &Start<'_>) -> Vec<String> {
    let mode = match start.may {
        May::Read => "default",
        May::Leave => "auto_edit",
        May::Change => "yolo",
    };
    let mut words = vec!["-o", "stream-json", "--skip-trust", "--approval-mode", mode];
    words.extend(start.model.into_iter().flat_map(|model| ["-m", model]));
    words.extend(match start.talk {
        Talk::New(id) => ["--session-id", id],
        Talk::GoesOn(id) => ["-r", id],
    });
    words.into_iter().map(str::to_owned).collect()
}

/// It exits with the status of the service's answer, as far as that fits into a byte, and with a code
/// of its own where nobody has logged in. Its output does not always say as much.
pub fn trouble(code: i32) -> Option<Trouble> {
    const NOT_LOGGED_IN: i32 = 41;
    let by_status = |status: u64| {
        let fits = i32::try_from(status & 0xff) == Ok(code);
        trouble::of_status(status).filter(|_| fits)
    };
    match code {
        NOT_LOGGED_IN => Some(Trouble::Login),
        _ => [401, 403, 429, 503].into_iter().find_map(by_status),
    }
}

pub fn read_line(line: &[u8], account: &mut Account) {
    let Some(line) = super::wire::parse(line) else {
        return;
    };
    match line {
        Line::Init { session_id } => account.begin(&session_id),
        Line::Message {
            role,
            content,
            delta,
        } if role == "assistant" => {
            if delta {
                account.say_on(&content)
            } else {
                account.say(&content)
            }
        }
        Line::Message { .. } => account.speaking = false,
        Line::ToolUse {
            tool_name,
            parameters,
        } => {
            account.speaking = false;
            account.does(&tool_name, parameters.detail());
        }
        Line::ToolResult { status } => {
            account.speaking = false;
            // One that was forbidden or is not there ends as an error, too.
            account.worked |= status == "success";
        }
        Line::Error { message } => account.complain(&message),
        Line::Result {
            status,
            error,
            stats,
        } => {
            account.used.turns += 1;
            account.used.tokens = stats.total_tokens;
            let failed = error.map_or_else(|| status.clone(), |error| error.message);
            if status == "success" {
                account.finish()
            } else {
                account.fail(&failed)
            }
        }
        Line::Other => {}
    }
}
