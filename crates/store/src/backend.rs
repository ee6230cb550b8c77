//! The storage contract: what every store of runs guarantees.

use std::collections::BTreeMap;
use std::time::Duration;

use engine::{
    BudgetLine, CheckpointName, Decision, Definition, DispatchId, Fact, Hash, Run, RunId,
    StageName, Status, Time, Usage,
};

use crate::error::Error;
use crate::fence::Fence;
use crate::files::Files;
use crate::import::{Backup, Import};
use crate::key::Key;
use crate::lease::{Claim, Lease};
use crate::line::StoredEntry;
use crate::request::{Collect, Commit, NewRun};
use crate::shipping::ShippedSummary;
use crate::stored::{Collected, RunSummary, StoredRun, Transacted};
use crate::verification::Verification;

/// The page size for reading a whole journal.
pub(crate) const PAGE: u64 = 1_000;

/// A store that machines share. The threads of a process open their handles for themselves.
pub trait SharedBackend: Backend {
    /// Another handle on the same store, for another thread.
    fn for_thread(&self) -> Result<Box<dyn SharedBackend>, Error> {
        self.connector()()
    }

    /// What opens more handles, after this one has gone to somebody.
    fn connector(&self) -> Connector;

    /// The place of a run in the queue; none if it is not there.
    fn queue_mark(&self, run: &RunId) -> Result<Option<QueueMark>, Error>;

    /// The runs that no worker takes any more, and why.
    fn set_aside(&self) -> Result<Vec<(RunId, String)>, Error>;

    /// Notes which commit has the present tree of a run, for the machine that takes it over. Only the holder of its
    /// lease may.
    fn keep_tree(&self, run: &RunId, fence: Fence, commit: &str) -> Result<(), Error>;

    /// The commit that was noted last.
    fn kept_tree(&self, run: &RunId) -> Result<Option<String>, Error>;

    /// Notes what a run has used so far. Who shows the fence of its lease may correct an estimate downwards.
    fn note_spending(&self, run: &RunId, fence: Option<Fence>, used: Usage) -> Result<(), Error>;

    /// Notes the same, with what its workers may still use.
    fn note_at_work(&self, run: &RunId, at_work: &AtWork) -> Result<(), Error>;

    /// Notes the same, and reserves what the next process of one more worker may cost, in cents: a part of what the caps
    /// leave free today, and at most this. Nothing is returned if no cap concerns the run.
    fn reserve(
        &self,
        run: &RunId,
        at_work: &AtWork,
        most_cents: Option<u64>,
    ) -> Result<Option<u64>, Error>;

    /// The cap on what all machines spend that leaves nothing for this run: it is used up, or the runs at work may
    /// still use the rest.
    fn cap_reached(&self, run: &RunId) -> Result<Option<ReachedCap>, Error>;

    /// The guarded runs of all machines whose journals are shipped and that no other machine has adopted, the latest
    /// started first.
    fn shipped_runs(&self) -> Result<Vec<ShippedSummary>, Error>;

    /// Adds a piece of what a worker printed, after so many bytes. A second time changes nothing.
    fn keep_output(&self, run: &RunId, piece: &OutputPiece<'_>) -> Result<(), Error>;

    /// How many bytes of each worker's output are kept.
    fn kept_output(&self, run: &RunId) -> Result<Vec<(DispatchId, u64)>, Error>;

    /// What a worker printed, after so many bytes.
    fn output_after(&self, run: &RunId, dispatch: DispatchId, place: u64)
    -> Result<Vec<u8>, Error>;
}

/// Opens a handle on a store that machines share.
pub type Connector = Box<dyn Fn() -> Result<Box<dyn SharedBackend>, Error> + Send>;

/// The place of a run in the queue of a fleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueMark {
    /// A worker takes it when one is free, or when what it waits for has happened.
    Waits,
    /// No worker takes it any more, until a person puts it back.
    SetAside,
}

/// What a run uses while its workers work, as the holder of its lease says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtWork {
    pub fence: Fence,
    /// What the run has used so far, with all that is in flight.
    pub used: Usage,
    /// What its workers may still use, in cents.
    pub reserved_cents: u64,
}

