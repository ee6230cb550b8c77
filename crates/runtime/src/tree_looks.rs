//! How often the tree is compared while a worker uses its tools: in a large project a look takes long, and
//! its worker should not wait for one after every call.
//!
//! These looks only tell a worker early that it changed what it may not change. Its end is judged by a
//! look of its own, whatever happened before.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use engine::RunId;
use rustix::time::{ClockId, clock_gettime};

use crate::state::{self, State};

/// A look that takes no more processor time than this delays nobody. Other time says more about the machine
/// than about the project.
const SHORT: Duration = Duration::from_millis(60);

/// Between two looks lies at least so many times what the last one took.
const REST: u32 = 10;

/// Does something that may look at the tree of this run, if it is time for that.
pub fn if_due<T>(state: &State, run: &RunId, look: impl FnOnce() -> T) -> Option<T> {
    if !is_due(state, run) {
        return None;
    }
    let (began, used_before) = (Instant::now(), processor_time());
    let looked = look();
    let used = processor_time().saturating_sub(used_before);
    note(state, run, began.elapsed(), used);
    Some(looked)
}

/// Is it time for a look at the tree of this run?
fn is_due(state: &State, run: &RunId) -> bool {
    let path = file(state, run);
    let Some((took, ended)) = last(&path) else {
        return true;
    };
    // A time in the future says nothing.
    let since = SystemTime::now().duration_since(ended);
    since.map_or(true, |since| since >= took.saturating_mul(REST))
}

/// What this process has used so far.
fn processor_time() -> Duration {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(used).unwrap_or_default()
}

/// Notes how long a look took that has just ended.
fn note(state: &State, run: &RunId, took: Duration, used: Duration) {
    let path = file(state, run);
    if used > SHORT {
        // Without the note the next call looks again.
        let _ = state::write_quickly(&path, took.as_millis().to_string().as_bytes());
    } else if path.exists() {
        let _ = fs::remove_file(&path);
    }
}

const FOLDER: &str = "looks";

fn file(state: &State, run: &RunId) -> PathBuf {
    state.folder().join(FOLDER).join(run.as_str())
}

/// How long the last long look took, and when it ended.
fn last(path: &Path) -> Option<(Duration, SystemTime)> {
    let took = fs::read_to_string(path).ok()?.trim().parse().ok()?;
    let ended = fs::metadata(path).ok()?.modified().ok()?;
    Some((Duration::from_millis(took), ended))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_a_long_look_there_is_a_pause() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let run = RunId::parse("r-1").unwrap();
        assert!(is_due(&state, &run));
        let hour = Duration::from_secs(3600);
        note(&state, &run, hour, SHORT);
        assert!(is_due(&state, &run), "on a busy machine");
        note(&state, &run, hour, hour);
        assert!(!is_due(&state, &run), "a long look");
        assert!(is_due(&state, &RunId::parse("r-2").unwrap()), "another run");
        let long_ago = SystemTime::now() - 11 * hour;
        let noted = fs::File::options().append(true).open(file(&state, &run));
        noted.unwrap().set_modified(long_ago).unwrap();
        assert!(is_due(&state, &run), "after the pause");
        note(&state, &run, hour, SHORT);
        assert!(!file(&state, &run).exists());
    }
}
