//! Runs that wait for a slot: a free one goes to the first in the order of the queue, and not to the first that asks.
//!
//! A bid is a file that counts only for a moment after it was written: who still waits asks again before. So a
//! process that is gone, or does something else, holds nobody up.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use engine::RunId;
use runtime::failure::Failure;
use runtime::queue_order::QueueOrder;
use runtime::state::{self, State};
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::StoredRun;

/// A bid that was not renewed for so long is none.
const FRESH: Duration = Duration::from_secs(3);

/// The bid of a run that this process drives.
#[derive(Debug)]
pub struct SlotBid {
    path: PathBuf,
    /// Its place in the queue when it was taken from there, and its age.
    place: (usize, u64),
    placed: Mutex<Option<(Bid, Instant)>>,
}

/// The less, the earlier.
type Rank = (bool, (usize, u64));

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Bid {
    /// The limits that it waits for.
    names: Vec<String>,
    rank: Rank,
}

impl SlotBid {
    pub fn new(state: &State, stored: &StoredRun) -> Result<Self, Failure> {
        let run = &stored.run;
        let order = QueueOrder::load(state)?;
        Ok(Self {
            path: folder(state).join(run.id.as_str()),
            place: (order.place(&run.id), run.started_at.0),
            placed: Mutex::default(),
        })
    }

    /// The run waits for these. One that has begun goes on before others begin.
    pub fn place(&self, names: Vec<String>, has_begun: bool) {
        let rank = (!has_begun, self.place);
        let bid = Bid { names, rank };
        let Ok(mut placed) = self.placed.lock() else {
            return;
        };
        let is_fresh = |at: &Instant| at.elapsed() < FRESH / 4;
        let is_same = placed
            .as_ref()
            .is_some_and(|(known, at)| *known == bid && is_fresh(at));
        if !is_same && !bid.names.is_empty() {
            // What cannot be written costs only the place.
            let _ = state::write_quickly(&self.path, json!(bid).to_string().as_bytes());
            *placed = Some((bid, Instant::now()));
        }
    }

    /// The run waits no longer.
    pub fn withdraw(&self) {
        if let Ok(mut placed) = self.placed.lock()
            && placed.take().is_some()
        {
            let _ = fs::remove_file(&self.path);
        }
    }

    /// Those of the names for which a run waits that comes before this one.
    pub fn behind_others(&self, names: &[String], has_begun: bool) -> Vec<String> {
        let rank = (!has_begun, self.place);
        let folder = self.path.parent().filter(|_| !names.is_empty());
        let files = folder
            .into_iter()
            .flat_map(fs::read_dir)
            .flatten()
            .flatten();
        let others = files.map(|file| file.path()).filter(|it| *it != self.path);
        let earlier = others.filter_map(|path| read(&path));
        let earlier: Vec<Bid> = earlier.filter(|bid| bid.rank < rank).collect();
        let is_wanted = |name: &&String| earlier.iter().any(|bid| bid.names.contains(*name));
        names.iter().filter(is_wanted).cloned().collect()
    }
}

/// The bid in this file, if it still counts.
fn read(path: &Path) -> Option<Bid> {
    RunId::parse(path.file_name()?.to_str()?).ok()?;
    let written = fs::metadata(path).and_then(|it| it.modified()).ok()?;
    if written.elapsed().ok()? > FRESH {
        return None;
    }
    serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
}

fn folder(state: &State) -> PathBuf {
    state.folder().join("slots").join("bids")
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    fn bid(state: &State, run: &str, place: usize) -> SlotBid {
        SlotBid {
            path: folder(state).join(run),
            place: (place, 0),
            placed: Mutex::default(),
        }
    }

    fn names(words: &str) -> Vec<String> {
        words.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn who_has_begun_is_first_and_then_the_order_counts() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let [first, second, third] =
            [("r-a", 1), ("r-b", 2), ("r-c", 3)].map(|(run, place)| bid(&state, run, place));
        let is_first = |of: &SlotBid, has_begun| {
            of.behind_others(&names("runner-claude"), has_begun)
                .is_empty()
        };
        let one = names("runner-claude");
        second.place(one.clone(), false);
        assert!(is_first(&second, false));
        first.place(one.clone(), false);
        assert!(is_first(&first, false) && !is_first(&second, false));
        third.place(one.clone(), true);
        assert!(is_first(&third, true) && !is_first(&first, false));
        third.withdraw();
        first.withdraw();
        assert!(is_first(&second, false));
    }

    #[test]
    fn a_bid_holds_up_only_who_needs_the_same_and_only_for_a_moment() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let (first, second) = (bid(&state, "r-a", 1), bid(&state, "r-b", 2));
        let behind = || second.behind_others(&names("agents runner-claude"), false);
        first.place(names("runner-codex"), false);
        assert!(behind().is_empty(), "another runner");
        first.place(names("agents runner-codex"), false);
        assert_eq!(behind(), ["agents"]);
        let file = fs::File::open(&first.path).unwrap();
        file.set_modified(SystemTime::now() - FRESH * 2).unwrap();
        assert!(behind().is_empty(), "nobody asks any more");
        fs::write(&first.path, "{").unwrap();
        assert!(behind().is_empty(), "half a bid");
    }
}
