//! Readers: a few connections that only read, for whichever thread needs one.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::{Access, Sqlite};
use crate::Error;

/// How many are kept for the next one. A connection holds memory, and a read is short.
const KEPT: usize = 4;

pub(super) struct Readers {
    folder: PathBuf,
    idle: Mutex<Vec<Sqlite>>,
}

impl Readers {
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            idle: Mutex::default(),
        }
    }

    /// Reads what is durable now, and waits for nobody.
    pub fn read<T>(&self, read: impl FnOnce(&Sqlite) -> Result<T, Error>) -> Result<T, Error> {
        let idle = self.idle().pop();
        let reader = match idle {
            Some(reader) => reader,
            None => Sqlite::open(&self.folder, Access::Read)?,
        };
        let result = read(&reader);
        let mut idle = self.idle();
        // One that met a fault is not used again: the next one opens the store anew and looks.
        if result.is_ok() && idle.len() < KEPT {
            idle.push(reader);
        }
        result
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Sqlite>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
