//! Parses the hook payloads of Codex.
//!
//! Its events have the same names as Claude Code's. It has separate tools for patches and for starting
//! agents.

use engine::Actor;

use super::wire::{HookInput, ToolInput};
use crate::hook::field::{self, needed_text, owned};
use crate::hook::{self, Event, Payload, PayloadError, What};
use crate::shell;

/// The lines of a patch that name the files it changes.
const CHANGES: [&str; 4] = [
    "*** Add File: ",
    "*** Update File: ",
    "*** Delete File: ",
    "*** Move to: ",
];

pub(super) fn read(named: Option<Event>, stdin: &[u8]) -> Result<(Event, Payload), PayloadError> {
    let input: HookInput<'_> = hook::input(stdin)?;
    let event = field::event(named, input.hook_event_name, Event::parse)?;
    let payload = Payload {
        session: field::session(input.session_id)?,
        cwd: owned(input.cwd),
        transcript: None,
        prompt: None,
        tool_call: None,
        scheduled_prompt: None,
        edit: None,
        what: what(event, &input)?,
    };
    Ok((event, payload))
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
        Event::PreToolUse | Event::PermissionRequest => requested(input)?,
        Event::PostToolUse | Event::PostToolUseFailure => What::ToolUsed {
            tool: needed_text("tool_name", input.tool_name)?.into_owned(),
            actor: field::actor(input.agent_id, input.agent_type)?,
        },
        Event::SubagentStart => match field::named_actor(input.agent_id, input.agent_type)? {
            Some(actor) => What::AgentBegan { actor },
            None => What::Ignored,
        },
        Event::SubagentStop => match field::named_actor(input.agent_id, input.agent_type)? {
            Some(actor) => What::AgentStopping {
                actor,
                reply: owned(input.last_assistant_message),
            },
            None => What::Ignored,
        },
        Event::Stop => What::StopRequested {
            background_work: false,
        },
        Event::UserPromptExpansion
        | Event::StopFailure
        | Event::TaskCompleted
        | Event::ConfigChange
        | Event::PreCompact
        | Event::Other => What::Ignored,
    })
}

fn requested(input: &HookInput<'_>) -> Result<What, PayloadError> {
    let tool = needed_text("tool_name", input.tool_name)?;
    let nothing = ToolInput::default();
    let given = input.tool_input.as_ref().unwrap_or(&nothing);
    let actor = field::actor(input.agent_id, input.agent_type)?;
    if tool != "spawn_agent" {
        return Ok(used(&tool, given, actor));
    }
    let agent = owned(given.agent_type);
    Ok(What::AgentRequested {
        agent: hook::agent_name(agent.as_deref().unwrap_or(hook::UNNAMED)),
        step: None,
        model: None,
        call: field::call(input.tool_use_id)?,
        actor,
    })
}

/// A patch is in the field for commands, and a command may also contain one.
fn used(tool: &str, given: &ToolInput<'_>, actor: Option<Actor>) -> What {
    let text = hook::text(given.command).unwrap_or_default();
    let command = match tool {
        "apply_patch" => None,
        _ => given.command.map(|_| shell::beginning(&text).to_owned()),
    };
    What::ToolRequested {
        tool: tool.to_owned(),
        actor,
        paths: patched(&text),
        command,
    }
}

/// The files that a patch changes, wherever it is in the text.
fn patched(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim);
    let named = lines.filter_map(|line| {
        let mut marks = CHANGES.iter();
        marks.find_map(|mark| line.strip_prefix(mark))
    });
    named.map(|path| path.trim().to_owned()).collect()
}
