//! A turn: a lock for which processes queue up, so that of many who come at once none starves.

mod holder;

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use self::holder::Holder;
use crate::failure::Failure;

/// How long a process waits for its turn.
pub const PATIENCE: Duration = Duration::from_secs(15);

/// How long it waits for one that was stopped, and will hardly go on by itself.
const PATIENCE_WITH_A_STOPPED_ONE: Duration = Duration::from_secs(5);

/// How often it looks who keeps it waiting.
const GLANCE: Duration = Duration::from_millis(500);

/// Nobody else has the same turn while this is held. The end of the process ends it, too.
#[derive(Debug)]
pub struct FileLock {
    file: File,
}

impl FileLock {
    pub fn wait(path: &Path) -> Result<Self, Failure> {
        Self::wait_for(path, PATIENCE)
    }

    /// The same for a turn that may last: whoever waits for it is told who has it.
    pub fn wait_for_long(path: &Path, patience: Duration) -> Result<Self, Failure> {
        let turn = Self::wait_for(path, patience)?;
        // Without the note, those who wait know less, and nothing else.
        let _ = Holder::note(&turn.file);
        Ok(turn)
    }

    pub fn wait_for(path: &Path, patience: Duration) -> Result<Self, Failure> {
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
            Err(TryLockError::WouldBlock) => Self::queue(path, file, patience),
            Err(TryLockError::Error(cause)) => Err(Failure::file("lock", path)(cause)),
        }
    }

    /// The lock knows no time limit, so a thread waits for it. When our patience ends first, the
    /// thread finds nobody to hand the lock to and drops it.
    fn queue(path: &Path, file: File, patience: Duration) -> Result<Self, Failure> {
        let (sender, receiver) = mpsc::sync_channel(0);
        let wait = move || {
            let locked = file.lock().map(|()| file);
            let _ = sender.send(locked);
        };
        thread::Builder::new()
            .spawn(wait)
            .map_err(Failure::file("wait for", path))?;
        let deadline = Instant::now() + patience;
        let mut stopped_since = None;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match receiver.recv_timeout(left.min(GLANCE)) {
                Ok(Ok(file)) => return Ok(Self { file }),
                Ok(Err(cause)) => return Err(Failure::file("lock", path)(cause)),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            let holder = Holder::read(path);
            let is_stopped = holder.as_ref().is_some_and(Holder::is_stopped);
            let now = Instant::now();
            stopped_since = is_stopped.then(|| stopped_since.unwrap_or(now));
            let too_long =
                |since: Instant| now.duration_since(since) >= PATIENCE_WITH_A_STOPPED_ONE;
            if now >= deadline || stopped_since.is_some_and(too_long) {
                return Err(holder.map_or_else(nobody_known, |holder| holder.told()));
            }
        }
    }
}

fn nobody_known() -> Failure {
    Failure::outside("another command takes too long").hint("do it again")
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
        let _first = FileLock::wait_for_long(&path, PATIENCE).unwrap();
        let failure = FileLock::wait_for(&path, Duration::from_millis(20)).unwrap_err();
        let ours = std::process::id();
        let told = failure.to_string();
        assert!(told.starts_with(&format!("process {ours} has been at it since 20")));
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
        let note = Holder::of(child.id()).unwrap().text();
        std::fs::write(&path, note).unwrap();
        let failure = FileLock::wait_for(&path, Duration::from_secs(60)).unwrap_err();
        let id = child.id();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(
            failure.to_string().contains(&format!("process {id} ")),
            "{failure}"
        );
        assert!(
            failure.to_string().contains("and it was stopped"),
            "{failure}"
        );
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
