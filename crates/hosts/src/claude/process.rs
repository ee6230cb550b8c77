//! Claude Code as a worker: its command line, our hooks for its process alone, and what its output
//! tells.
//!
//! Measured with 2.1.325. `tests/claude-code/stream` holds what it prints.

mod wire;

use crate::agent_process::trouble::{self, Trouble};
use crate::agent_process::{Account, Guard, Guarding, May, Start, Talk, Unguardable};

use super::session_host::FORMAT;
use crate::settings;
use wire::{Block, Finish, Line, Message};

/// What changes files.
const WRITERS: [&str; 3] = ["Write", "Edit", "NotebookEdit"];

/// At which events a worker calls us. Its subagents are told apart by their tool calls; prompts are
/// ours, and there is no person whose command or question could be seen.
const EVENTS: [&str; 8] = [
    "SessionStart",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "Stop",
    "ConfigChange",
    "SessionEnd",
];

/// Without a terminal it never asks: what it would ask for is refused. Nobody bypasses permissions:
/// root may not, and whoever does may write the settings in which the hooks stand.
pub fn arguments(start: &Start<'_>) -> Vec<String> {
    let mut words = vec!["-p", "--output-format", "stream-json", "--verbose"];
    let (mode, allowed) = match start.may {
        // What plainly only reads runs in a shell, too.
        May::Read => ("manual", ""),
        May::Leave => ("acceptEdits", ""),
        May::Change => ("acceptEdits", "Bash,Write,Edit,NotebookEdit"),
    };
    words.extend(["--permission-mode", mode]);
    words.extend(start.model.into_iter().flat_map(|model| ["--model", model]));
    words.extend(match start.talk {
        Talk::New(id) => ["--session-id", id],
        Talk::GoesOn(id) => ["--resume", id],
    });
    if !allowed.is_empty() {
        words.extend(["--allowedTools", allowed]);
    }
    let denied = denied(start);
    if !denied.is_empty() {
        words.extend(["--disallowedTools", &denied]);
    }
    words.into_iter().map(str::to_owned).collect()
}

fn denied(start: &Start<'_>) -> String {
    let writers: &[&str] = match start.may {
        May::Read => &WRITERS,
        May::Leave | May::Change => &[],
    };
    let stage = start.denied.iter().map(String::as_str);
    let all: Vec<_> = writers.iter().copied().chain(stage).collect();
    all.join(",")
}

/// Settings on the command line win over those in files. So the project's own settings are read, with
/// what they tell the model, but cannot switch our hooks off. A worker's own agents work while it
/// waits for them: its end is the end of everything.
pub fn guarding(guard: &Guard<'_>) -> Result<Guarding, Unguardable> {
    let call = FORMAT.call_by_path(guard.program);
    let settings = settings::process_settings(&call, &EVENTS);
    Ok(Guarding {
        arguments: vec!["--settings".to_owned(), settings],
        variables: vec![(
            "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS".to_owned(),
            "1".to_owned(),
        )],
        ..Guarding::default()
    })
}

pub fn read_line(line: &[u8], account: &mut Account) {
    let Some(line) = wire::parse(line) else {
        return;
    };
    match line {
        Line::System {
            subtype,
            session_id,
        } if subtype == "init" => account.begin(&session_id),
        Line::System { .. } | Line::Other => {}
        Line::Assistant { error: Some(_), .. } => {}
        Line::Assistant {
            message,
            parent_tool_use_id,
            error: None,
        } => said(&message, parent_tool_use_id.is_some(), account),
        Line::User { message } => {
            // A call that was refused ends as an error, too.
            let blocks = message.blocks().into_iter();
            account.worked |= blocks
                .filter_map(Block::tool_result)
                .any(|is_error| !is_error);
        }
        Line::Result(finish) => finished(&finish, account),
    }
}

/// A subagent's words are not the worker's; its tools are.
fn said(message: &Message, of_subagent: bool, account: &mut Account) {
    let mut texts = Vec::new();
    for block in message.blocks() {
        match block {
            Block::Text { text } => texts.push(text),
            Block::ToolUse { name, input } => account.does(&name, input.detail()),
            Block::ToolResult { .. } | Block::Other => {}
        }
    }
    if !texts.is_empty() && !of_subagent {
        account.say(&texts.join("\n"));
    }
}

/// There may be several results. Tokens and cost are those of the whole conversation in each, so the
/// last one counts. The subtype is `success` for some errors.
fn finished(finish: &Finish, account: &mut Account) {
    account.used.turns += 1;
    account.used.tokens = finish.tokens();
    account.used.cost_cents = cents(finish.total_cost_usd);
    let well = finish.subtype == "success" && !finish.is_error;
    let completed = finish
        .terminal_reason
        .as_deref()
        .is_none_or(|why| why == "completed");
    if well && completed {
        if let Some(result) = finish.result.as_deref().filter(|it| !it.is_empty()) {
            account.say(result);
        }
        return account.finish();
    }
    let reason = finish.reason();
    let by_status = finish.api_error_status.and_then(trouble::of_status);
    let by_kind = finish.api_error_type.as_deref().and_then(of_kind);
    let by_words = || trouble::in_words(&reason).filter(|_| finish.is_of_service());
    account.fail_by(by_status.or(by_kind).or_else(by_words), &reason);
}

fn of_kind(kind: &str) -> Option<Trouble> {
    match kind {
        "rate_limit_error" | "overloaded_error" => Some(Trouble::Limit),
        "authentication_error" | "permission_error" => Some(Trouble::Login),
        _ => None,
    }
}

/// A begun cent is a cent. Sums are of whole conversations, so nothing is counted twice by that.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast of a float saturates: a cost below zero is none, and no cost is that high"
)]
fn cents(dollars: f64) -> u64 {
    // What is a whole number of cents must not be rounded up for the way floats are written.
    (dollars * 100.0 - 1e-6).ceil() as u64
}