/// A cap on what all machines spend in a day leaves nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReachedCap {
    /// Whose spending it limits: `all`, `user ada`.
    pub whose: String,
    pub spent: CapSpent,
    /// How long to wait: until the day ends, or until it is worth another look.
    pub remaining: Duration,
}

/// What counts for a cap today, in cents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapSpent {
    /// The cap itself.
    pub most_cents: u64,
    pub cost_cents: u64,
    /// How much of the cost is an estimate.
    pub estimated_cents: u64,
    /// What the runs at work may still use.
    pub reserved_cents: u64,
}

impl CapSpent {
    /// Is all of it spent? Otherwise runs at work may still use the rest.
    pub fn is_used_up(&self) -> bool {
        self.cost_cents >= self.most_cents
    }

    /// `cost 5.04 of 10.00`, as every budget is written.
    pub fn line(&self) -> BudgetLine {
        let is_estimate = self.estimated_cents > 0;
        BudgetLine::cost(self.cost_cents, Some(self.most_cents), is_estimate)
    }
}

/// A piece of what a worker printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputPiece<'a> {
    pub dispatch: DispatchId,
    /// How many bytes were before it.
    pub place: u64,
    pub bytes: &'a [u8],
}

/// A store of runs.
///
/// Reads see a snapshot and never wait. An acknowledged write is durable.
pub trait Backend: Send {
    /// All runs, or those of one project, the latest started first. Decodes nothing.
    fn runs(&self, project: Option<&str>) -> Result<Vec<RunSummary>, Error>;
    /// Those of all projects that are not over, in the same order.
    fn active_runs(&self) -> Result<Vec<RunSummary>, Error> {
        let mut runs = self.runs(None)?;
        runs.retain(|run| match run.status {
            Status::Queued | Status::Running | Status::Waiting(_) => true,
            Status::Completed | Status::Failed | Status::Cancelled => false,
        });
        Ok(runs)
    }
    /// The row of one run in that list.
    fn summary(&self, run: &RunId) -> Result<Option<RunSummary>, Error> {
        let runs = self.runs(None)?;
        Ok(runs.into_iter().find(|row| row.id == *run))
    }
    /// Every run that was recorded and not collected, even if the store has lost it.
    fn recorded(&self) -> Result<Vec<RunId>, Error> {
        let runs = self.runs(None)?;
        Ok(runs.into_iter().map(|row| row.id).collect())
    }
    /// A number that changes when somebody else writes to the store: as long as it stays the same, nothing was
    /// written, and nothing need be read again. It means something only to this handle.
    fn change_number(&self) -> Result<u64, Error>;
    fn run(&self, run: &RunId) -> Result<Option<StoredRun>, Error>;
    /// The same with its `compiled` definition.
    fn run_and_compiled(
        &self,
        run: &RunId,
    ) -> Result<Option<(StoredRun, Option<Definition>)>, Error> {
        let Some(stored) = self.run(run)? else {
            return Ok(None);
        };
        let compiled = self.compiled(stored.run.definition)?;
        Ok(Some((stored, compiled)))
    }
    /// At most `limit` entries from number `from` on.
    fn journal(&self, run: &RunId, from: u64, limit: u64) -> Result<Vec<StoredEntry>, Error>;
    /// The entries of the decision with this key.
    fn keyed(&self, run: &RunId, key: &Key) -> Result<Vec<StoredEntry>, Error>;
    /// The trusted bytes of a definition.
    fn definition(&self, hash: Hash) -> Result<Option<Files>, Error>;
    /// The compiled form, if it exists in the format of this build. Otherwise compile the
    /// `definition` again and `put_compiled`.
    fn compiled(&self, hash: Hash) -> Result<Option<Definition>, Error>;
    fn content(&self, hash: Hash) -> Result<Option<Vec<u8>>, Error>;
    fn lease(&self, run: &RunId) -> Result<Option<Lease>, Error>;
    /// Recomputes everything about one run, and reports differences.
    fn verify(&self, run: &RunId) -> Result<Verification, Error>;
    /// Why the store is read-only, if it is.
    fn damage(&self) -> Result<Option<String>, Error> {
        Ok(None)
    }
    /// Makes the store read-only, because this was found. A store that others look after stays as it is.
    fn mark_damaged(&self, _what: &str) -> Result<(), Error> {
        Ok(())
    }
    /// What the storage below the runs complains about, where it can check itself.
    fn check_pages(&self) -> Result<Vec<String>, Error> {
        Ok(Vec::new())
    }

