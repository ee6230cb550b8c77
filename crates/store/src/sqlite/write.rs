//! Writes: each takes the writer lock, one transaction and one sync.

use engine::{Decision, Run, RunId};
use rusqlite::{Transaction, TransactionBehavior};

use super::Sqlite;
use super::folder::Folder;
use super::heads::{Head, Heads};
use super::prepared::{Prepared, last_time};
use super::read::{FoundRun, Reader};
use super::statements::Statements;
use super::table::{RunValues, Table};
use super::writer_lock::WriterLock;
use crate::chain::Tip;
use crate::error::Corruption;
use crate::journal::{self, Addition, check_contents};
use crate::lease::machine_clock;
use crate::record::RunOrigin;
use crate::verification::Anchor;
use crate::{Claim, Commit, Error, Fence, Key, Lease, NewRun, StoredRun, Transacted, chain};

/// An open write. Dropping it before `commit` leaves nothing behind.
///
/// Invariant: the fields are dropped in this order, so that the lock is released last.
pub(super) struct WriteTransaction<'a> {
    transaction: Transaction<'a>,
    folder: &'a Folder,
    statements: Statements,
    lock: WriterLock,
}

impl<'a> WriteTransaction<'a> {
    pub(super) fn begin(sqlite: &'a mut Sqlite) -> Result<Self, Error> {
        sqlite.writable()?;
        let lock = WriterLock::wait(&sqlite.folder, sqlite.writer_timeout)?;
        // Both may have changed while we waited.
        sqlite.unharmed()?;
        sqlite.in_place()?;
        let Sqlite {
            connection,
            folder,
            statements,
            ..
        } = sqlite;
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|error| folder.fault("begin to write", error))?;
        Ok(Self {
            transaction,
            folder,
            statements: *statements,
            lock,
        })
    }

    pub(super) fn reader(&self) -> Reader<'_> {
        Reader {
            connection: &self.transaction,
            folder: self.folder,
            statements: self.statements,
        }
    }

    pub(super) fn table(&self) -> Table<'_> {
        Table {
            connection: &self.transaction,
            folder: self.folder,
            statements: self.statements,
        }
    }

    /// Acknowledged from here on. Returns the lock, so that what follows stays in order.
    pub(super) fn commit(self) -> Result<WriterLock, Error> {
        let Self {
            transaction,
            folder,
            lock,
            ..
        } = self;
        transaction
            .commit()
            .map_err(|error| folder.fault("store", error))?;
        Ok(lock)
    }

    /// Commits, and writes the head file under the lock, so that it never goes backwards. If that
    /// fails, the head lags, which is allowed.
    fn commit_with_head(self, head: &Head, run: &RunId, tip: Tip) -> Result<(), Error> {
        let folder = self.folder;
        let _lock = self.commit()?;
        let _ = head.put(folder, run, tip);
        Ok(())
    }

    /// The same for several runs.
    pub(super) fn commit_with_heads(self, heads: &[(Head, RunId, Tip)]) -> Result<(), Error> {
        let folder = self.folder;
        let _lock = self.commit()?;
        for (head, run, tip) in heads {
            let _ = head.put(folder, run, *tip);
        }
        Ok(())
    }

    /// Creates the head file of a run that begins here.
    pub(super) fn make_head(&self, run: &RunId) -> Result<(), Error> {
        Heads::make(self.folder)?.clear(run)
    }

    pub(super) fn damaged(&self, broken: Corruption) -> Error {
        self.folder.damaged(broken)
    }

    pub(super) fn claim(&self, run: &RunId, claim: &Claim<'_>) -> Result<Lease, Error> {
        let number = self.reader().number(run)?;
        let now = machine_clock();
        let (lease, state) = self.reader().lease(number)?.claimed(run, claim, now)?;
        self.table().set_lease(number, &state)?;
        Ok(lease)
    }

    /// The run's head file. A journal shorter than its head was truncated.
    pub(super) fn head(&self, run: &RunId, tip: Tip) -> Result<Head, Error> {
        let head = Head::find(self.folder, run)?;
        let agrees = match head.read()? {
            Anchor::Absent => tip.version == 0,
            Anchor::Unreadable => false,
            Anchor::At(head) if head.version == tip.version => head.head == tip.head,
            Anchor::At(head) => head.version < tip.version,
        };
        if agrees {
            Ok(head)
        } else {
            let what = format!("the journal of run {run} is not the one its head file names");
            Err(self.folder.damaged(Corruption(what)))
        }
    }
}

