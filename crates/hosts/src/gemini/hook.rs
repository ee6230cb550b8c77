//! One hook payload of Gemini CLI, read into what it says.
//!
//! Its events have names of their own; here they get those of Claude Code. Its tools keep theirs. Calls
//! have no number, and a subagent's look like those of its parent.

use engine::SessionId;

use super::wire::{HookInput, ToolInput};
use crate::claude::{self, Event};
use crate::payload::{Background, Ended, Payload, Source, Unreadable, What};

pub fn event(word: &str) -> Event {
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

/// The host's own word for an event.
pub fn word(event: Event) -> &'static str {
    match event {
        Event::PreToolUse => "BeforeTool",
        Event::PostToolUse => "AfterTool",
        Event::UserPromptSubmit => "BeforeAgent",
        Event::Stop => "AfterAgent",
        Event::PreCompact => "PreCompress",
        other => other.word(),
    }
}

pub fn read(named: Option<Event>, stdin: &[u8]) -> Result<(Event, Payload), Unreadable> {
    let input: HookInput<'_> = claude::input(stdin)?;
    let told = claude::known_text("hook_event_name", input.hook_event_name)?;
    let event = told.map(|word| event(&word)).or(named);
    let event = event.unwrap_or(Event::Other);
    let session = claude::known_text("session_id", input.session_id)?;
    let payload = Payload {
        session: session.and_then(|session| SessionId::parse(&session).ok()),
        cwd: folder(&input),
        prompt: None,
        planted: None,
        what: what(event, &input)?,
    };
    Ok((event, payload))
}

/// A command may ask for a folder of its own.
fn folder(input: &HookInput<'_>) -> Option<String> {
    let session = claude::owned(input.cwd);
    let own = claude::owned(input.tool_input.dir_path);
    match (session, own) {
        (Some(session), Some(own)) => {
            let joined = std::path::Path::new(&session).join(own);
            joined.into_os_string().into_string().ok()
        }
        (session, own) => session.or(own),
    }
}

fn what(event: Event, input: &HookInput<'_>) -> Result<What, Unreadable> {
    Ok(match event {
        Event::SessionStart => {
            let source = claude::known_text("source", input.source)?;
            What::SessionStarted {
                source: match source.as_deref() {
                    Some("resume") => Source::Resume,
                    Some("clear") => Source::Clear,
                    Some(_) | None => Source::Startup,
                },
            }
        }
        Event::SessionEnd => {
            let reason = claude::known_text("reason", input.reason)?;
            What::SessionEnded {
                cleared: match reason.as_deref() {
                    Some("clear") => Ended::Cleared,
                    Some(_) | None => Ended::Over,
                },
            }
        }
        Event::UserPromptSubmit => What::PromptSubmitted,
        Event::PreToolUse => requested(input)?,
        Event::PostToolUse => What::ToolUsed {
            tool: claude::needed_text("tool_name", input.tool_name)?.into_owned(),
            actor: None,
        },
        Event::Stop => What::StopRequested {
            background_work: false,
        },
        _ => What::Ignored,
    })
}

fn requested(input: &HookInput<'_>) -> Result<What, Unreadable> {
    let name = claude::needed_text("tool_name", input.tool_name)?;
    let given = &input.tool_input;
    if name == "invoke_agent" {
        let agent = claude::owned(given.agent_name);
        return Ok(What::AgentRequested {
            agent: claude::agent_name(agent.as_deref().unwrap_or(claude::UNNAMED)),
            step: None,
            call: None,
            actor: None,
            background: Background::Foreground,
        });
    }
    let is_foreign = name.starts_with("mcp_");
    let command = claude::text(given.command).filter(|_| !is_foreign);
    Ok(What::ToolRequested {
        actor: None,
        paths: written_paths(&name, given),
        command: command.map(|text| claude::beginning(&text).to_owned()),
        tool: name.into_owned(),
    })
}

/// The files that a call would write. What a foreign tool does is told by its name alone.
fn written_paths(tool: &str, given: &ToolInput<'_>) -> Vec<String> {
    let named = [given.file_path, given.absolute_path];
    let foreign = [given.path, given.source, given.destination];
    let named: Vec<_> = match tool {
        "write_file" | "replace" => named.to_vec(),
        tool if tool.starts_with("mcp_") && claude::is_writer(tool) => {
            named.into_iter().chain(foreign).collect()
        }
        _ => Vec::new(),
    };
    named.into_iter().filter_map(claude::owned).collect()
}
