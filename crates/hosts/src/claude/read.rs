//! Parses the hook payloads of Claude Code.

mod tool;

use engine::{Actor, CallId, CommandName};

use super::notification;
use super::wire::{BackgroundTask, HookInput};
use crate::hook::field::{self, known_text, needed_text, owned};
use crate::hook::{self, Event, Payload, PayloadError, Raw, What};

pub(super) fn read(named: Option<Event>, stdin: &[u8]) -> Result<(Event, Payload), PayloadError> {
    let input: HookInput<'_> = hook::input(stdin)?;
    let event = field::event(named, input.hook_event_name, Event::parse)?;
    let payload = Payload {
        session: field::session(input.session_id)?,
        cwd: owned(input.cwd),
        transcript: owned(input.transcript_path),
        prompt: owned(input.prompt_id),
        tool_call: call(&input).ok().flatten(),
        scheduled_prompt: tool::scheduled_prompt(event, &input),
        edit: tool::edit(event, &input),
        what: what(event, &input)?,
    };
    Ok((event, payload))
}

fn what(event: Event, input: &HookInput<'_>) -> Result<What, PayloadError> {
    match event {
        Event::SessionStart => Ok(What::SessionStarted {
            source: field::source(input.source)?,
        }),
        Event::SessionEnd => Ok(What::SessionEnded {
            how: field::ended(input.reason)?,
        }),
        Event::UserPromptSubmit => prompt_submitted(input),
        Event::UserPromptExpansion => prompt_expanded(input),
        Event::PreToolUse | Event::PermissionRequest => tool::requested(input),
        Event::PostToolUse => tool::used(input),
        Event::PostToolUseFailure => tool::failed(input),
        Event::SubagentStart => Ok(match named_actor(input)? {
            Some(actor) => What::AgentBegan { actor },
            None => What::Ignored,
        }),
        Event::SubagentStop => Ok(match named_actor(input)? {
            Some(actor) => What::AgentStopping {
                actor,
                reply: owned(input.last_assistant_message),
            },
            None => What::Ignored,
        }),
        Event::Stop => Ok(What::StopRequested {
            background_work: has_agents_at_work(input.background_tasks),
        }),
        Event::StopFailure => turn_failed(input),
        Event::TaskCompleted => Ok(What::TodosMarked {
            done: owned(input.task_subject).into_iter().collect(),
        }),
        Event::ConfigChange => Ok(What::ConfigChanged {
            file: owned(input.file_path),
        }),
        Event::PreCompact | Event::Other => Ok(What::Ignored),
    }
}

fn prompt_submitted(input: &HookInput<'_>) -> Result<What, PayloadError> {
    let prompt = needed_text("prompt", input.prompt)?;
    let told = notification::read(&prompt).or_else(|| typed_command(&prompt));
    Ok(told.unwrap_or_else(|| What::PromptSubmitted {
        text: prompt.into_owned(),
    }))
}

fn typed_command(prompt: &str) -> Option<What> {
    let line = prompt.trim().strip_prefix('/')?;
    let (name, arguments) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    Some(What::CommandTyped {
        name: CommandName::parse(hook::bare_name(name)).ok()?,
        arguments: arguments.trim().to_owned(),
    })
}

fn prompt_expanded(input: &HookInput<'_>) -> Result<What, PayloadError> {
    let kind = known_text("expansion_type", input.expansion_type)?;
    let command = needed_text("command_name", input.command_name)?;
    // The other kind is a prompt of an MCP server, not a command of ours.
    if kind.is_some_and(|kind| kind != "slash_command") {
        return Ok(What::Ignored);
    }
    let Ok(name) = CommandName::parse(hook::bare_name(command.trim_start_matches('/'))) else {
        return Ok(What::Ignored);
    };
    let arguments = owned(input.command_args).unwrap_or_default();
    Ok(What::CommandTyped { name, arguments })
}

fn turn_failed(input: &HookInput<'_>) -> Result<What, PayloadError> {
    let error = owned(input.error);
    let error = error.unwrap_or_else(|| String::from("unknown"));
    let reason = match hook::text(input.last_assistant_message) {
        Some(message) if !message.is_empty() => format!("{error}: {message}"),
        Some(_) | None => error,
    };
    Ok(match actor(input)? {
        Some(actor) => What::AgentFailed {
            call: None,
            worker: Some(actor.id),
            reason,
        },
        None => What::TurnFailed { reason },
    })
}

/// Does an agent work in the background? A background shell, such as a server, does not count: it is
/// not a reason to let the session stop.
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

fn actor(input: &HookInput<'_>) -> Result<Option<Actor>, PayloadError> {
    field::actor(input.agent_id, input.agent_type)
}

fn named_actor(input: &HookInput<'_>) -> Result<Option<Actor>, PayloadError> {
    field::named_actor(input.agent_id, input.agent_type)
}

fn call(input: &HookInput<'_>) -> Result<Option<CallId>, PayloadError> {
    field::call(input.tool_use_id)
}
