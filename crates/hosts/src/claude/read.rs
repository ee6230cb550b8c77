//! One hook payload of Claude Code, read into what it says.

mod tool;

use engine::{Actor, CallId, CommandName};

use super::notification;
use super::wire::{BackgroundTask, Envelope};
use crate::hook::field::{self, known_text, needed_text, owned};
use crate::hook::{self, Event, Payload, Raw, Unreadable, What};

pub fn read(named: Option<Event>, stdin: &[u8]) -> Result<(Event, Payload), Unreadable> {
    let envelope: Envelope<'_> = hook::input(stdin)?;
    let event = field::event(named, envelope.hook_event_name, Event::parse)?;
    let payload = Payload {
        session: field::session(envelope.session_id)?,
        cwd: owned(envelope.cwd),
        prompt: owned(envelope.prompt_id),
        planted: tool::planted(event, &envelope),
        what: what(event, &envelope)?,
    };
    Ok((event, payload))
}

fn what(event: Event, envelope: &Envelope<'_>) -> Result<What, Unreadable> {
    match event {
        Event::SessionStart => Ok(What::SessionStarted {
            source: field::source(envelope.source)?,
        }),
        Event::SessionEnd => Ok(What::SessionEnded {
            cleared: field::ended(envelope.reason)?,
        }),
        Event::UserPromptSubmit => prompt_submitted(envelope),
        Event::UserPromptExpansion => prompt_expanded(envelope),
        Event::PreToolUse | Event::PermissionRequest => tool::requested(envelope),
        Event::PostToolUse => tool::used(envelope),
        Event::PostToolUseFailure => tool::failed(envelope),
        Event::SubagentStart => Ok(match named_actor(envelope)? {
            Some(actor) => What::AgentBegan { actor },
            None => What::Ignored,
        }),
        Event::SubagentStop => Ok(match named_actor(envelope)? {
            Some(actor) => What::AgentStopping {
                actor,
                reply: owned(envelope.last_assistant_message),
            },
            None => What::Ignored,
        }),
        Event::Stop => Ok(What::StopRequested {
            background_work: has_agents_at_work(envelope.background_tasks),
        }),
        Event::StopFailure => turn_failed(envelope),
        Event::TaskCompleted => Ok(What::TodosMarked {
            done: owned(envelope.task_subject).into_iter().collect(),
        }),
        Event::ConfigChange => Ok(What::ConfigChanged {
            file: owned(envelope.file_path),
        }),
        Event::PreCompact | Event::Other => Ok(What::Ignored),
    }
}

fn prompt_submitted(envelope: &Envelope<'_>) -> Result<What, Unreadable> {
    let prompt = needed_text("prompt", envelope.prompt)?;
    let told = notification::read(&prompt).or_else(|| typed_command(&prompt));
    Ok(told.unwrap_or(What::PromptSubmitted))
}

fn typed_command(prompt: &str) -> Option<What> {
    let line = prompt.trim().strip_prefix('/')?;
    let (name, arguments) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    Some(What::CommandTyped {
        name: CommandName::parse(hook::bare_name(name)).ok()?,
        arguments: arguments.trim().to_owned(),
    })
}

fn prompt_expanded(envelope: &Envelope<'_>) -> Result<What, Unreadable> {
    let kind = known_text("expansion_type", envelope.expansion_type)?;
    let command = needed_text("command_name", envelope.command_name)?;
    // The other kind is a prompt of an MCP server, which is no command of ours.
    if kind.is_some_and(|kind| kind != "slash_command") {
        return Ok(What::Ignored);
    }
    let Ok(name) = CommandName::parse(hook::bare_name(command.trim_start_matches('/'))) else {
        return Ok(What::Ignored);
    };
    let arguments = owned(envelope.command_args).unwrap_or_default();
    Ok(What::CommandTyped { name, arguments })
}

fn turn_failed(envelope: &Envelope<'_>) -> Result<What, Unreadable> {
    let error = owned(envelope.error);
    let error = error.unwrap_or_else(|| String::from("unknown"));
    let reason = match hook::text(envelope.last_assistant_message) {
        Some(message) if !message.is_empty() => format!("{error}: {message}"),
        Some(_) | None => error,
    };
    Ok(match actor(envelope)? {
        Some(actor) => What::AgentFailed {
            call: None,
            worker: Some(actor.id),
            reason,
        },
        None => What::TurnFailed { reason },
    })
}

/// Work in the background that is an agent's. A shell that goes on, as a server does, is no reason to
/// let the session stop.
fn has_agents_at_work(tasks: Raw<'_>) -> bool {
    let tasks: Vec<BackgroundTask<'_>> = hook::shape(tasks).unwrap_or_default();
    tasks.iter().any(|task| {
        let kind = hook::text(task.kind).unwrap_or_default();
        let status = hook::text(task.status).unwrap_or_default();
        ["agent", "workflow", "teammate"]
            .iter()
            .any(|word| kind.contains(word))
            && !["completed", "failed", "killed", "stopped"].contains(&status.as_ref())
    })
}

fn actor(envelope: &Envelope<'_>) -> Result<Option<Actor>, Unreadable> {
    field::actor(envelope.agent_id, envelope.agent_type)
}

fn named_actor(envelope: &Envelope<'_>) -> Result<Option<Actor>, Unreadable> {
    field::named_actor(envelope.agent_id, envelope.agent_type)
}

fn call(envelope: &Envelope<'_>) -> Result<Option<CallId>, Unreadable> {
    field::call(envelope.tool_use_id)
}
