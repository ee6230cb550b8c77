//! Rests: until when nobody works on a headless run, because a service or a cap asks to wait, and which process
//! goes on with it then.
//!
//! An orchestrator notes the rest when it begins. The note only informs: what goes on when is decided from the run
//! and the caps.

use std::fs;
use std::path::PathBuf;

use engine::{Driver, Run, RunId, ServiceLimit, Status, Time};
use serde_json::{Value, json};
use store::{Backend as _, Lease, StoredRun};
use views::Untrusted;
use views::facts::{Rest, RestCause, RestKeeper};

use crate::failure::Failure;
use crate::state::{self, State};
use crate::workspace::Workspace;
use crate::{caps, lease_holder};

/// What an orchestrator notes about a rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestNote {
    pub until: Time,
    pub why: String,
    pub cause: RestCause,
    /// The process that goes on with the run.
    pub keeper: String,
    /// The run as its orchestrator left it. A later version is not the one that rests.
    pub version: u64,
}

impl RestNote {
    /// What cannot be written is only not shown.
    pub fn write(&self, state: &State, run: &RunId) {
        let value = json!({
            "until": self.until.0,
            "why": self.why,
            "cause": match self.cause {
                RestCause::Service => "service",
                RestCause::Cap => "cap",
            },
            "keeper": self.keeper,
            "version": self.version,
        });
        let _ = state::write_quickly(&path(state, run), value.to_string().as_bytes());
    }

    pub fn clear(state: &State, run: &RunId) {
        let _ = fs::remove_file(path(state, run));
    }

    pub fn read(state: &State, run: &RunId) -> Option<Self> {
        let text = fs::read_to_string(path(state, run)).ok()?;
        let value: Value = serde_json::from_str(&text).ok()?;
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        Some(Self {
            until: Time(value["until"].as_u64()?),
            why: text("why")?,
            cause: match value["cause"].as_str()? {
                "service" => RestCause::Service,
                "cap" => RestCause::Cap,
                _ => return None,
            },
            keeper: text("keeper")?,
            version: value["version"].as_u64()?,
        })
    }
}

/// The rest of a run, as somebody finds it now.
pub fn of(
    workspace: &Workspace<'_>,
    stored: &StoredRun,
    status: &Status,
    now: Time,
) -> Result<Option<Rest>, Failure> {
    let run = &stored.run;
    let is_at_work = run.dispatches.values().any(|it| it.paused_at.is_none());
    if *status != Status::Running || run.driver != Driver::Headless || is_at_work {
        return Ok(None);
    }
    let held = workspace.store.lease(&run.id)?;
    let held = held.filter(|held| lease_holder::driver(Some(held)).is_some());
    let note = RestNote::read(&workspace.state, &run.id);
    let note = note.filter(|note| is_valid(note, stored.version, held.as_ref()));
    Ok(match note {
        Some(note) if note.cause == RestCause::Cap && !is_capped(workspace, now)? => None,
        Some(note) => noted(workspace, note, held.as_ref(), now),
        None if held.is_some() => None,
        None => limited(workspace, run, now),
    })
}

/// The note of the process that drives the run counts, and that of the one which has left it as it is.
fn is_valid(note: &RestNote, version: u64, held: Option<&Lease>) -> bool {
    match held {
        Some(held) => held.holder == note.keeper,
        None => note.version == version,
    }
}

/// A person may have raised the cap. That of a fleet is known to its database alone.
fn is_capped(workspace: &Workspace<'_>, now: Time) -> Result<bool, Failure> {
    Ok(workspace.store.fleet().is_some() || caps::reached(&workspace.state, now)?.is_some())
}

fn noted(
    workspace: &Workspace<'_>,
    note: RestNote,
    held: Option<&Lease>,
    now: Time,
) -> Option<Rest> {
    let keeper = if held.is_some() {
        RestKeeper::There
    } else {
        keeper(workspace, Some(&note.keeper))
    };
    // Its time has come: who keeps it takes it up as soon as there is room.
    if note.until <= now && keeper == RestKeeper::Nobody {
        return None;
    }
    Some(Rest {
        until: note.until,
        seen_at: now,
        why: Untrusted::new(note.why),
        cause: note.cause,
        keeper,
    })
}

/// Without a note: the orchestrator was killed, or is on another machine. The run itself has its limits.
fn limited(workspace: &Workspace<'_>, run: &Run, now: Time) -> Option<Rest> {
    let mut soonest: Option<&ServiceLimit> = None;
    for dispatch in run.dispatches.values() {
        let limit = run.limit_of(dispatch, now)?;
        let is_sooner = soonest.is_none_or(|known| limit.until < known.until);
        soonest = if is_sooner { Some(limit) } else { soonest };
    }
    soonest.map(|limit| Rest {
        until: limit.until,
        seen_at: now,
        why: Untrusted::new(views::limit_reason(limit)),
        cause: RestCause::Service,
        keeper: keeper(workspace, None),
    })
}

/// A run of a fleet is in its queue, from which any of its workers takes it.
fn keeper(workspace: &Workspace<'_>, noted: Option<&str>) -> RestKeeper {
    let is_alive = noted.is_some_and(lease_holder::is_alive);
    if is_alive || workspace.store.fleet().is_some() {
        RestKeeper::There
    } else {
        RestKeeper::Nobody
    }
}

fn path(state: &State, run: &RunId) -> PathBuf {
    state.folder().join("headless").join(format!("{run}.rests"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let run = RunId::parse("r-1").unwrap();
        assert_eq!(RestNote::read(&state, &run), None);
        for cause in [RestCause::Service, RestCause::Cap] {
            let note = RestNote {
                until: Time(7),
                why: "later".to_owned(),
                cause,
                keeper: "here 1 2".to_owned(),
                version: 9,
            };
            note.write(&state, &run);
            assert_eq!(RestNote::read(&state, &run), Some(note));
        }
        RestNote::clear(&state, &run);
        assert_eq!(RestNote::read(&state, &run), None);
    }

    #[test]
    fn a_note_counts_for_its_version_or_for_the_process_that_drives_the_run() {
        let note = RestNote {
            until: Time(7),
            why: "later".to_owned(),
            cause: RestCause::Service,
            keeper: "here 1 2".to_owned(),
            version: 9,
        };
        let held = |holder: &str| Lease {
            holder: holder.to_owned(),
            fence: store::Fence::numbered(1),
            until: Time(9),
            is_expired: false,
        };
        assert!(is_valid(&note, 9, None));
        assert!(!is_valid(&note, 10, None), "somebody has written to it");
        assert!(is_valid(&note, 10, Some(&held("here 1 2"))));
        assert!(!is_valid(&note, 9, Some(&held("here 3 4"))));
    }
}
