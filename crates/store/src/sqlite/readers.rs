//! Readers: a few read-only connections, for any thread.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::{Access, Sqlite};
use crate::Error;

/// How many are kept. A connection needs memory, and a read is short.
const KEPT: usize = 4;

pub(super) struct Readers {
    folder: PathBuf,
    idle: Mutex<Vec<Sqlite>>,
}

impl Readers {
    pub(super) fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            idle: Mutex::default(),
        }
    }

    /// Reads what is durable now, and never waits.
    pub(super) fn read<T>(
        &self,
        read: impl FnOnce(&Sqlite) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let idle = self.idle().pop();
        let reader = match idle {
            Some(reader) => reader,
            None => Sqlite::open(&self.folder, Access::Read)?,
        };
        let result = read(&reader);
        let mut idle = self.idle();
        // A connection with a fault is not reused: the next read opens the store again and checks
        // it.
        if result.is_ok() && idle.len() < KEPT {
            idle.push(reader);
        }
        result
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Sqlite>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
