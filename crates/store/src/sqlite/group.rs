//! A group: many threads of one process write to one store, and share transactions and syncs.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::{Decision, Definition, Hash, Run, RunId, Time};

use super::batch::{Answer, Job, JobResult};
use super::prepared::Prepared;
use super::read::FoundRun;
use super::readers::Readers;
use super::write::{CommitConditions, WriteTransaction};
use super::{Access, Sqlite};
use crate::chain::Tip;
use crate::error::Corruption;
use crate::group_commit::GroupCommit;
use crate::journal::check_contents;
use crate::{
    Backend, Backup, Claim, Collect, Collected, Commit, Content, Error, Fence, Files, Import, Key,
    Lease, NewRun, RunSummary, StoredEntry, StoredRun, Transacted, Verification,
};

/// The most writes in a transaction: a larger one would block other processes.
const MOST: usize = 256;

/// The number of cached prepared statements. A long process reuses all of them.
const PREPARED: usize = 48;

/// A handle on a store that the threads of one process share; each thread has its own clone.
///
/// It gives every guarantee of a `Backend`, and these:
///
/// - Decisions and leases that arrive during a transaction are written together in the next one,
///   with one sync. Each is answered when it is durable.
/// - A moved run, a stale fence, a repeated key or a held lease is the answer to that one write,
///   and does not undo the others. After a crash a transaction exists completely or not at all.
/// - `decide` is called in the calling thread, on the run as it was read, without a lock. It is
///   called at most once, and its decision is stored only if the run is still the same. So it may
///   have been called although the answer is `Moved`, or an error.
/// - Reads see what is durable, and never wait.
pub struct Group {
    shared: Arc<Shared>,
    /// The last version of the run that this handle saw, so that a thread that drives one run need
    /// not read it again.
    last: Mutex<Option<FoundRun>>,
}

struct Shared {
    group_commit: GroupCommit<Job, Result<Answer, Error>>,
    writer: Mutex<Sqlite>,
    readers: Readers,
}

impl Clone for Group {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            last: Mutex::default(),
        }
    }
}

impl Group {
    /// Opens the store in this folder for writing, and creates it if it is missing.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        Sqlite::open(folder, Access::Write).map(Self::new)
    }

    /// Shares a store that was opened for writing.
    pub fn new(sqlite: Sqlite) -> Self {
        sqlite
            .connection
            .set_prepared_statement_cache_capacity(PREPARED);
        let shared = Shared {
            group_commit: GroupCommit::new(MOST),
            readers: Readers::new(sqlite.folder.path()),
            writer: Mutex::new(sqlite),
        };
        Self {
            shared: Arc::new(shared),
            last: Mutex::default(),
        }
    }

    /// The run, if it is unchanged: from memory, or read.
    fn found(&self, run: &RunId, seen: u64) -> Result<FoundRun, Error> {
        let last = self.last().take();
        let is_it = |found: &FoundRun| found.stored.run.id == *run && found.stored.version == seen;
        match last.filter(is_it) {
            Some(found) => Ok(found),
            None => self.read_run(run)?.ok_or_else(|| unknown(run)),
        }
    }

    fn last(&self) -> MutexGuard<'_, Option<FoundRun>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_run(&self, run: &RunId) -> Result<Option<FoundRun>, Error> {
        self.shared.read(|sqlite| sqlite.reader().run(run))
    }
}

#[cfg(test)]
impl Group {
    pub(super) fn writer(&self) -> MutexGuard<'_, Sqlite> {
        self.shared.writer()
    }

    /// Waits until somebody writes.
    pub(super) fn wait_for_leader(&self) {
        while self.shared.writer.try_lock().is_ok() {
            std::thread::yield_now();
        }
    }

    /// Waits until this many are in the queue.
    pub(super) fn wait_for_followers(&self, waiting: usize) {
        self.shared.group_commit.wait_for(waiting);
    }
}

impl Shared {
    fn read<T>(&self, read: impl FnOnce(&Sqlite) -> Result<T, Error>) -> Result<T, Error> {
        self.readers.read(read)
    }

    /// In a transaction that is shared with other writers.
    fn write(&self, job: Job) -> Result<Answer, Error> {
        let go = |jobs: Vec<Job>| self.writer().write_together(&jobs);
        // The leader panicked, and only a read shows whether that was before or after the commit.
        let fallen = || Error::Busy {
            folder: self.writer().folder.path().to_owned(),
        };
        self.group_commit
            .join(job, go)
            .unwrap_or_else(|| Err(fallen()))
    }

    /// In its own transaction, when its turn comes.
    fn write_alone<T>(
        &self,
        write: impl FnOnce(&mut Sqlite) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.group_commit.alone(|| write(&mut self.writer()))
    }

