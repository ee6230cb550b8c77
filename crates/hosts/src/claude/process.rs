//! Claude Code as a worker: its command line, our hooks for its process, and its output.
//!
//! Measured with 2.1.325. `tests/claude-code/stream` has recorded output.

mod wire;

use crate::agent_process::reset_time;
use crate::agent_process::service_failure::{self, ServiceFailure};
use crate::agent_process::{
    AgentOutput, Conversation, FileAccess, GuardError, GuardInputs, GuardSetup, ReportedEnd,
    ResetTime, StartOptions,
};

use super::session_host::FORMAT;
use crate::settings;
use wire::{Block, Message, OutputLine, ResultLine};

/// Tools that change files.
const WRITERS: [&str; 3] = ["Write", "Edit", "NotebookEdit"];

/// The events at which a worker calls us. Tool calls identify its subagents, we write its prompts, and
/// no person types commands or answers questions, so other events are not needed.
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

/// Without a terminal it never asks: it refuses what it would ask about. We never bypass permissions:
/// root may not, and a worker that bypasses them could write the settings with our hooks.
pub(super) fn arguments(start: &StartOptions<'_>) -> Vec<String> {
    let most = start.most_cents.map(engine::cents);
    let mut words = vec!["-p", "--output-format", "stream-json", "--verbose"];
    let (mode, allowed) = match start.file_access {
        // Shell commands that only read are allowed, too.
        FileAccess::ReadOnly => ("manual", ""),
        FileAccess::ArtifactsOnly => ("acceptEdits", ""),
        FileAccess::ReadWrite => ("acceptEdits", "Bash,Write,Edit,NotebookEdit"),
    };
    words.extend(["--permission-mode", mode]);
    words.extend(start.model.into_iter().flat_map(|model| ["--model", model]));
    words.extend(match start.conversation {
        Conversation::New(id) => ["--session-id", id],
        Conversation::Resume(id) => ["--resume", id],
    });
    words.extend(most.iter().flat_map(|most| ["--max-budget-usd", most]));
    if !allowed.is_empty() {
        words.extend(["--allowedTools", allowed]);
    }
    let denied = denied(start);
    if !denied.is_empty() {
        words.extend(["--disallowedTools", &denied]);
    }
    words.into_iter().map(str::to_owned).collect()
}

fn denied(start: &StartOptions<'_>) -> String {
    let writers: &[&str] = match start.file_access {
        FileAccess::ReadOnly => &WRITERS,
        FileAccess::ArtifactsOnly | FileAccess::ReadWrite => &[],
    };
    let stage = start.denied.iter().map(String::as_str);
    let all: Vec<_> = writers.iter().copied().chain(stage).collect();
    all.join(",")
}

/// Settings on the command line win over those in files. So the program reads the project's settings,
/// but they cannot disable our hooks. Background tasks are off: when the worker ends, all its agents
/// have ended.
pub(super) fn guard_setup(inputs: &GuardInputs<'_>) -> Result<GuardSetup, GuardError> {
    let call = FORMAT.call_by_path(inputs.program);
    let settings = settings::process_settings(&call, &EVENTS);
    Ok(GuardSetup {
        arguments: vec!["--settings".to_owned(), settings],
        variables: vec![(
            "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS".to_owned(),
            "1".to_owned(),
        )],
        ..GuardSetup::default()
    })
}

pub(super) fn read_line(line: &[u8], agent_output: &mut AgentOutput) {
    let Some(line) = wire::parse(line) else {
        return;
    };
    match line {
        OutputLine::System {
            subtype,
            session_id,
        } if subtype == "init" => agent_output.set_conversation(&session_id),
        OutputLine::System { .. } | OutputLine::Other => {}
        OutputLine::Assistant { error: Some(_), .. } => {}
        OutputLine::Assistant {
            message,
            parent_tool_use_id,
            error: None,
        } => {
            if let Some((id, used)) = message.used() {
                agent_output.count_message(id, used);
            }
            said(&message, parent_tool_use_id.is_some(), agent_output);
        }
        OutputLine::RateLimitEvent { rate_limit_info } => {
            agent_output.resets = rate_limit_info.resets().map(ResetTime::At);
        }
        OutputLine::User { message } => {
            let blocks = message.blocks().into_iter();
            for result in blocks.filter_map(Block::tool_result) {
                // A refused call also ends as an error.
                agent_output.used_a_tool |= !result.is_error;
                if result.is_our_refusal() {
                    agent_output.refused_by_us.insert(result.tool_use_id);
                }
            }
        }
        OutputLine::Result(finish) => finished(&finish, agent_output),
    }
}

/// A subagent's tool calls count as the worker's; its text does not.
fn said(message: &Message, of_subagent: bool, agent_output: &mut AgentOutput) {
    let mut texts = Vec::new();
    for block in message.blocks() {
        match block {
            Block::Text { text } => texts.push(text),
            Block::ToolUse { name, input } => agent_output.set_activity(&name, input.detail()),
            Block::ToolResult(_) | Block::Other => {}
        }
    }
    if !texts.is_empty() && !of_subagent {
        agent_output.set_reply(&texts.join("\n"));
    }
}

/// There may be several results, each with what was used since the one before. The subtype is `success` even for some errors.
fn finished(finish: &ResultLine, agent_output: &mut AgentOutput) {
    agent_output.count_turn(finish.used());
    for denial in &finish.permission_denials {
        if !agent_output.refused_by_us.contains(&denial.tool_use_id) {
            let (call, tool) = (denial.tool_use_id.clone(), denial.tool_name.clone());
            agent_output.refused_calls.insert(call, tool);
        }
    }
    let well = finish.subtype == "success" && !finish.is_error;
    let completed = finish
        .terminal_reason
        .as_deref()
        .is_none_or(|why| why == "completed");
    if well && completed {
        if let Some(result) = finish.result.as_deref().filter(|it| !it.is_empty()) {
            agent_output.set_reply(result);
        }
        return agent_output.finish();
    }
    let reason = finish.reason();
    if finish.subtype == "error_max_budget_usd" {
        agent_output.end = Some(match finish.stop_reason.as_deref() {
            Some("end_turn") => ReportedEnd::DoneOverBudget,
            Some(_) | None => ReportedEnd::OverBudget(reason),
        });
        return;
    }
    let by_status = finish.api_error_status.and_then(service_failure::of_status);
    let by_kind = finish.api_error_type.as_deref().and_then(of_kind);
    let by_words = || service_failure::of_message(&reason).filter(|_| finish.is_of_service());
    let failure = by_status.or(by_kind).or_else(by_words);
    let unnamed = || finish.is_unnamed_failure().then(|| of_unnamed(&reason));
    agent_output.fail_with(failure.or_else(unnamed), &reason);
}

/// A failure of the service of which only the message tells: a limit of the account says when it ends, and all else (no
/// answer in time, a connection that was cut) is an outage.
fn of_unnamed(reason: &str) -> ServiceFailure {
    match reset_time::of_message(reason) {
        Some(_) => ServiceFailure::Limited,
        None => ServiceFailure::Down,
    }
}

fn of_kind(kind: &str) -> Option<ServiceFailure> {
    match kind {
        "rate_limit_error" | "overloaded_error" => Some(ServiceFailure::Limited),
        "timeout_error" => Some(ServiceFailure::Down),
        "authentication_error" | "permission_error" => Some(ServiceFailure::NotLoggedIn),
        _ => None,
    }
}
