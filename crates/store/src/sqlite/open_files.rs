//! The files that SQLite has open. Another program may remove, replace or truncate them meanwhile.
//!
//! The index of the log is memory-mapped. To touch a part of it that was cut off kills the process,
//! and a killed hook allows the step. An index that lost only its end hides what the log holds. In
//! both cases the index is emptied at its full size, and SQLite makes it again from the log.

use std::cell::Cell;
use std::fs::Metadata;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::time::{Duration, Instant};

use super::folder::{DATABASE, Folder, LOG, io_error};
use crate::Error;

const INDEX: &str = "store.db-shm";

/// SQLite makes the index in pieces of this size.
const PIECE: u64 = 32 * 1024;

/// The two copies of the header. Without it SQLite trusts nothing of the rest.
const HEADER: usize = 96;

/// A process that was at work since its last look could not have lost the index in the meantime.
pub(super) const PAUSE: Duration = Duration::from_millis(50);

type Identity = (u64, u64);

/// What was opened, to be compared later.
pub(super) struct OpenFiles {
    database: Identity,
    log: Option<Identity>,
    index: Option<Identity>,
    /// The largest size of the index that was seen.
    size: Cell<u64>,
    looked_at: Cell<Instant>,
}

impl OpenFiles {
    /// Looks at them before they are opened, and empties a torn index.
    pub(super) fn look(folder: &Folder, database: &Metadata) -> Result<Self, Error> {
        let [log, index] = [LOG, INDEX].map(|name| folder.regular_file(name));
        let (log, index) = (log?, index?);
        let size = index.as_ref().map(Metadata::len);
        if let Some(size) = size.filter(|size| *size == 0 || !size.is_multiple_of(PIECE)) {
            // A process that is making it just now finds nothing in it either.
            empty(folder, size.max(1))?;
        }
        Ok(Self {
            database: identity(database),
            log: log.as_ref().map(identity),
            index: index.as_ref().map(identity),
            // The first to open it may make it smaller.
            size: Cell::new(PIECE),
            looked_at: Cell::new(Instant::now()),
        })
    }

    /// Are they still the files at their paths? What is written to another one would be lost.
    pub(super) fn check(&self, folder: &Folder) -> Result<(), Error> {
        let opened = [(DATABASE, Some(self.database)), (LOG, self.log)];
        for (name, opened) in opened {
            let now = folder.regular_file(name)?;
            if opened.is_some() && now.as_ref().map(identity) != opened {
                return Err(vanished(folder, name));
            }
        }
        self.check_index(folder)
    }

    /// Before a read after a pause: a check may have run for minutes.
    pub(super) fn check_after_pause(&self, folder: &Folder) {
        if self.looked_at.get().elapsed() > PAUSE {
            // A read of a replaced index shows an earlier state; a write finds it.
            let _ = self.check_index(folder);
        }
    }

    fn check_index(&self, folder: &Folder) -> Result<(), Error> {
        self.looked_at.set(Instant::now());
        let now = folder.regular_file(INDEX)?;
        if self.index.is_some() && now.as_ref().map(identity) != self.index {
            return Err(vanished(folder, INDEX));
        }
        let size = now.as_ref().map_or(0, Metadata::len);
        // Nobody makes it smaller while somebody has it open.
        if now.is_some() && (size < self.size.get() || !size.is_multiple_of(PIECE)) {
            empty(folder, size.max(self.size.get()))?;
        }
        self.size.set(self.size.get().max(size));
        Ok(())
    }
}

/// Empties the index at its full size, so that the next look at it makes it again.
fn empty(folder: &Folder, size: u64) -> Result<(), Error> {
    let path = folder.path().join(INDEX);
    let file = folder.open_private(INDEX)?;
    let emptied = file
        .write_all_at(&[0; HEADER], 0)
        .and_then(|()| file.set_len(size.next_multiple_of(PIECE)));
    emptied.map_err(|error| io_error("empty", &path, error))
}

fn identity(metadata: &Metadata) -> Identity {
    (metadata.dev(), metadata.ino())
}

fn vanished(folder: &Folder, name: &str) -> Error {
    Error::Vanished {
        path: folder.path().join(name),
    }
}
