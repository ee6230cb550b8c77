//! The order of queued runs that a person has chosen. Runs that it does not name follow, the oldest first.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use engine::{RunId, Status};
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::RunSummary;

use crate::failure::Failure;
use crate::file_lock::{FileLock, LOCK_TIMEOUT};
use crate::state::{self, State};

/// Where a person asks a run to work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueuePlace {
    First,
    Last,
    Before(RunId),
}

/// These runs come first, in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueOrder {
    #[serde(with = "crate::serde_names")]
    first: Vec<RunId>,
}

impl QueueOrder {
    /// The stored order. Without a file nobody has chosen one.
    pub fn load(state: &State) -> Result<Self, Failure> {
        let path = path(state);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            Err(cause) => return Err(Failure::file("read", &path)(cause)),
        };
        serde_json::from_str(&text).map_err(|_| {
            Failure::store(format!("cannot read the order in {}", path.display()))
                .hint("remove the file; the oldest run is then the first")
        })
    }

    /// Locks the order against other changes.
    pub fn lock(state: &State) -> Result<FileLock, Failure> {
        FileLock::wait_for(&state.folder().join("queue.lock"), LOCK_TIMEOUT)
    }

    pub fn save(&self, state: &State) -> Result<(), Failure> {
        let path = path(state);
        state::write_durably(&path, &json!(self).to_string())
            .map_err(Failure::file("write to", &path))
    }

    /// Puts the runs, newest first as the store lists them, into their order.
    pub fn sort(&self, runs: &mut [RunSummary]) {
        let place = |run: &RunSummary| {
            // Who has begun goes on before anybody begins.
            let begun = run.status == Status::Queued;
            (begun, self.place(&run.id), run.started_at)
        };
        // Of two that were queued within one millisecond, the store's order tells the older one.
        runs.reverse();
        runs.sort_by_key(place);
    }

    /// The place that a person chose; all others share the last one.
    pub fn place(&self, run: &RunId) -> usize {
        let chosen = self.first.iter().position(|id| id == run);
        chosen.unwrap_or(self.first.len())
    }

    /// The order with this run in its new place. `queued` are the queued runs as they stand now; `None` if
    /// the run or the one behind it is not among them.
    pub fn with(queued: &[RunId], run: &RunId, place: &QueuePlace) -> Option<Self> {
        let mut rest: Vec<RunId> = queued.iter().filter(|id| *id != run).cloned().collect();
        let at = match place {
            QueuePlace::First => 0,
            QueuePlace::Last => rest.len(),
            QueuePlace::Before(other) => rest.iter().position(|id| id == other)?,
        };
        if rest.len() == queued.len() {
            return None;
        }
        rest.insert(at, run.clone());
        Some(Self { first: rest })
    }
}

fn path(state: &State) -> PathBuf {
    state.folder().join("queue.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(words: &str) -> QueueOrder {
        QueueOrder { first: ids(words) }
    }

    fn ids(words: &str) -> Vec<RunId> {
        let words = words.split_whitespace();
        words.map(|word| RunId::parse(word).unwrap()).collect()
    }

    #[test]
    fn a_run_gets_its_place_and_the_others_keep_theirs() {
        let queued = ids("r-a r-b r-c");
        let of = |run: &str, place: QueuePlace| QueueOrder::with(&queued, &ids(run)[0], &place);
        let before = |run: &str| QueuePlace::Before(ids(run)[0].clone());
        for (run, place, expected) in [
            ("r-c", QueuePlace::First, Some("r-c r-a r-b")),
            ("r-a", QueuePlace::Last, Some("r-b r-c r-a")),
            ("r-c", before("r-b"), Some("r-a r-c r-b")),
            ("r-a", before("r-a"), None),
            ("r-a", before("r-x"), None),
            ("r-x", QueuePlace::First, None),
        ] {
            let expected = expected.map(order);
            assert_eq!(of(run, place.clone()), expected, "{run} {place:?}");
        }
    }

    #[test]
    fn an_order_is_found_again_and_a_damaged_one_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        assert_eq!(QueueOrder::load(&state).unwrap(), QueueOrder::default());
        let kept = order("r-b r-a");
        kept.save(&state).unwrap();
        assert_eq!(QueueOrder::load(&state).unwrap(), kept);
        fs::write(path(&state), "[]").unwrap();
        assert!(QueueOrder::load(&state).is_err());
    }

    #[test]
    fn stored_bytes_are_read_and_written_as_they_always_were() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let stored = r#"{"first":["r-b","r-a"]}"#;
        order("r-b r-a").save(&state).unwrap();
        assert_eq!(fs::read_to_string(path(&state)).unwrap(), stored);
        fs::write(path(&state), stored.replace('{', "{\"more\":1,")).unwrap();
        assert_eq!(QueueOrder::load(&state).unwrap(), order("r-b r-a"));
        for damaged in ["", "{}", r#"{"first":["../x"]}"#, r#"{"first":[1]}"#] {
            fs::write(path(&state), damaged).unwrap();
            assert!(QueueOrder::load(&state).is_err(), "{damaged}");
        }
    }
}
