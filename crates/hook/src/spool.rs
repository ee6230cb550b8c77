//! The spool: an event that could not be recorded is kept beside the store until the next hook records it.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use engine::{Happening, SessionEvent, SessionId};
use hosts::{Bytes, Event, What};
use runtime::enrolment::{self, RecordState};
use runtime::failure::Failure;
use runtime::state::{self, State};
use runtime::{clock, ids};
use serde_json::{Value, json};
use store::Key;

use super::guarded_session::Guarded;

/// More than this is not kept: a store that fails for so long is a person's business.
const MOST_KEPT: usize = 200;

fn folder(state: &State) -> PathBuf {
    state.folder().join("spool")
}

/// What the host did with an event that nobody judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Continued,
    Refused,
}

impl Fate {
    /// What it does with this answer.
    pub(super) fn of(answer: &Bytes) -> Self {
        if answer.refuses() {
            Self::Refused
        } else {
            Self::Continued
        }
    }
}

/// Keeps a line about an event that nobody judged. Where not even that can be written, the session's
/// own file is marked, and no agent begins until the gap is in the journal.
pub(super) fn keep(state: &State, event: Event, session: &SessionId, what: &str, fate: Fate) {
    if write(state, event, session, what, fate).is_none() {
        // A file system that takes not even this takes no run either.
        let _ = enrolment::set_record_state(state, session, RecordState::Gap);
    }
}

fn write(state: &State, event: Event, session: &SessionId, what: &str, fate: Fate) -> Option<()> {
    let line = json!({
        "session": session.as_str(),
        "refused": fate == Fate::Refused,
        "what": format!("{} ({what})", event.word()),
    });
    let name = format!("{:020}-{}", clock::now().0, ids::key().ok()?.as_str());
    let kept = fs::read_dir(folder(state)).map_or(0, Iterator::count);
    if kept >= MOST_KEPT {
        return None;
    }
    state::write_durably(&folder(state).join(name), &line.to_string()).ok()
}

/// What an event was about, for a person who reads the history.
pub(super) fn word(what: &What) -> String {
    match what {
        What::AgentRequested { agent, .. } => match agent {
            Ok(agent) => format!("'{agent}' was asked for"),
            Err(name) => format!("{name:?} was asked for"),
        },
        What::AgentBegan { actor } => format!("'{}' began", actor.agent),
        What::AgentStopping { actor, .. } => format!("'{}' ended", actor.agent),
        What::AgentReturned { .. } | What::AgentNotified { .. } => "an agent ended".to_owned(),
        What::AgentFailed { .. } => "an agent failed".to_owned(),
        What::ToolRequested { tool, .. } | What::ToolUsed { tool, .. } => format!("'{tool}'"),
        What::StopRequested { .. } => "the session stopped".to_owned(),
        What::SessionStarted { .. }
        | What::SessionEnded { .. }
        | What::PromptSubmitted { .. }
        | What::CommandTyped { .. }
        | What::SkillRequested { .. }
        | What::WorkflowRequested { .. }
        | What::MessageRequested { .. }
        | What::TodosMarked { .. }
        | What::QuestionAnswered { .. }
        | What::AgentLaunched { .. }
        | What::TurnFailed { .. }
        | What::ConfigChanged { .. }
        | What::Ignored => "not judged".to_owned(),
    }
}

/// Submits what was kept for this session. Each becomes an entry, which marks the run unless the event was
/// refused.
pub(super) fn drain(guarded: &mut Guarded<'_, '_>, record: RecordState) -> Result<(), Failure> {
    if record == RecordState::Gap {
        close_gap(guarded)?;
    }
    let Ok(listed) = fs::read_dir(folder(&guarded.workspace.state)) else {
        return Ok(());
    };
    let mut paths: Vec<PathBuf> = listed
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    if !paths.is_empty() {
        guarded.workspace.context.expect_delay();
    }
    for path in paths {
        let Some(kept) = read(&path) else {
            continue;
        };
        if kept.session != guarded.session.as_str() {
            continue;
        }
        let Some(key) = key_of(&path) else { continue };
        submit(guarded, Some(&key), kept.what, kept.fate)?;
        // Another hook that was at it at the same time may have removed it.
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(Failure::file("remove", &path)(error));
            }
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

/// Each file counts once, however many hooks submit it, and however often one is killed before it has
/// removed it.
fn key_of(path: &Path) -> Option<Key> {
    let name = path.file_name()?.to_str()?;
    Key::parse(&format!("spool-{name}")).ok()
}

/// A lost event is recorded as lost, before anything else can happen.
fn close_gap(guarded: &mut Guarded<'_, '_>) -> Result<(), Failure> {
    let (state, session) = (guarded.workspace.state.clone(), guarded.session.clone());
    submit(
        guarded,
        None,
        "an event that could not be stored".to_owned(),
        Fate::Continued,
    )?;
    let failed = Failure::file("look at", state.folder());
    enrolment::set_record_state(&state, &session, RecordState::Whole).map_err(failed)
}

fn submit(
    guarded: &mut Guarded<'_, '_>,
    key: Option<&Key>,
    what: String,
    fate: Fate,
) -> Result<(), Failure> {
    let unjudged = match fate {
        Fate::Continued => SessionEvent::Unevaluated { what },
        Fate::Refused => SessionEvent::RefusedUnjudged { what },
    };
    let unjudged = Happening::Session(unjudged);
    guarded.submit_once(key, unjudged).map(drop)
}

/// An event as it was kept.
struct Kept {
    session: String,
    what: String,
    fate: Fate,
}

fn read(path: &Path) -> Option<Kept> {
    let value: Value = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    let text = |name: &str| value.get(name)?.as_str().map(str::to_owned);
    // Earlier versions did not say it, and took all for continued.
    let refused = value.get("refused").and_then(Value::as_bool) == Some(true);
    Some(Kept {
        session: text("session")?,
        what: text("what")?,
        fate: if refused {
            Fate::Refused
        } else {
            Fate::Continued
        },
    })
}