    /// A panic in a write rolls its transaction back, and the connection stays usable.
    fn writer(&self) -> MutexGuard<'_, Sqlite> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why nothing needs to be decided, from what can be read. These reasons never go away, so
    /// reading outside of the transaction is enough.
    fn earlier_result(
        &self,
        conditions: &CommitConditions<'_>,
        found: &FoundRun,
    ) -> Result<Option<Transacted>, Error> {
        let (number, version) = (found.number, found.stored.version);
        match version == conditions.seen {
            // The lease is checked in the transaction.
            true if conditions.key.is_none() => Ok(None),
            true => self.read(|sqlite| conditions.repeated(sqlite.reader(), number)),
            false => {
                self.read(|sqlite| conditions.earlier_result(sqlite.reader(), number, version))
            }
        }
    }
}

/// A decision that was made in advance, with its conditions.
struct Pending {
    run: RunId,
    seen: Tip,
    key: Option<Key>,
    fence: Option<Fence>,
    contents: Vec<(Hash, Vec<u8>)>,
    /// `None` if only the conditions are checked.
    prepared: Option<Prepared>,
}

impl Pending {
    fn new(commit: &Commit<'_>, seen: Tip, prepared: Option<Prepared>) -> Self {
        let owned = |content: &Content<'_>| (content.hash, content.bytes.to_vec());
        Self {
            run: commit.run.clone(),
            seen,
            key: commit.key.cloned(),
            fence: commit.fence,
            contents: commit.contents.iter().map(owned).collect(),
            prepared,
        }
    }

    fn write(&self, writing: &WriteTransaction<'_>) -> Result<JobResult, Error> {
        let (number, tip) = writing.reader().tip(&self.run)?;
        let conditions = CommitConditions {
            run: &self.run,
            seen: self.seen.version,
            key: self.key.as_ref(),
            fence: self.fence,
        };
        if tip.version != self.seen.version {
            let already = conditions.earlier_result(writing.reader(), number, tip.version)?;
            let moved = Transacted::Moved {
                version: tip.version,
            };
            return Ok(Answer::Already(already.unwrap_or(moved)).into());
        }
        // Nothing was added since the key was checked, so it is still unused.
        conditions.check_fence(writing.reader(), number)?;
        self.same_head(writing, tip)?;
        let head = writing.head(&self.run, tip)?;
        let Some(prepared) = &self.prepared else {
            return Ok(Answer::Stored.into());
        };
        let contents = self.contents.iter();
        let contents: Vec<_> = contents
            .map(|(hash, bytes)| Content { hash: *hash, bytes })
            .collect();
        prepared.put(writing.table(), number, &contents)?;
        Ok(JobResult {
            answer: Answer::Stored,
            head: Some((head, self.run.clone(), prepared.tip)),
        })
    }

    /// The chain continues from the entry that was read.
    fn same_head(&self, writing: &WriteTransaction<'_>, tip: Tip) -> Result<(), Error> {
        if tip == self.seen {
            Ok(())
        } else {
            let what = format!("the journal of run {} was altered while in use", self.run);
            Err(writing.damaged(Corruption(what)))
        }
    }
}

fn unknown(run: &RunId) -> Error {
    Error::UnknownRun { run: run.clone() }
}

/// The same claim, owned, for another thread.
fn claim_job(run: &RunId, claim: &Claim<'_>) -> Job {
    let run = run.clone();
    let claimed = |writing: &WriteTransaction<'_>, run: &RunId, claim: &Claim<'_>| {
        Ok(Answer::Claimed(writing.claim(run, claim)?).into())
    };
    match *claim {
        Claim::Acquire { holder, term, dead } => {
            let holder = holder.to_owned();
            Box::new(move |writing| {
                let holder = &holder;
                claimed(writing, &run, &Claim::Acquire { holder, term, dead })
            })
        }
        Claim::Renew { fence, term } => {
            Box::new(move |writing| claimed(writing, &run, &Claim::Renew { fence, term }))
        }
        Claim::Release { fence } => {
            Box::new(move |writing| claimed(writing, &run, &Claim::Release { fence }))
        }
    }
}

impl Backend for Group {
    fn runs(&self, project: Option<&str>) -> Result<Vec<RunSummary>, Error> {
        self.shared.read(|sqlite| sqlite.runs(project))
    }

    fn active_runs(&self) -> Result<Vec<RunSummary>, Error> {
        self.shared.read(Backend::active_runs)
    }

    fn summary(&self, run: &RunId) -> Result<Option<RunSummary>, Error> {
        self.shared.read(|sqlite| sqlite.summary(run))
    }

