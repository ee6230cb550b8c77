//! The workers of this machine that are at work. Each holds a lock on a record of the runs that it has driven, which ends
//! with its process.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::state::State;

/// The folder of the records.
pub fn folder(state: &State) -> PathBuf {
    state.folder().join("workers")
}

/// How many workers are there that have driven a run. One that has driven none has a free place, and takes what is due.
pub fn count(state: &State) -> usize {
    let listed = fs::read_dir(folder(state)).into_iter().flatten().flatten();
    let paths = listed.map(|entry| entry.path());
    // One that is not locked yet has an extension.
    paths
        .filter(|path| path.extension().is_none() && is_locked(path))
        .count()
}

fn is_locked(path: &Path) -> bool {
    let is_file = fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
    // A shared lock is in the way of no other reader, and goes with the file.
    let opened = is_file.then(|| File::open(path).ok()).flatten();
    opened.is_some_and(|file| matches!(file.try_lock_shared(), Err(fs::TryLockError::WouldBlock)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_counts_while_its_worker_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        assert_eq!(count(&state), 0);
        fs::create_dir(super::folder(&state)).unwrap();
        let record = File::create(super::folder(&state).join("record")).unwrap();
        assert_eq!(count(&state), 0, "its worker is gone");
        record.lock().unwrap();
        assert_eq!(count(&state), 1);
        drop(record);
        assert_eq!(count(&state), 0);
    }
}
