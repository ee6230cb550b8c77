//! What a driven run waits for now, written by its orchestrator for those who look from outside.
//!
//! Only information: it decides nothing, and counts only while the orchestrator that wrote it holds the lease.

use std::fs;
use std::path::PathBuf;

use engine::{RunId, Time};
use runtime::state::{self, State};
use serde_json::{Value, json};
use store::Lease;

/// Why a driven run has no worker at work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitNote {
    /// All slots of this runner, or of the machine, are taken.
    Slot { runner: String },
    /// Another run works in the same tree.
    Tree { run: RunId },
    /// Nothing may start before this time.
    Pause { until: Time, why: String },
}

impl WaitNote {
    /// Notes it in the name of the holder of the lease. What cannot be written is only not shown.
    pub(crate) fn write(&self, state: &State, run: &RunId, holder: &str) {
        let mut value = match self {
            Self::Slot { runner } => json!({ "for": "slot", "runner": runner }),
            Self::Tree { run } => json!({ "for": "tree", "run": run.as_str() }),
            Self::Pause { until, why } => json!({ "for": "pause", "until": until.0, "why": why }),
        };
        value["holder"] = Value::from(holder);
        let _ = state::write_quickly(&path(state, run), value.to_string().as_bytes());
    }

    pub(crate) fn clear(state: &State, run: &RunId) {
        let _ = fs::remove_file(path(state, run));
    }

    /// A time that has come is nothing to wait for.
    pub(crate) fn counts_at(&self, now: Time) -> bool {
        match self {
            Self::Pause { until, .. } => *until > now,
            Self::Slot { .. } | Self::Tree { .. } => true,
        }
    }

    /// The note of the process that holds this lease.
    pub fn read(state: &State, run: &RunId, lease: &Lease) -> Option<Self> {
        let text = fs::read_to_string(path(state, run)).ok()?;
        let value: Value = serde_json::from_str(&text).ok()?;
        if value["holder"].as_str() != Some(&lease.holder) {
            return None;
        }
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        match value["for"].as_str()? {
            "slot" => Some(Self::Slot {
                runner: text("runner")?,
            }),
            "tree" => Some(Self::Tree {
                run: RunId::parse(&text("run")?).ok()?,
            }),
            "pause" => Some(Self::Pause {
                until: Time(value["until"].as_u64()?),
                why: text("why")?,
            }),
            _ => None,
        }
    }
}

fn path(state: &State, run: &RunId) -> PathBuf {
    state.folder().join("headless").join(format!("{run}.waits"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_counts_for_the_holder_who_wrote_it() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let run = RunId::parse("r-1").unwrap();
        let lease = |holder: &str| Lease {
            holder: holder.to_owned(),
            fence: store::Fence::numbered(1),
            until: Time(9),
            is_expired: false,
        };
        let notes = [
            WaitNote::Slot {
                runner: "codex".to_owned(),
            },
            WaitNote::Tree {
                run: RunId::parse("r-2").unwrap(),
            },
            WaitNote::Pause {
                until: Time(7),
                why: "limited".to_owned(),
            },
        ];
        for note in notes {
            note.write(&state, &run, "here 1 2");
            assert_eq!(WaitNote::read(&state, &run, &lease("here 1 2")), Some(note));
            assert_eq!(WaitNote::read(&state, &run, &lease("here 1 3")), None);
        }
        WaitNote::clear(&state, &run);
        assert_eq!(WaitNote::read(&state, &run, &lease("here 1 2")), None);
    }

    #[test]
    fn a_pause_ends_with_its_time_and_a_slot_when_it_is_free() {
        let pause = WaitNote::Pause {
            until: Time(7),
            why: "crashed".to_owned(),
        };
        let slot = WaitNote::Slot {
            runner: "codex".to_owned(),
        };
        for (note, now, counts) in [
            (&pause, Time(6), true),
            (&pause, Time(7), false),
            (&slot, Time(7), true),
        ] {
            assert_eq!(note.counts_at(now), counts, "{note:?} at {now:?}");
        }
    }
}
