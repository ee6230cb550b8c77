//! The embedded store: one SQLite database in a private folder, shared by many short processes.

mod batch;
mod columns;
mod copy_run;
mod damage;
mod folder;
mod gc;
mod group;
mod heads;
mod open;
mod prepared;
mod read;
mod readers;
mod salvage;
mod schema;
mod sql;
mod table;
#[cfg(test)]
mod tests;
mod verify;
mod write;
mod writer_lock;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use engine::{Decision, Definition, Hash, Run, RunId, Time};
use rusqlite::Connection;

pub use self::group::Group;
pub use self::salvage::{Loss, Salvaged, salvage};
use crate::{
    Backend, Claim, Collect, Collected, Commit, Error, Files, Key, Lease, NewRun, RunSummary,
    StoredEntry, StoredRun, Transacted, Verification, content_hash,
};
use folder::Folder;
use read::Reader;
use write::Writing;
use writer_lock::WriterLock;

/// How long a writer waits for its turn, unless told otherwise.
const WRITER_TIMEOUT: Duration = Duration::from_secs(20);

/// How long SQLite's own locks are waited for. The queue keeps our writers apart; this is for others.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// A cold process walks the whole log before it can read, so the log stays short: from this many
/// pages (256 KiB) on, whoever closes the store copies them back into the database.
const LONG_LOG: u32 = 64;

/// A process that stays does so at this length (2 MiB), since it does not close for a long time.
const VERY_LONG_LOG: u32 = 8 * LONG_LOG;

/// What the store is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Waits for nobody and changes nothing.
    Read,
    /// Opening alone changes nothing either, where the store is there and up to date.
    Write,
}

/// A store in a folder.
pub struct Sqlite {
    connection: Connection,
    folder: Folder,
    access: Access,
    writer_timeout: Duration,
    /// Which file we have open: somebody may put another one in its place.
    identity: (u64, u64),
    /// The length of the log after our last commit, in pages.
    log: Arc<AtomicU32>,
}

impl Sqlite {
    /// How long a write waits for its turn before it gives up with `Error::Busy`.
    pub fn set_writer_timeout(&mut self, writer_timeout: Duration) {
        self.writer_timeout = writer_timeout;
    }

    /// The folder of the store.
    pub fn place(&self) -> &Path {
        self.folder.path()
    }

    /// Every run that was ever recorded and not collected, whether the database still has it or not.
    pub fn recorded(&self) -> Result<Vec<RunId>, Error> {
        open::recorded(&self.folder)
    }

    /// Has SQLite look through every page of the database, and returns what it complains about.
    pub fn check_pages(&self) -> Result<Vec<String>, Error> {
        let fault = |error| self.folder.fault("look through the database", error);
        let mut statement = self
            .connection
            .prepare("PRAGMA integrity_check(20)")
            .map_err(fault)?;
        let rows = statement.query_map([], |row| row.get(0));
        let mut said: Vec<String> = rows.and_then(Iterator::collect).map_err(fault)?;
        said.retain(|line| line != "ok");
        Ok(said)
    }

    /// Closes the store. A log that has grown long is shortened now, when the reply is out.
    pub fn close(self) {}

    /// The same for a process that ends now. The system closes what is open; SQLite would do no more
    /// than that, since its log stays as it is, but would take its memory apart first.
    pub fn leave(self) {
        self.shorten_log(LONG_LOG);
        std::mem::forget(self);
    }