    fn recorded(&self) -> Result<Vec<RunId>, Error> {
        self.shared.read(Sqlite::recorded)
    }

    fn change_number(&self) -> Result<u64, Error> {
        self.shared.read(Sqlite::change_number)
    }

    fn run(&self, run: &RunId) -> Result<Option<StoredRun>, Error> {
        let found = self.read_run(run)?;
        let stored = found.as_ref().map(|found| found.stored.clone());
        *self.last() = found;
        Ok(stored)
    }

    fn journal(&self, run: &RunId, from: u64, limit: u64) -> Result<Vec<StoredEntry>, Error> {
        self.shared.read(|sqlite| sqlite.journal(run, from, limit))
    }

    fn keyed(&self, run: &RunId, key: &Key) -> Result<Vec<StoredEntry>, Error> {
        self.shared.read(|sqlite| sqlite.keyed(run, key))
    }

    fn definition(&self, hash: Hash) -> Result<Option<Files>, Error> {
        self.shared.read(|sqlite| sqlite.definition(hash))
    }

    fn compiled(&self, hash: Hash) -> Result<Option<Definition>, Error> {
        self.shared.read(|sqlite| sqlite.compiled(hash))
    }

    fn content(&self, hash: Hash) -> Result<Option<Vec<u8>>, Error> {
        self.shared.read(|sqlite| sqlite.content(hash))
    }

    fn lease(&self, run: &RunId) -> Result<Option<Lease>, Error> {
        self.shared.read(|sqlite| sqlite.lease(run))
    }

    fn verify(&self, run: &RunId) -> Result<Verification, Error> {
        self.shared.read(|sqlite| sqlite.verify(run))
    }

    fn damage(&self) -> Result<Option<String>, Error> {
        self.shared.read(Sqlite::damage)
    }

    fn mark_damaged(&self, what: &str) -> Result<(), Error> {
        self.shared.read(|sqlite| sqlite.mark_damaged(what))
    }

    fn check_pages(&self) -> Result<Vec<String>, Error> {
        self.shared.read(Sqlite::check_pages)
    }

    fn begin(&mut self, new: &NewRun<'_>, decision: &Decision) -> Result<StoredRun, Error> {
        self.shared
            .write_alone(|sqlite| sqlite.begin(new, decision))
    }

    fn import(&mut self, backup: &Backup, import: &Import<'_>) -> Result<StoredRun, Error> {
        self.shared
            .write_alone(|sqlite| sqlite.import(backup, import))
    }

    fn transact(
        &mut self,
        commit: &Commit<'_>,
        decide: &mut dyn FnMut(&Run) -> Decision,
    ) -> Result<Transacted, Error> {
        check_contents(commit.contents)?;
        let found = self.found(commit.run, commit.seen)?;
        if let Some(already) = self
            .shared
            .earlier_result(&CommitConditions::of(commit), &found)?
        {
            return Ok(already);
        }
        let FoundRun { number, stored } = found;
        let (seen, next) = (stored.tip(), stored.version + 1);
        let mut decision = decide(&stored.run);
        let (prepared, stored) = if decision.entries.is_empty() {
            (None, stored)
        } else {
            let (prepared, stored) = Prepared::new(commit, stored, &mut decision)?;
            (Some(prepared), stored)
        };
        let pending = Pending::new(commit, seen, prepared);
        match self
            .shared
            .write(Box::new(move |writing| pending.write(writing)))?
        {
            Answer::Already(already) => Ok(already),
            Answer::Stored | Answer::Claimed(_) => {
                let numbers = next..stored.version + 1;
                let stored_now = stored.clone();
                *self.last() = Some(FoundRun {
                    number,
                    stored: stored_now,
                });
                Ok(Transacted::Done {
                    decision,
                    stored: Box::new(stored),
                    numbers,
                })
            }
        }
    }

    fn claim(&mut self, run: &RunId, claim: &Claim<'_>) -> Result<Lease, Error> {
        match self.shared.write(claim_job(run, claim))? {
            Answer::Claimed(lease) => Ok(lease),
            Answer::Stored | Answer::Already(_) => Err(unknown(run)),
        }
    }

    fn put_content(&mut self, bytes: &[u8], at: Time) -> Result<Hash, Error> {
        self.shared
            .write_alone(|sqlite| sqlite.put_content(bytes, at))
    }

    fn put_compiled(&mut self, source: Hash, compiled: &Definition) -> Result<(), Error> {
        self.shared
            .write_alone(|sqlite| sqlite.put_compiled(source, compiled))
    }

    fn gc(&mut self, collect: &Collect<'_>) -> Result<Collected, Error> {
        self.shared.write_alone(|sqlite| sqlite.gc(collect))
    }
}
