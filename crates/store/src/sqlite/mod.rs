//! The embedded store: one SQLite database in a private folder, shared by many short processes.

mod batch;
mod columns;
mod copy_run;
mod damage;
mod folder;
mod gc;
mod group;
mod heads;
mod import;
mod open;
mod open_files;
mod prepared;
mod read;
mod readers;
mod salvage;
mod schema;
mod sql;
mod statements;
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

pub use self::copy_run::Compile;
pub use self::group::Group;
pub use self::salvage::{Loss, Salvaged, salvage};
pub use self::statements::Expected;
use crate::columns::Columns;
use crate::error::Corruption;
use crate::lease::machine_clock;
use crate::{
    Backend, Backup, Claim, Collect, Collected, Commit, Error, Files, Import, Key, Lease, NewRun,
    RunSummary, StoredEntry, StoredRun, Transacted, Verification, content_hash,
};
use folder::Folder;
use open_files::OpenFiles;
use read::Reader;
use statements::Statements;
use write::WriteTransaction;
use writer_lock::WriterLock;

/// The default timeout of a writer.
const WRITER_TIMEOUT: Duration = Duration::from_secs(20);

/// The timeout of SQLite's own locks. The queue separates our writers; this is for other programs.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// A new process reads the whole log before it can read, one call for each page, so the log stays short:
/// from this many pages (32 KiB) on, closing the store copies them back into the database. An advance
/// writes two or three, and most hooks only read: shorter logs would cost more syncs than they save.
const LONG_LOG: u32 = 8;

/// A long process does that at this length (2 MiB), because it rarely closes the store.
const VERY_LONG_LOG: u32 = 64 * LONG_LOG;

/// A run, and its compiled definition in the format of this build.
pub type FoundCompiled = (StoredRun, Option<Definition>);

/// What the store is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Never waits and changes nothing.
    Read,
    /// Opening an existing, current store changes nothing either.
    Write,
}

/// A store in a folder.
pub struct Sqlite {
    connection: Connection,
    folder: Folder,
    access: Access,
    writer_timeout: Duration,
    /// The files that we have open: somebody may replace them.
    files: Box<OpenFiles>,
    /// The length of the log after our last commit, in pages.
    log: Arc<AtomicU32>,
    statements: Statements,
}

impl Sqlite {
    /// How long a write waits before it fails with `Error::Busy`.
    pub fn set_writer_timeout(&mut self, writer_timeout: Duration) {
        self.writer_timeout = writer_timeout;
    }

    /// The folder of the store.
    pub fn place(&self) -> &Path {
        self.folder.path()
    }

    /// Does something that reads several times, in one snapshot.
    pub(crate) fn in_one_snapshot<T>(&self, read: impl FnOnce() -> T) -> T {
        // Where there is none, each read has one of its own.
        let _snapshot = self.connection.unchecked_transaction();
        read()
    }

    /// Closes the store. A long log is shortened now, after the reply.
    pub fn close(self) {}

    /// The same for a process that ends now. The system closes the files; SQLite would only free
    /// its memory first.
    pub fn leave(self) {
        self.shorten_log(LONG_LOG);
        std::mem::forget(self);
    }

    fn reader(&self) -> Reader<'_> {
        self.files.check_after_pause(&self.folder);
        Reader {
            connection: &self.connection,
            folder: &self.folder,
            statements: self.statements,
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

    /// Writing to a file that was moved away would lose an acknowledged write.
    fn in_place(&self) -> Result<(), Error> {
        self.files.check(&self.folder)
    }

    /// Copies the log back into the database and empties it, as far as that blocks nobody.
    ///
    /// Copying alone is not enough: the next new process does not know what was copied, reads the
    /// whole log again and lets it grow.
    fn shorten_log(&self, from: u32) {
        self.checkpoint(from, "PRAGMA wal_checkpoint(TRUNCATE)");
    }

    /// The same for a long process. It knows what was copied, and its next write reuses the file's
    /// space, which is faster to make durable.
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
        // This is optional: what it cannot do without waiting, the next process does.
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

    fn active_runs(&self) -> Result<Vec<RunSummary>, Error> {
        self.reader().active_runs()
    }

    fn summary(&self, run: &RunId) -> Result<Option<RunSummary>, Error> {
        let columns = self.reader().columns(run)?;
        let summary = columns.map(Columns::summary).transpose();
        summary.map_err(|broken| self.folder.damaged(broken))
    }

    fn recorded(&self) -> Result<Vec<RunId>, Error> {
        open::recorded(&self.folder)
    }

    fn change_number(&self) -> Result<u64, Error> {
        self.in_place()?;
        let fault = |error| self.folder.fault("read", error);
        let number = self
            .connection
            .query_row("PRAGMA data_version", [], |row| row.get::<_, i64>(0));
        Ok(number.map_err(fault)?.cast_unsigned())
    }

    fn run(&self, run: &RunId) -> Result<Option<StoredRun>, Error> {
        Ok(self.reader().run(run)?.map(|found| found.stored))
    }

    fn run_and_compiled(
        &self,
        run: &RunId,
    ) -> Result<Option<(StoredRun, Option<Definition>)>, Error> {
        self.reader().run_and_compiled(run)
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
        Ok(self.reader().lease(number)?.lease(machine_clock()))
    }

    fn verify(&self, run: &RunId) -> Result<Verification, Error> {
        verify::verify(self, run)
    }

    fn damage(&self) -> Result<Option<String>, Error> {
        self.folder.damage()
    }

    fn mark_damaged(&self, what: &str) -> Result<(), Error> {
        let _ = self.folder.damaged(Corruption(what.to_owned()));
        Ok(())
    }

    /// Lets SQLite check every page of the database, and returns its complaints.
    fn check_pages(&self) -> Result<Vec<String>, Error> {
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

    fn begin(&mut self, new: &NewRun<'_>, decision: &Decision) -> Result<StoredRun, Error> {
        write::begin(self, new, decision)
    }

    fn import(&mut self, backup: &Backup, import: &Import<'_>) -> Result<StoredRun, Error> {
        import::import(self, backup, import)
    }

    fn transact(
        &mut self,
        commit: &Commit<'_>,
        decide: &mut dyn FnMut(&Run) -> Decision,
    ) -> Result<Transacted, Error> {
        let transacted = write::transact(self, commit, None, decide)?;
        self.shorten_log(VERY_LONG_LOG);
        Ok(transacted)
    }

    fn transact_on(
        &mut self,
        known: &StoredRun,
        commit: &Commit<'_>,
        decide: &mut dyn FnMut(&Run) -> Decision,
    ) -> Result<Transacted, Error> {
        let transacted = write::transact(self, commit, Some(known), decide)?;
        self.shorten_log(VERY_LONG_LOG);
        Ok(transacted)
    }

    fn claim(&mut self, run: &RunId, claim: &Claim<'_>) -> Result<Lease, Error> {
        write::claim(self, run, claim)
    }

    fn put_content(&mut self, bytes: &[u8], at: Time) -> Result<Hash, Error> {
        let hash = content_hash(bytes);
        let writing = WriteTransaction::begin(self)?;
        writing.table().add_content(hash, bytes, at)?;
        writing.commit()?;
        Ok(hash)
    }

    fn put_compiled(&mut self, source: Hash, compiled: &Definition) -> Result<(), Error> {
        let writing = WriteTransaction::begin(self)?;
        writing.table().set_compiled(source, compiled)?;
        writing.commit().map(drop)
    }

    fn gc(&mut self, collect: &Collect<'_>) -> Result<Collected, Error> {
        gc::gc(self, collect)
    }
}