    fn reader(&self) -> Reader<'_> {
        Reader {
            connection: &self.connection,
            folder: &self.folder,
        }
    }

    fn writable(&self) -> Result<(), Error> {
        match self.access {
            Access::Write => Ok(()),
            Access::Read => Err(Error::OpenedForReading),
        }
    }

    fn unharmed(&self) -> Result<(), Error> {
        match self.folder.damage()? {
            None => Ok(()),
            Some(what) => Err(Error::Damaged {
                folder: self.folder.path().to_owned(),
                what,
            }),
        }
    }

    /// A file that was moved away would take our write with it, acknowledged and lost.
    fn in_place(&self) -> Result<(), Error> {
        if open::identity(&self.folder)? == self.identity {
            Ok(())
        } else {
            Err(Error::Vanished {
                path: self.folder.database(),
            })
        }
    }

    /// Copies the log back into the database and empties it, as far as that disturbs nobody.
    ///
    /// Copying alone is not enough: the next process to open the store cold does not know what was
    /// copied, walks the whole log again and lets it grow on.
    fn shorten_log(&self, from: u32) {
        self.checkpoint(from, "PRAGMA wal_checkpoint(TRUNCATE)");
    }

    /// The same for a process that stays. It knows what was copied, and its next write begins the log
    /// anew in the room that the file has already, which the disk makes durable in less time.
    fn reuse_log(&self, from: u32) {
        self.checkpoint(from, "PRAGMA wal_checkpoint(PASSIVE)");
    }

    fn checkpoint(&self, from: u32, statement: &str) {
        if self.log.load(Ordering::Relaxed) < from {
            return;
        }
        let Some(_lock) = WriterLock::try_now(&self.folder) else {
            return;
        };
        self.log.store(0, Ordering::Relaxed);
        // It is a chore, not a promise: what it cannot do without waiting, the next one will.
        let _ = self.connection.busy_timeout(Duration::ZERO);
        let _ = self.connection.query_row(statement, [], |_| Ok(()));
        let _ = self.connection.busy_timeout(BUSY_TIMEOUT);
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        self.shorten_log(LONG_LOG);
    }
}

impl Backend for Sqlite {
    fn runs(&self, project: Option<&str>) -> Result<Vec<RunSummary>, Error> {
        self.reader().runs(project)
    }

    fn run(&self, run: &RunId) -> Result<Option<StoredRun>, Error> {
        Ok(self.reader().run(run)?.map(|found| found.stored))
    }

    fn journal(&self, run: &RunId, from: u64, limit: u64) -> Result<Vec<StoredEntry>, Error> {
        let number = self.reader().number(run)?;
        self.reader().journal(run, number, from, limit)
    }

    fn keyed(&self, run: &RunId, key: &Key) -> Result<Vec<StoredEntry>, Error> {
        let number = self.reader().number(run)?;
        self.reader().keyed(run, number, key)
    }

    fn definition(&self, hash: Hash) -> Result<Option<Files>, Error> {
        self.reader().files(hash)
    }

    fn compiled(&self, hash: Hash) -> Result<Option<Definition>, Error> {
        self.reader().compiled(hash)
    }

    fn content(&self, hash: Hash) -> Result<Option<Vec<u8>>, Error> {
        self.reader().content(hash)
    }

    fn lease(&self, run: &RunId) -> Result<Option<Lease>, Error> {
        let number = self.reader().number(run)?;
        Ok(self.reader().lease(number)?.lease())
    }

    fn verify(&self, run: &RunId) -> Result<Verification, Error> {
        verify::verify(self, run)
    }

    fn begin(&mut self, new: &NewRun<'_>, decision: &Decision) -> Result<StoredRun, Error> {
        write::begin(self, new, decision)
    }

    fn transact(
        &mut self,
        commit: &Commit<'_>,
        decide: &mut dyn FnMut(&Run) -> Decision,
    ) -> Result<Transacted, Error> {
        let transacted = write::transact(self, commit, decide)?;
        self.shorten_log(VERY_LONG_LOG);
        Ok(transacted)
    }

    fn claim(&mut self, run: &RunId, claim: &Claim<'_>) -> Result<Lease, Error> {
        write::claim(self, run, claim)
    }

    fn put_content(&mut self, bytes: &[u8], at: Time) -> Result<Hash, Error> {
        let hash = content_hash(bytes);
        let writing = Writing::begin(self)?;
        writing.table().add_content(hash, bytes, at)?;
        writing.commit()?;
        Ok(hash)
    }

    fn put_compiled(&mut self, source: Hash, compiled: &Definition) -> Result<(), Error> {
        let writing = Writing::begin(self)?;
        writing.table().set_compiled(source, compiled)?;
        writing.commit().map(drop)
    }

    fn gc(&mut self, collect: &Collect) -> Result<Collected, Error> {
        gc::gc(self, collect)
    }
}
