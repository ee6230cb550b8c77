//! A claim: a lock held while one of our workers works. It ends with our process.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use engine::CallId;
use rustix::fs::OFlags;

use crate::failure::Failure;
use crate::ids;
use crate::state::{self, State};

/// The prefix of our call ids; hosts do not use it.
const PREFIX: &str = "step-";

/// Work that is ours until this is dropped.
pub struct Claim {
    call: CallId,
    lock: PathBuf,
    file: File,
}

impl Claim {
    /// Invariant: the lock is held before its name is in any journal.
    pub fn new(state: &State) -> Result<Self, Failure> {
        let call = CallId::parse(&format!("{PREFIX}{}", ids::key()?))
            .map_err(|problem| Failure::bug(format!("cannot name a call ({problem})")))?;
        Self::on(state, call)
    }

    /// Takes over the work of a call that is in the journal. The holder of the old lock may be
    /// frozen: we do not wait for it, and its lock does not count any more.
    ///
    /// Invariant: we hold the run's lease, so nobody else does the same.
    pub fn take_over(state: &State, call: &CallId) -> Result<Self, Failure> {
        let _ = fs::remove_file(script(&lock(state, call)));
        let _ = fs::remove_file(lock(state, call));
        Self::on(state, call.clone())
    }

    fn on(state: &State, call: CallId) -> Result<Self, Failure> {
        let folder = folder(state);
        state::make_folder(&folder).map_err(Failure::file("write to", &folder))?;
        let lock = lock(state, &call);
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&lock)
            .map_err(Failure::file("write to", &lock))?;
        file.lock().map_err(Failure::file("lock", &lock))?;
        Ok(Self { call, lock, file })
    }

    pub fn call(&self) -> &CallId {
        &self.call
    }

    /// Where to write the worker's script. It is removed with the claim.
    pub fn script(&self) -> PathBuf {
        script(&self.lock)
    }
}

impl Claim {
    /// Releases the lock and keeps its files: the next orchestrator continues this work.
    pub fn release(self) {
        let _ = self.file.unlock();
        if !self.lock.exists() {
            // Another process took the work over while we were frozen, and has finished it.
            remove_files(&self.lock);
        }
        std::mem::forget(self);
    }

    /// Another process may have taken the work over while we were frozen.
    fn is_ours(&self) -> bool {
        let ours = self.file.metadata().map(|it| (it.dev(), it.ino()));
        let there = fs::symlink_metadata(&self.lock).map(|it| (it.dev(), it.ino()));
        matches!((ours, there), (Ok(ours), Ok(there)) if ours == there)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if self.is_ours() {
            remove_files(&self.lock);
        }
    }
}

/// Is this one of our calls, and its process gone?
pub fn is_lost(state: &State, call: &CallId) -> bool {
    if !is_ours(call) {
        return false;
    }
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
        .open(lock(state, call));
    match file {
        // A shared lock, because several processes may check at once.
        Ok(file) => !matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)),
        Err(cause) => cause.kind() == std::io::ErrorKind::NotFound,
    }
}

/// Removes the files of a lost claim.
pub fn remove(state: &State, call: &CallId) {
    remove_files(&lock(state, call));
}

fn remove_files(lock: &Path) {
    // A file that remains does no harm.
    for beside in ["script", "arrived", "git", "json", "run", "told"] {
        let _ = fs::remove_file(lock.with_extension(beside));
    }
    let _ = fs::remove_file(lock);
}

/// A file next to a claim's lock that is removed with it.
pub fn file_beside(state: &State, call: &CallId, ending: &str) -> PathBuf {
    lock(state, call).with_extension(ending)
}

/// Is this one of our calls?
pub fn is_ours(call: &CallId) -> bool {
    call.as_str().starts_with(PREFIX)
}

/// The folder of the claims of all runs.
pub fn folder(state: &State) -> PathBuf {
    state.folder().join("working")
}

fn lock(state: &State, call: &CallId) -> PathBuf {
    folder(state).join(call.as_str())
}

fn script(lock: &Path) -> PathBuf {
    lock.with_extension("script")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_lost_when_its_holder_is_gone_and_not_before() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let claim = Claim::new(&state).unwrap();
        let call = claim.call().clone();
        assert!(!is_lost(&state, &call));
        assert!(!is_lost(&state, &CallId::parse("toolu_1").unwrap()));
        fs::write(claim.script(), "#!/bin/sh\n").unwrap();
        drop(claim);
        assert!(is_lost(&state, &call));
        assert_eq!(fs::read_dir(super::folder(&state)).unwrap().count(), 0);
    }

    #[test]
    fn what_is_left_for_the_next_one_stays_unless_the_work_was_taken_over_and_done() {
        for done in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let state = State::new(folder.path().to_owned());
            let claim = Claim::new(&state).unwrap();
            let record = file_beside(&state, claim.call(), "json");
            if done {
                drop(Claim::take_over(&state, claim.call()).unwrap());
            }
            fs::write(&record, "{}").unwrap();
            claim.release();
            assert_eq!(record.exists(), !done);
        }
    }

    #[test]
    fn a_lock_that_nobody_holds_is_a_lost_claim() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let call = Claim::new(&state).unwrap().call().clone();
        fs::write(lock(&state, &call), "").unwrap();
        assert!(is_lost(&state, &call));
        remove(&state, &call);
        assert!(!lock(&state, &call).exists());
    }
}
