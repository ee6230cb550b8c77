//! How far the copy of a run is, as far as this machine knows: one small file for each run.

use std::fs;
use std::path::PathBuf;

use engine::{Hash, RunId};
use serde_json::{Value, json};
use store::Adoption;

use crate::failure::Failure;
use crate::state::{self, State};

/// The folder of these files. They go with their runs.
const FOLDER: &str = "shipping";

/// The acknowledged part of a journal. If it is lost, the database tells it again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Position {
    pub entries: u64,
    /// The hash of the last one, if it is known.
    pub hash: Option<Hash>,
    pub halt: Option<Halt>,
    /// The version that people on other machines were told.
    pub told: u64,
}

/// Why nothing more of a run is shipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    /// The copy has another entry with this number.
    Differs {
        at: u64,
    },
    /// The journal has only so many entries, and the copy has more.
    RolledBack {
        entries: u64,
    },
    Adopted(Adoption),
}

/// Why nothing more of this run is shipped, if that is so.
pub fn halt_of(state: &State, run: &RunId) -> Option<Halt> {
    Position::read(state, run)?.halt
}

/// Forgets what is known about copies: the next database has none, or tells it.
pub fn forget_positions(state: &State) -> Result<(), Failure> {
    let folder = state.folder().join(FOLDER);
    match fs::remove_dir_all(&folder) {
        Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::file("remove", &folder)(cause))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

impl Position {
    pub(super) fn read(state: &State, run: &RunId) -> Option<Self> {
        let text = fs::read_to_string(path(state, run)).ok()?;
        let value: Value = serde_json::from_str(&text).ok()?;
        let hash = value["hash"].as_str().and_then(Hash::parse);
        Some(Self {
            entries: value["entries"].as_u64()?,
            hash,
            halt: halt_from_json(&value["halt"]),
            told: value["told"].as_u64().unwrap_or(0),
        })
    }

    pub(super) fn save(&self, state: &State, run: &RunId) -> Result<(), Failure> {
        let value = json!({
            "entries": self.entries,
            "hash": self.hash.map(|hash| hash.to_string()),
            "halt": self.halt.as_ref().map(halt_to_json),
            "told": self.told,
        });
        let path = path(state, run);
        // What is lost here is asked again.
        state::write_quickly(&path, value.to_string().as_bytes())
            .map_err(Failure::file("write to", &path))
    }
}

fn path(state: &State, run: &RunId) -> PathBuf {
    state.folder().join(FOLDER).join(run.as_str())
}

fn halt_to_json(halt: &Halt) -> Value {
    match halt {
        Halt::Differs { at } => json!({ "differs": at }),
        Halt::RolledBack { entries } => json!({ "rolled_back": entries }),
        Halt::Adopted(Adoption { by, person, entry }) => {
            json!({ "adopted": entry, "by": by, "person": person })
        }
    }
}

fn halt_from_json(value: &Value) -> Option<Halt> {
    let number = |key: &str| value[key].as_u64();
    let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let differs = number("differs").map(|at| Halt::Differs { at });
    let rolled_back = || number("rolled_back").map(|entries| Halt::RolledBack { entries });
    let adopted = || {
        let adoption = |entry| Adoption {
            by: text("by"),
            person: text("person"),
            entry,
        };
        number("adopted").map(|entry| Halt::Adopted(adoption(entry)))
    };
    differs.or_else(rolled_back).or_else(adopted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_kept_until_it_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let run = RunId::parse("r-1").unwrap();
        assert_eq!(Position::read(&state, &run), None);
        let adopted = Halt::Adopted(Adoption {
            by: "b".to_owned(),
            person: "ada".to_owned(),
            entry: 3,
        });
        for halt in [
            None,
            Some(Halt::Differs { at: 2 }),
            Some(Halt::RolledBack { entries: 1 }),
            Some(adopted),
        ] {
            let (entries, hash) = (7, Some(Hash([3; 32])));
            let position = Position {
                entries,
                hash,
                halt,
                told: 4,
            };
            position.save(&state, &run).unwrap();
            assert_eq!(halt_of(&state, &run), position.halt);
            assert_eq!(Position::read(&state, &run), Some(position));
        }
        forget_positions(&state).unwrap();
        forget_positions(&state).unwrap();
        assert_eq!(Position::read(&state, &run), None);
    }
}
