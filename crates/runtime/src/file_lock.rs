//! A file lock with a queue, so that no waiting process starves.

mod holder;

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use self::holder::LockHolder;
use crate::failure::Failure;

/// How long a process waits for a lock.
pub const LOCK_TIMEOUT: Duration = Duration::from_secs(15);

/// How long it waits for a stopped holder, which will hardly continue by itself.
const STOPPED_HOLDER_TIMEOUT: Duration = Duration::from_secs(5);

/// How often it checks who holds the lock.
const HOLDER_POLL_INTERVAL: Duration = Duration::from_millis(500);

/// An exclusive lock. It ends with the process.
#[derive(Debug)]
pub struct FileLock {
    file: File,
}

impl FileLock {
    pub fn wait(path: &Path) -> Result<Self, Failure> {
        Self::wait_for(path, LOCK_TIMEOUT)
    }

    /// For locks that may be held long: writes the holder into the file, for those who wait.
    pub fn wait_for_long(path: &Path, timeout: Duration) -> Result<Self, Failure> {
        let lock = Self::wait_for(path, timeout)?;
        // The note is only information.
        let _ = LockHolder::write(&lock.file);
        Ok(lock)
    }

    pub fn wait_for(path: &Path, timeout: Duration) -> Result<Self, Failure> {
        Self::take(path, timeout, || {})
    }

    /// The same. Calls `before_waiting` if the lock is not free.
    pub fn take(
        path: &Path,
        timeout: Duration,
        before_waiting: impl FnOnce(),
    ) -> Result<Self, Failure> {
        let mut options = OpenOptions::new();
        options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600);
        options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
        let file = options
            .open(path)
            .map_err(Failure::file("write to", path))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { file }),
            Err(TryLockError::WouldBlock) => {
                before_waiting();
                Self::queue(path, file, timeout)
            }
            Err(TryLockError::Error(cause)) => Err(Failure::file("lock", path)(cause)),
        }
    }

    /// The lock call has no time limit, so a thread waits for it. If the timeout ends first, the
    /// thread has no receiver and drops the lock.
    fn queue(path: &Path, file: File, timeout: Duration) -> Result<Self, Failure> {
        let (sender, receiver) = mpsc::sync_channel(0);
        let wait = move || {
            let locked = file.lock().map(|()| file);
            let _ = sender.send(locked);
        };
        thread::Builder::new()
            .spawn(wait)
            .map_err(Failure::file("wait for", path))?;
        let deadline = Instant::now() + timeout;
        let mut stopped_since = None;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match receiver.recv_timeout(left.min(HOLDER_POLL_INTERVAL)) {
                Ok(Ok(file)) => return Ok(Self { file }),
                Ok(Err(cause)) => return Err(Failure::file("lock", path)(cause)),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            let holder = LockHolder::read(path);
            let is_stopped = holder.as_ref().is_some_and(LockHolder::is_stopped);
            let now = Instant::now();
            stopped_since = is_stopped.then(|| stopped_since.unwrap_or(now));
            let too_long = |since: Instant| now.duration_since(since) >= STOPPED_HOLDER_TIMEOUT;
            if now >= deadline || stopped_since.is_some_and(too_long) {
                return Err(holder.map_or_else(nobody_known, |holder| holder.failure()));
            }
        }
    }
}

fn nobody_known() -> Failure {
    Failure::environment("another command holds the lock for too long").hint("retry")
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_turn_is_one_processs_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let first = FileLock::wait(&path).unwrap();
        assert!(FileLock::wait_for(&path, Duration::from_millis(20)).is_err());
        let second = thread::scope(|scope| {
            let second = scope.spawn(|| FileLock::wait(&path));
            drop(first);
            second.join().unwrap()
        });
        assert!(second.is_ok());
    }

    #[test]
    fn who_keeps_others_waiting_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let _first = FileLock::wait_for_long(&path, LOCK_TIMEOUT).unwrap();
        let failure = FileLock::wait_for(&path, Duration::from_millis(20)).unwrap_err();
        let ours = std::process::id();
        let message = failure.to_string();
        assert!(message.starts_with(&format!("process {ours} holds the lock since 20")));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn nobody_waits_long_for_one_that_was_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let _first = FileLock::wait(&path).unwrap();
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
        let note = LockHolder::of(child.id()).unwrap().text();
        std::fs::write(&path, note).unwrap();
        let failure = FileLock::wait_for(&path, Duration::from_secs(60)).unwrap_err();
        let id = child.id();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(
            failure.to_string().contains(&format!("process {id} ")),
            "{failure}"
        );
        assert!(failure.to_string().contains("and is stopped"), "{failure}");
    }

    #[test]
    fn a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        std::os::unix::fs::symlink("elsewhere", &path).unwrap();
        assert!(FileLock::wait(&path).is_err());
        assert!(!folder.path().join("elsewhere").exists());
    }
}
