//! Parses the hook payloads of Gemini CLI.
//!
//! Its events have other names; we map them to those of Claude Code. Its tools keep their names. Calls
//! have no id, and the calls of a subagent look like those of its parent.

use super::wire::{HookInput, ToolInput};
use crate::hook::field::{self, needed_text, owned};
use crate::hook::{self, Event, Payload, PayloadError, What};
use crate::shell;

pub(super) fn event(word: &str) -> Event {
    match word {
        "BeforeTool" => Event::PreToolUse,
        "AfterTool" => Event::PostToolUse,
        "BeforeAgent" => Event::UserPromptSubmit,
        "AfterAgent" => Event::Stop,
        "PreCompress" => Event::PreCompact,
        "SessionStart" => Event::SessionStart,
        "SessionEnd" => Event::SessionEnd,
        _ => Event::Other,
    }
}

/// The host's name for an event.
pub(super) fn word(event: Event) -> &'static str {
    match event {
        Event::PreToolUse => "BeforeTool",
        Event::PostToolUse => "AfterTool",
        Event::UserPromptSubmit => "BeforeAgent",
        Event::Stop => "AfterAgent",
        Event::PreCompact => "PreCompress",
        other => other.word(),
    }
}

pub(super) fn read(named: Option<Event>, stdin: &[u8]) -> Result<(Event, Payload), PayloadError> {
    let input: HookInput<'_> = hook::input(stdin)?;
    let event = field::event(named, input.hook_event_name, event)?;
    let payload = Payload {
        session: field::session(input.session_id)?,
        cwd: folder(&input),
        transcript: None,
        prompt: None,
        tool_call: None,
        scheduled_prompt: None,
        edit: None,
        what: what(event, &input)?,
    };
    Ok((event, payload))
}

/// A command may name its own folder.
fn folder(input: &HookInput<'_>) -> Option<String> {
    let session = owned(input.cwd);
    let own = owned(input.tool_input.dir_path);
    match (session, own) {
        (Some(session), Some(own)) => {
            let joined = std::path::Path::new(&session).join(own);
            joined.into_os_string().into_string().ok()
        }
        (session, own) => session.or(own),
    }
}

fn what(event: Event, input: &HookInput<'_>) -> Result<What, PayloadError> {
    Ok(match event {
        Event::SessionStart => What::SessionStarted {
            source: field::source(input.source)?,
        },
        Event::SessionEnd => What::SessionEnded {
            how: field::ended(input.reason)?,
        },
        Event::UserPromptSubmit => What::PromptSubmitted {
            text: owned(input.prompt).unwrap_or_default(),
        },
        Event::PreToolUse => requested(input)?,
        Event::PostToolUse => What::ToolUsed {
            tool: needed_text("tool_name", input.tool_name)?.into_owned(),
            actor: None,
        },
        Event::Stop => What::StopRequested {
            background_work: false,
        },
        Event::UserPromptExpansion
        | Event::PermissionRequest
        | Event::PostToolUseFailure
        | Event::SubagentStart
        | Event::SubagentStop
        | Event::StopFailure
        | Event::TaskCompleted
        | Event::ConfigChange
        | Event::PreCompact
        | Event::Other => What::Ignored,
    })
}

fn requested(input: &HookInput<'_>) -> Result<What, PayloadError> {
    let name = needed_text("tool_name", input.tool_name)?;
    let given = &input.tool_input;
    if name == "invoke_agent" {
        let agent = owned(given.agent_name);
        return Ok(What::AgentRequested {
            agent: hook::agent_name(agent.as_deref().unwrap_or(hook::UNNAMED)),
            step: None,
            model: None,
            call: None,
            actor: None,
        });
    }
    let is_foreign = name.starts_with("mcp_");
    let command = hook::text(given.command).filter(|_| !is_foreign);
    Ok(What::ToolRequested {
        actor: None,
        paths: written_paths(&name, given),
        command: command.map(|text| shell::beginning(&text).to_owned()),
        tool: name.into_owned(),
    })
}

/// The files that a call would write. For an MCP tool only its name says that it writes.
fn written_paths(tool: &str, given: &ToolInput<'_>) -> Vec<String> {
    let named = [given.file_path, given.absolute_path];
    let foreign = [given.path, given.source, given.destination];
    let named: Vec<_> = match tool {
        "write_file" | "replace" => named.to_vec(),
        tool if tool.starts_with("mcp_") && field::is_writer(tool) => {
            named.into_iter().chain(foreign).collect()
        }
        _ => Vec::new(),
    };
    named.into_iter().filter_map(owned).collect()
}
