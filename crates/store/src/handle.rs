//! A handle on a store: of a single command, shared by the threads of a process, or shared by machines. Or on the copy of
//! one run.

use std::time::Duration;

use engine::{Decision, Definition, Hash, Run, RunId, Time};

use crate::{
    Access, Backend, Backup, Claim, Collect, Collected, Commit, Error, Files, Group, Import, Key,
    Lease, Memory, NewRun, RunSummary, SharedBackend, Sqlite, StoredEntry, StoredRun, Transacted,
    Verification,
};

/// All give the same guarantees, so writers need not know which one they have.
pub enum Handle {
    Alone(Sqlite),
    Together(Box<Group>),
    Fleet(Box<dyn SharedBackend>),
    /// What is written to it lasts as long as the handle.
    Copy(Memory),
}

impl Handle {
    /// Another handle on the same store, for another thread.
    pub fn for_thread(&self) -> Result<Self, Error> {
        match self {
            Self::Alone(sqlite) => Sqlite::open(sqlite.place(), Access::Write).map(Self::Alone),
            Self::Together(group) => Ok(Self::Together(group.clone())),
            Self::Fleet(fleet) => fleet.for_thread().map(Self::Fleet),
            Self::Copy(memory) => Ok(Self::Copy(memory.clone())),
        }
    }

    /// How long a write waits for the lock. Threads that share transactions have one common
    /// timeout, and so have machines.
    pub fn set_writer_timeout(&mut self, writer_timeout: Duration) {
        match self {
            Self::Alone(sqlite) => sqlite.set_writer_timeout(writer_timeout),
            Self::Together(_) | Self::Fleet(_) | Self::Copy(_) => {}
        }
    }

    /// The store that machines share, where this is one.
    pub fn fleet(&self) -> Option<&dyn SharedBackend> {
        match self {
            Self::Fleet(fleet) => Some(fleet.as_ref()),
            Self::Alone(_) | Self::Together(_) | Self::Copy(_) => None,
        }
    }

    /// Skips cleanup, because the process ends now.
    pub fn leave(self) {
        match self {
            Self::Alone(sqlite) => sqlite.leave(),
            Self::Together(group) => drop(group),
            Self::Fleet(fleet) => drop(fleet),
            Self::Copy(memory) => drop(memory),
        }
    }

    /// Does something that reads several times, in one snapshot: in a short process each one costs calls.
    pub fn in_one_snapshot<T>(&self, read: impl FnOnce() -> T) -> T {
        match self {
            Self::Alone(sqlite) => sqlite.in_one_snapshot(read),
            Self::Together(_) | Self::Fleet(_) | Self::Copy(_) => read(),
        }
    }

    fn backend(&self) -> &dyn Backend {
        match self {
            Self::Alone(sqlite) => sqlite,
            Self::Together(group) => group.as_ref(),
            Self::Fleet(fleet) => fleet.as_ref(),
            Self::Copy(memory) => memory,
        }
    }

    fn backend_mut(&mut self) -> &mut dyn Backend {
        match self {
            Self::Alone(sqlite) => sqlite,
            Self::Together(group) => group.as_mut(),
            Self::Fleet(fleet) => fleet.as_mut(),
            Self::Copy(memory) => memory,
        }
    }
}

impl Backend for Handle {
    fn runs(&self, project: Option<&str>) -> Result<Vec<RunSummary>, Error> {
        self.backend().runs(project)
    }

    fn active_runs(&self) -> Result<Vec<RunSummary>, Error> {
        self.backend().active_runs()
    }

    fn summary(&self, run: &RunId) -> Result<Option<RunSummary>, Error> {
        self.backend().summary(run)
    }

    fn recorded(&self) -> Result<Vec<RunId>, Error> {
        self.backend().recorded()
    }

    fn change_number(&self) -> Result<u64, Error> {
        self.backend().change_number()
    }

    fn run(&self, run: &RunId) -> Result<Option<StoredRun>, Error> {
        self.backend().run(run)
    }

    fn run_and_compiled(
        &self,
        run: &RunId,
    ) -> Result<Option<(StoredRun, Option<Definition>)>, Error> {
        self.backend().run_and_compiled(run)
    }

    fn journal(&self, run: &RunId, from: u64, limit: u64) -> Result<Vec<StoredEntry>, Error> {
        self.backend().journal(run, from, limit)
    }

    fn keyed(&self, run: &RunId, key: &Key) -> Result<Vec<StoredEntry>, Error> {
        self.backend().keyed(run, key)
    }

    fn definition(&self, hash: Hash) -> Result<Option<Files>, Error> {
        self.backend().definition(hash)
    }

    fn compiled(&self, hash: Hash) -> Result<Option<Definition>, Error> {
        self.backend().compiled(hash)
    }

    fn content(&self, hash: Hash) -> Result<Option<Vec<u8>>, Error> {
        self.backend().content(hash)
    }

    fn lease(&self, run: &RunId) -> Result<Option<Lease>, Error> {
        self.backend().lease(run)
    }

    fn verify(&self, run: &RunId) -> Result<Verification, Error> {
        self.backend().verify(run)
    }

    fn damage(&self) -> Result<Option<String>, Error> {
        self.backend().damage()
    }

    fn mark_damaged(&self, what: &str) -> Result<(), Error> {
        self.backend().mark_damaged(what)
    }

    fn check_pages(&self) -> Result<Vec<String>, Error> {
        self.backend().check_pages()
    }

    fn begin(&mut self, new: &NewRun<'_>, decision: &Decision) -> Result<StoredRun, Error> {
        self.backend_mut().begin(new, decision)
    }

    fn import(&mut self, backup: &Backup, import: &Import<'_>) -> Result<StoredRun, Error> {
        self.backend_mut().import(backup, import)
    }

    fn transact(
        &mut self,
        commit: &Commit<'_>,
        decide: &mut dyn FnMut(&Run) -> Decision,
    ) -> Result<Transacted, Error> {
        self.backend_mut().transact(commit, decide)
    }

    fn transact_on(
        &mut self,
        known: &StoredRun,
        commit: &Commit<'_>,
        decide: &mut dyn FnMut(&Run) -> Decision,
    ) -> Result<Transacted, Error> {
        self.backend_mut().transact_on(known, commit, decide)
    }

    fn claim(&mut self, run: &RunId, claim: &Claim<'_>) -> Result<Lease, Error> {
        self.backend_mut().claim(run, claim)
    }

    fn put_content(&mut self, bytes: &[u8], at: Time) -> Result<Hash, Error> {
        self.backend_mut().put_content(bytes, at)
    }

    fn put_compiled(&mut self, source: Hash, compiled: &Definition) -> Result<(), Error> {
        self.backend_mut().put_compiled(source, compiled)
    }

    fn gc(&mut self, collect: &Collect<'_>) -> Result<Collected, Error> {
        self.backend_mut().gc(collect)
    }
}
