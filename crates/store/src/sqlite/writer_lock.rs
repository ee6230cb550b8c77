//! The lock in front of the write transaction: one blocking lock, so that no writer starves.

use std::fs::{File, TryLockError};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::folder::{Folder, io_error};
use crate::Error;

const NAME: &str = "queue.lock";

/// The right to write. Dropping it lets the next writer in.
pub(super) struct WriterLock {
    _file: File,
}

impl WriterLock {
    /// Waits for the lock, at most for `writer_timeout`.
    pub(super) fn wait(folder: &Folder, writer_timeout: Duration) -> Result<Self, Error> {
        let file = folder.open_private(NAME)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Self::queue(folder, file, writer_timeout),
            Err(TryLockError::Error(error)) => {
                Err(io_error("lock", &folder.path().join(NAME), error))
            }
        }
    }

    /// Takes the lock only if it is free.
    pub(super) fn try_now(folder: &Folder) -> Option<Self> {
        let file = folder.open_private(NAME).ok()?;
        file.try_lock().ok()?;
        Some(Self { _file: file })
    }

    /// The lock call has no time limit, so a thread waits for it. If the timeout ends first, the
    /// thread has no receiver and drops the lock.
    fn queue(folder: &Folder, file: File, writer_timeout: Duration) -> Result<Self, Error> {
        let (sender, receiver) = mpsc::sync_channel(0);
        let wait = move || {
            let locked = file.lock().map(|()| file);
            let _ = sender.send(locked);
        };
        let path = folder.path().join(NAME);
        thread::Builder::new()
            .spawn(wait)
            .map_err(|error| io_error("wait for", &path, error))?;
        match receiver.recv_timeout(writer_timeout) {
            Ok(Ok(file)) => Ok(Self { _file: file }),
            Ok(Err(error)) => Err(io_error("lock", &path, error)),
            Err(_) => Err(Error::Busy {
                folder: folder.path().to_owned(),
            }),
        }
    }
}
