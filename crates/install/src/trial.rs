//! A trial of the installed hooks in a state folder of its own. Hooks name their state folder; a mark in
//! it lets them use another one, as long as the process that tries them is at work.

use std::fs;
use std::path::{Path, PathBuf};

use evidence::process;
use runtime::failure::Failure;
use runtime::state::{self, State};

use super::record::hash;

const FOLDER: &str = "trials";

/// A trial that is under way. It ends on drop.
pub(crate) struct Trial {
    mark: PathBuf,
}

impl Trial {
    /// Lets hooks that name this state folder use the other one.
    pub(crate) fn begin(state: &State, other: &State) -> Result<Self, Failure> {
        let mark = mark(state.folder(), other);
        let failed = || Failure::file("write to", &mark);
        let own = process::find(std::process::id());
        let own = own.map(|own| format!("{} {}", own.id, own.started));
        state::write_durably(&mark, &own.unwrap_or_default()).map_err(failed())?;
        Ok(Self { mark })
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        // A mark that stays says nothing once this process has ended.
        let _ = fs::remove_file(&self.mark);
    }
}

/// Is a trial under way that uses the other state folder instead of this one?
pub(crate) fn is_under_way(state: &Path, other: &State) -> bool {
    let Ok(text) = fs::read_to_string(mark(state, other)) else {
        return false;
    };
    let mut numbers = text.split(' ');
    let id = numbers.next().and_then(|id| id.parse().ok());
    let started: Option<u64> = numbers.next().and_then(|started| started.parse().ok());
    let found = id.and_then(process::find);
    found.is_some_and(|found| Some(found.started) == started)
}

fn mark(state: &Path, other: &State) -> PathBuf {
    let mut name = hash(other.folder().as_os_str().as_encoded_bytes());
    name.truncate(32);
    state.join(FOLDER).join(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_ends_with_its_process() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().join("state"));
        let other = State::new(folder.path().join("other"));
        let third = State::new(folder.path().join("third"));
        assert!(!is_under_way(state.folder(), &other));
        let trial = Trial::begin(&state, &other).unwrap();
        assert!(is_under_way(state.folder(), &other));
        assert!(!is_under_way(state.folder(), &third));
        let mark = trial.mark.clone();
        drop(trial);
        assert!(!is_under_way(state.folder(), &other));
        for text in ["", "x", "1", "1 0", "4000000000 1"] {
            fs::write(&mark, text).unwrap();
            assert!(!is_under_way(state.folder(), &other), "{text}");
        }
    }
}