    /// Stores a new run. If the key started a run of this project before, returns that run.
    fn begin(&mut self, new: &NewRun<'_>, decision: &Decision) -> Result<StoredRun, Error>;
    /// Stores a run that an export brought, or nothing at all.
    fn import(&mut self, backup: &Backup, import: &Import<'_>) -> Result<StoredRun, Error>;
    /// The only way to advance a run: checks that it is unchanged since it was read, calls
    /// `decide`, and stores the decision with the new state, or nothing at all.
    fn transact(
        &mut self,
        commit: &Commit<'_>,
        decide: &mut dyn FnMut(&Run) -> Decision,
    ) -> Result<Transacted, Error>;
    /// The same for a caller that has read the run before: as long as it is the same, it is not read again.
    fn transact_on(
        &mut self,
        _known: &StoredRun,
        commit: &Commit<'_>,
        decide: &mut dyn FnMut(&Run) -> Decision,
    ) -> Result<Transacted, Error> {
        self.transact(commit, decide)
    }
    fn claim(&mut self, run: &RunId, claim: &Claim<'_>) -> Result<Lease, Error>;
    /// Stores content before the entry that will refer to it.
    fn put_content(&mut self, bytes: &[u8], at: Time) -> Result<Hash, Error>;
    fn put_compiled(&mut self, source: Hash, compiled: &Definition) -> Result<(), Error>;
    /// Deletes finished runs that are old enough, and contents that no run holds.
    fn gc(&mut self, collect: &Collect<'_>) -> Result<Collected, Error>;

    /// The entry of each checkpoint; of equal names the later one counts.
    fn checkpoints(&self, run: &RunId) -> Result<BTreeMap<CheckpointName, u64>, Error> {
        let mut found = BTreeMap::new();
        self.walk(run, u64::MAX, &mut |stored| {
            if let Fact::Checkpointed { name } = &stored.entry.fact {
                found.insert(name.clone(), stored.number);
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// The last arrival of the run in each stage: the last entry of the decision that moved it
    /// there. A run can go back to each of them without a checkpoint.
    fn arrivals(&self, run: &RunId) -> Result<BTreeMap<StageName, u64>, Error> {
        let mut found = BTreeMap::new();
        let mut latest: Option<(StageName, u64)> = None;
        self.walk(run, u64::MAX, &mut |stored| {
            if let Some(stage) = engine::arrival(&stored.entry.fact) {
                latest = Some((stage.clone(), stored.decision));
            }
            if let Some((stage, decision)) = &latest
                && *decision == stored.decision
            {
                found.insert(stage.clone(), stored.number);
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// The run after that entry.
    fn folded_at(&self, run: &RunId, number: u64) -> Result<Run, Error> {
        let mut state = None;
        let last = self.walk(run, number, &mut |stored| {
            let folded = engine::apply(state.take(), &stored.entry);
            state = Some(folded.map_err(|source| Error::Unfit {
                run: run.clone(),
                source,
            })?);
            Ok(())
        })?;
        match state {
            Some(state) if last == number => Ok(state),
            _ => Err(Error::UnknownEntry {
                run: run.clone(),
                number,
            }),
        }
    }

    /// Passes the entries up to number `to` to the visitor, page by page, and returns the last
    /// number.
    fn walk(
        &self,
        run: &RunId,
        to: u64,
        show: &mut dyn FnMut(&StoredEntry) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        self.walk_from(run, 1, to, show)
    }

    /// The same from this entry on. Returns the number before it where there is nothing.
    fn walk_from(
        &self,
        run: &RunId,
        from: u64,
        to: u64,
        show: &mut dyn FnMut(&StoredEntry) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let mut last = from.saturating_sub(1);
        while last < to {
            let page = self.journal(run, last + 1, PAGE.min(to - last))?;
            let Some(end) = page.last() else { break };
            last = end.number;
            page.iter().try_for_each(&mut *show)?;
        }
        Ok(last)
    }
}
