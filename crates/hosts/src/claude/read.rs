//! One hook payload of Claude Code, read into what it says.

mod tool;

use std::borrow::Cow;

use engine::{Actor, CallId, CommandName, SessionId, WorkerId};
use serde::Deserialize;
use serde_json::error::Category;

use super::wire::{self, BackgroundTask, Envelope, Raw};
use super::{Event, name, notification};
use crate::payload::{Ended, Payload, Source, Unreadable, What};

pub(crate) use tool::{beginning, is_writer};

/// The longest input that is read. A Write call carries its whole file; more than this is no file that
/// an agent writes.
pub const LARGEST_INPUT: usize = 8 * 1024 * 1024;

/// The session, as cheaply as can be: for the look whether it is enrolled. It is also found in an
/// input that `read` refuses, as long as it stands before the damage.
pub fn session_of(stdin: &[u8]) -> Option<SessionId> {
    SessionId::parse(&wire::first_session_id(stdin)?).ok()
}

/// Reads a payload. The event that the payload names wins over the one that our own argument named;
/// where both are silent, or the word is unknown, it is `Other` and ignored.
pub fn read(named: Option<Event>, stdin: &[u8]) -> Result<(Event, Payload), Unreadable> {
    let envelope: Envelope<'_> = input(stdin)?;
    let word = known_text("hook_event_name", envelope.hook_event_name)?;
    let event = word.map(|word| Event::parse(&word)).or(named);
    let event = event.unwrap_or(Event::Other);
    let session = known_text("session_id", envelope.session_id)?;
    let payload = Payload {
        session: session.and_then(|session| SessionId::parse(&session).ok()),
        cwd: owned(envelope.cwd),
        prompt: owned(envelope.prompt_id),
        planted: tool::planted(event, &envelope),
        what: what(event, &envelope)?,
    };
    Ok((event, payload))
}

/// An input of this shape, or why it is none.
pub(crate) fn input<'a, T: Deserialize<'a>>(stdin: &'a [u8]) -> Result<T, Unreadable> {
    let first = stdin.iter().find(|byte| !byte.is_ascii_whitespace());
    let first = first.ok_or(Unreadable::Empty)?;
    if stdin.len() > LARGEST_INPUT {
        return Err(Unreadable::TooLarge {
            bytes: stdin.len(),
            limit: LARGEST_INPUT,
        });
    }
    serde_json::from_slice(stdin).map_err(|error| unreadable(*first, &error))
}

fn unreadable(first: u8, error: &serde_json::Error) -> Unreadable {
    match error.classify() {
        Category::Data if first != b'{' => Unreadable::NotAnObject,
        // Everything else in the envelope may be of any type.
        Category::Data => Unreadable::WrongType {
            field: "tool_input",
            wanted: "an object",
        },
        Category::Syntax | Category::Eof | Category::Io => Unreadable::NotJson {
            line: error.line(),
            column: error.column(),
        },
    }
}

fn what(event: Event, envelope: &Envelope<'_>) -> Result<What, Unreadable> {
    match event {
        Event::SessionStart => session_started(envelope),
        Event::SessionEnd => session_ended(envelope),
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

fn session_started(envelope: &Envelope<'_>) -> Result<What, Unreadable> {
    let word = known_text("source", envelope.source)?;
    let source = match word.as_deref() {
        Some("resume") => Source::Resume,
        Some("compact") => Source::Compact,
        Some("clear") => Source::Clear,
        Some("fork") => Source::Fork,
        Some(_) | None => Source::Startup,
    };
    Ok(What::SessionStarted { source })
}

fn session_ended(envelope: &Envelope<'_>) -> Result<What, Unreadable> {
    let reason = known_text("reason", envelope.reason)?;
    let cleared = match reason.as_deref() {
        Some("clear") => Ended::Cleared,
        Some(_) | None => Ended::Over,
    };
    Ok(What::SessionEnded { cleared })
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
        name: CommandName::parse(name::bare(name)).ok()?,
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
    let Ok(name) = CommandName::parse(name::bare(command.trim_start_matches('/'))) else {
        return Ok(What::Ignored);
    };
    let arguments = owned(envelope.command_args).unwrap_or_default();
    Ok(What::CommandTyped { name, arguments })
}

fn turn_failed(envelope: &Envelope<'_>) -> Result<What, Unreadable> {
    let error = owned(envelope.error);
    let error = error.unwrap_or_else(|| String::from("unknown"));
    let reason = match wire::text(envelope.last_assistant_message) {
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
    let tasks: Vec<BackgroundTask<'_>> = wire::shape(tasks).unwrap_or_default();
    tasks.iter().any(|task| {
        let kind = wire::text(task.kind).unwrap_or_default();
        let status = wire::text(task.status).unwrap_or_default();
        ["agent", "workflow", "teammate"]
            .iter()
            .any(|word| kind.contains(word))
            && !["completed", "failed", "killed", "stopped"].contains(&status.as_ref())
    })
}

/// The agent that acts; nothing for the session itself. Under `--agent` the session has a type, but
/// no id.
fn actor(envelope: &Envelope<'_>) -> Result<Option<Actor>, Unreadable> {
    let Some(id) = known_text("agent_id", envelope.agent_id)? else {
        return Ok(None);
    };
    let id = WorkerId::parse(&id).map_err(|_| wrong("agent_id", "an id"))?;
    let agent = known_text("agent_type", envelope.agent_type)?.unwrap_or_default();
    let agent = name::worker(&agent).ok_or_else(|| wrong("agent_type", "a name"))?;
    Ok(Some(Actor { id, agent }))
}

/// The agent that begins or ends. Compaction ends one that never began, with no type.
fn named_actor(envelope: &Envelope<'_>) -> Result<Option<Actor>, Unreadable> {
    let agent = known_text("agent_type", envelope.agent_type)?;
    if agent.is_some_and(|agent| agent.is_empty()) {
        return Ok(None);
    }
    let actor = actor(envelope)?;
    actor
        .map(Some)
        .ok_or(Unreadable::Missing { field: "agent_id" })
}

fn call(envelope: &Envelope<'_>) -> Result<Option<CallId>, Unreadable> {
    let id = known_text("tool_use_id", envelope.tool_use_id)?;
    Ok(id.and_then(|id| CallId::parse(&id).ok()))
}

/// A text that nothing is decided by.
pub(crate) fn owned(raw: Raw<'_>) -> Option<String> {
    wire::text(raw).map(Cow::into_owned)
}

/// A text that something is decided by: it may be missing, but not be something else.
pub(crate) fn known_text<'a>(
    field: &'static str,
    raw: Raw<'a>,
) -> Result<Option<Cow<'a, str>>, Unreadable> {
    let text = wire::text(raw);
    if raw.is_some() && text.is_none() {
        return Err(wrong(field, "a text"));
    }
    Ok(text)
}

pub(crate) fn needed_text<'a>(
    field: &'static str,
    raw: Raw<'a>,
) -> Result<Cow<'a, str>, Unreadable> {
    known_text(field, raw)?.ok_or(Unreadable::Missing { field })
}

fn wrong(field: &'static str, wanted: &'static str) -> Unreadable {
    Unreadable::WrongType { field, wanted }
}
