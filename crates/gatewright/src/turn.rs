//! A turn: a lock for which processes queue up, so that of many who come at once none starves.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::fs::OFlags;

use crate::failure::Failure;

/// How long a process waits for its turn.
pub const PATIENCE: Duration = Duration::from_secs(15);

/// Nobody else has the same turn while this is held. The end of the process ends it, too.
#[derive(Debug)]
pub struct Turn {
    _file: File,
}

impl Turn {
    pub fn wait(path: &Path) -> Result<Self, Failure> {
        Self::wait_for(path, PATIENCE)
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
            Ok(()) => Ok(Self { _file: file }),
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
        match receiver.recv_timeout(patience) {
            Ok(Ok(file)) => Ok(Self { _file: file }),
            Ok(Err(cause)) => Err(Failure::file("lock", path)(cause)),
            Err(_) => Err(Failure::outside("another command takes too long").hint("do it again")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_one_processs_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let first = Turn::wait(&path).unwrap();
        assert!(Turn::wait_for(&path, Duration::from_millis(20)).is_err());
        let second = thread::scope(|scope| {
            let second = scope.spawn(|| Turn::wait(&path));
            drop(first);
            second.join().unwrap()
        });
        assert!(second.is_ok());
    }

    #[test]
    fn a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        std::os::unix::fs::symlink("elsewhere", &path).unwrap();
        assert!(Turn::wait(&path).is_err());
        assert!(!folder.path().join("elsewhere").exists());
    }
}
