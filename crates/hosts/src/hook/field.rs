//! The fields that the payloads of all hosts have, parsed.

use std::borrow::Cow;

use engine::{Actor, CallId, SessionId, WorkerId};

use super::agent_name;
use super::event::Event;
use super::payload::{PayloadError, SessionEnd, SessionSource};
use super::wire::{self, Raw};

/// An optional text. A value of another type counts as missing, because no decision depends on it.
pub(crate) fn owned(raw: Raw<'_>) -> Option<String> {
    wire::text(raw).map(Cow::into_owned)
}

/// A text on which a decision depends: it may be missing, but a value of another type is an error.
pub(crate) fn known_text<'a>(
    field: &'static str,
    raw: Raw<'a>,
) -> Result<Option<Cow<'a, str>>, PayloadError> {
    let text = wire::text(raw);
    if raw.is_some() && text.is_none() {
        return Err(wrong(field, "a text"));
    }
    Ok(text)
}

pub(crate) fn needed_text<'a>(
    field: &'static str,
    raw: Raw<'a>,
) -> Result<Cow<'a, str>, PayloadError> {
    known_text(field, raw)?.ok_or(PayloadError::Missing { field })
}

/// The event that the payload names. It wins over `named`, from our own argument. If neither names an
/// event that we know, the result is `Other`.
pub(crate) fn event(
    named: Option<Event>,
    hook_event_name: Raw<'_>,
    parse: impl FnOnce(&str) -> Event,
) -> Result<Event, PayloadError> {
    let word = known_text("hook_event_name", hook_event_name)?;
    let event = word.map(|word| parse(&word)).or(named);
    Ok(event.unwrap_or(Event::Other))
}

/// An invalid id counts as missing, so that it matches no session.
pub(crate) fn session(session_id: Raw<'_>) -> Result<Option<SessionId>, PayloadError> {
    let session = known_text("session_id", session_id)?;
    Ok(session.and_then(|session| SessionId::parse(&session).ok()))
}

/// How a session began.
pub(crate) fn source(source: Raw<'_>) -> Result<SessionSource, PayloadError> {
    let word = known_text("source", source)?;
    Ok(match word.as_deref() {
        Some("resume") => SessionSource::Resume,
        Some("compact") => SessionSource::Compact,
        Some("clear") => SessionSource::Clear,
        Some("fork") => SessionSource::Fork,
        Some(_) | None => SessionSource::Startup,
    })
}

/// How a session ended.
pub(crate) fn ended(reason: Raw<'_>) -> Result<SessionEnd, PayloadError> {
    let reason = known_text("reason", reason)?;
    Ok(match reason.as_deref() {
        Some("clear") => SessionEnd::Cleared,
        Some("prompt_input_exit") => SessionEnd::Left,
        Some(_) | None => SessionEnd::Over,
    })
}

/// The agent that acts; `None` for the session itself. A Claude Code session under `--agent` has a type
/// but no id.
pub(crate) fn actor(agent_id: Raw<'_>, agent_type: Raw<'_>) -> Result<Option<Actor>, PayloadError> {
    let Some(id) = known_text("agent_id", agent_id)? else {
        return Ok(None);
    };
    let id = WorkerId::parse(&id).map_err(|_| wrong("agent_id", "an id"))?;
    let agent = known_text("agent_type", agent_type)?.unwrap_or_default();
    let agent = agent_name::worker(&agent).ok_or_else(|| wrong("agent_type", "a name"))?;
    Ok(Some(Actor { id, agent }))
}

/// The agent that starts or ends. A compaction in Claude Code ends an agent that never started and has
/// no type: `None`.
pub(crate) fn named_actor(
    agent_id: Raw<'_>,
    agent_type: Raw<'_>,
) -> Result<Option<Actor>, PayloadError> {
    let agent = known_text("agent_type", agent_type)?;
    if agent.is_some_and(|agent| agent.is_empty()) {
        return Ok(None);
    }
    let actor = actor(agent_id, agent_type)?;
    actor
        .map(Some)
        .ok_or(PayloadError::Missing { field: "agent_id" })
}

pub(crate) fn call(tool_use_id: Raw<'_>) -> Result<Option<CallId>, PayloadError> {
    let id = known_text("tool_use_id", tool_use_id)?;
    Ok(id.and_then(|id| CallId::parse(&id).ok()))
}

fn wrong(field: &'static str, wanted: &'static str) -> PayloadError {
    PayloadError::WrongType { field, wanted }
}

/// Does the name of an MCP tool say that it writes? A name can lie, so the tree and the artifacts are
/// checked as well.
pub(crate) fn is_writer(tool: &str) -> bool {
    const WRITES: [&str; 12] = [
        "write", "edit", "create", "move", "rename", "delete", "remove", "append", "patch",
        "replace", "copy", "save",
    ];
    let tool = tool.to_lowercase();
    WRITES.iter().any(|word| tool.contains(word))
}