pub(super) fn begin(
    sqlite: &mut Sqlite,
    new: &NewRun<'_>,
    decision: &Decision,
) -> Result<StoredRun, Error> {
    let Addition {
        run,
        lines,
        tip,
        named,
    } = journal::begin(new, decision)?;
    let writing = WriteTransaction::begin(sqlite)?;
    if let Some(earlier) = earlier(&writing, new)? {
        return Ok(earlier);
    }
    if writing.reader().columns(&run.id)?.is_some() {
        return Err(Error::RunExists { run: run.id });
    }
    let head = writing.head(
        &run.id,
        Tip {
            version: 0,
            head: chain::root(&run.id),
        },
    )?;
    let updated_at = last_time(&run, decision);
    let (table, status) = (writing.table(), (new.status)(&run));
    table.add_definition(run.definition, new.files, Some(new.compiled))?;
    let pipeline = new.compiled.name.as_str();
    let origin = RunOrigin {
        project: new.project,
        worktree: new.worktree,
        pipeline,
    };
    let present = RunValues {
        origin,
        run: &run,
        tip,
        status: &status,
        updated_at,
    };
    writing.make_head(&run.id)?;
    let number = table.add_run(&present, new.key)?;
    table.add_lines(number, &lines)?;
    table.hold(number, new.contents, &named, updated_at)?;
    writing.commit_with_head(&head, &run.id, tip)?;
    Ok(StoredRun {
        run,
        version: tip.version,
        head: tip.head,
        project: new.project.to_owned(),
        home: new.worktree.to_owned(),
        pipeline: new.compiled.name.clone(),
    })
}

/// The run that this key started before.
fn earlier(writing: &WriteTransaction<'_>, new: &NewRun<'_>) -> Result<Option<StoredRun>, Error> {
    let Some(key) = new.key else { return Ok(None) };
    let Some(run) = writing.reader().begun_by(new.project, key)? else {
        return Ok(None);
    };
    Ok(writing.reader().run(&run)?.map(|found| found.stored))
}

/// `known` is the run as the caller has read it, where it has.
pub(super) fn transact(
    sqlite: &mut Sqlite,
    commit: &Commit<'_>,
    known: Option<&StoredRun>,
    decide: &mut dyn FnMut(&Run) -> Decision,
) -> Result<Transacted, Error> {
    check_contents(commit.contents)?;
    let writing = WriteTransaction::begin(sqlite)?;
    let unknown = || Error::UnknownRun {
        run: commit.run.clone(),
    };
    let found = writing.reader().run_again(commit.run, known)?;
    let FoundRun { number, stored } = found.ok_or_else(unknown)?;
    let conditions = CommitConditions::of(commit);
    if let Some(already) = conditions.earlier_result(writing.reader(), number, stored.version)? {
        return Ok(already);
    }
    let head = writing.head(commit.run, stored.tip())?;
    let mut decision = decide(&stored.run);
    let next = stored.version + 1;
    if decision.entries.is_empty() {
        let stored = Box::new(stored);
        return Ok(Transacted::Done {
            decision,
            stored,
            numbers: next..next,
        });
    }
    let (prepared, stored) = Prepared::new(commit, stored, &mut decision)?;
    prepared.put(writing.table(), number, commit.contents)?;
    writing.commit_with_head(&head, commit.run, prepared.tip)?;
    let numbers = next..stored.version + 1;
    Ok(Transacted::Done {
        decision,
        stored: Box::new(stored),
        numbers,
    })
}

/// The conditions for storing a decision.
#[derive(Clone, Copy)]
pub(super) struct CommitConditions<'a> {
    pub run: &'a RunId,
    pub seen: u64,
    pub key: Option<&'a Key>,
    pub fence: Option<Fence>,
}

impl<'a> CommitConditions<'a> {
    pub(super) fn of(commit: &Commit<'a>) -> Self {
        Self {
            run: commit.run,
            seen: commit.seen,
            key: commit.key,
            fence: commit.fence,
        }
    }

    /// Why nothing needs to be decided: it was decided before, or the run has changed.
    pub(super) fn earlier_result(
        &self,
        reader: Reader<'_>,
        number: i64,
        version: u64,
    ) -> Result<Option<Transacted>, Error> {
        // The key comes first: a client that repeats it usually did not see that it was stored.
        if let Some(repeated) = self.repeated(reader, number)? {
            return Ok(Some(repeated));
        }
        self.check_fence(reader, number)?;
        Ok((version != self.seen).then_some(Transacted::Moved { version }))
    }

    pub(super) fn repeated(
        &self,
        reader: Reader<'_>,
        number: i64,
    ) -> Result<Option<Transacted>, Error> {
        let Some(key) = self.key else {
            return Ok(None);
        };
        let entries = reader.keyed(self.run, number, key)?;
        Ok((!entries.is_empty()).then_some(Transacted::Repeated { entries }))
    }

    /// The lease of the write must be the current one.
    pub(super) fn check_fence(&self, reader: Reader<'_>, number: i64) -> Result<(), Error> {
        match self.fence {
            Some(fence) => reader.lease(number)?.current(self.run, fence).map(drop),
            None => Ok(()),
        }
    }
}

pub(super) fn claim(sqlite: &mut Sqlite, run: &RunId, claim: &Claim<'_>) -> Result<Lease, Error> {
    let writing = WriteTransaction::begin(sqlite)?;
    let lease = writing.claim(run, claim)?;
    writing.commit()?;
    Ok(lease)
}
