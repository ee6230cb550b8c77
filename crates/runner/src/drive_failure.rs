//! Why a run could not be driven the last time, for those who look from outside.
//!
//! Only information: it decides nothing, and what cannot be written is only not shown.

use std::fs;
use std::path::PathBuf;

use engine::{RunId, Time};
use runtime::state::{self, State};
use serde_json::{Value, json};

/// The last time that somebody tried to drive a run, and could not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriveFailure {
    pub at: Time,
    pub why: String,
}

impl DriveFailure {
    pub(crate) fn write(&self, state: &State, run: &RunId) {
        let value = json!({ "at": self.at.0, "why": self.why });
        let _ = state::write_quickly(&path(state, run), value.to_string().as_bytes());
    }

    pub(crate) fn clear(state: &State, run: &RunId) {
        let _ = fs::remove_file(path(state, run));
    }

    pub fn read(state: &State, run: &RunId) -> Option<Self> {
        let text = fs::read_to_string(path(state, run)).ok()?;
        let value: Value = serde_json::from_str(&text).ok()?;
        Some(Self {
            at: Time(value["at"].as_u64()?),
            why: value["why"].as_str()?.to_owned(),
        })
    }
}

fn path(state: &State, run: &RunId) -> PathBuf {
    let name = format!("{run}.failed");
    state.folder().join("headless").join(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_read_as_it_was_written_until_it_is_cleared() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let run = RunId::parse("r-1").unwrap();
        let failure = DriveFailure {
            at: Time(7),
            why: "claude was not found".to_owned(),
        };
        failure.write(&state, &run);
        assert_eq!(DriveFailure::read(&state, &run), Some(failure));
        DriveFailure::clear(&state, &run);
        assert_eq!(DriveFailure::read(&state, &run), None);
    }
}
