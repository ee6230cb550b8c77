//! The storage contract: what every store of runs promises, and the values that pass through it.

use std::collections::BTreeMap;
use std::io::Write;
use std::ops::Range;

use engine::{
    CheckpointName, Decision, Definition, Driver, Entry, Fact, Hash, PipelineName, Run, RunId,
    StageName, Status, Time,
};

use crate::ledger::{Belongs, Tip};
use crate::{Claim, Error, Fence, Files, Key, Lease, Verification, export};

/// How many entries are read at a time when a whole journal is walked.
pub(crate) const PAGE: u64 = 1_000;

/// A store of runs.
///
/// Reads see a snapshot and wait for nobody. A write that was acknowledged is durable.
pub trait Backend: Send {
    /// All runs, or those of one project, the latest started first. Decodes nothing.
    fn runs(&self, project: Option<&str>) -> Result<Vec<RunSummary>, Error>;
    fn run(&self, run: &RunId) -> Result<Option<StoredRun>, Error>;
    /// At most `limit` entries from number `from` on.
    fn journal(&self, run: &RunId, from: u64, limit: u64) -> Result<Vec<StoredEntry>, Error>;
    /// The entries of the decision that was stored under this key.
    fn keyed(&self, run: &RunId, key: &Key) -> Result<Vec<StoredEntry>, Error>;
    /// The trusted bytes of a definition.
    fn definition(&self, hash: Hash) -> Result<Option<Files>, Error>;
    /// The compiled form, if it is there in the format of this build. Otherwise compile the
    /// `definition` again and `put_compiled`.
    fn compiled(&self, hash: Hash) -> Result<Option<Definition>, Error>;
    fn content(&self, hash: Hash) -> Result<Option<Vec<u8>>, Error>;
    fn lease(&self, run: &RunId) -> Result<Option<Lease>, Error>;
    /// Recomputes everything that can be recomputed of one run, and says what does not agree.
    fn verify(&self, run: &RunId) -> Result<Verification, Error>;

    /// Stores a new run. A key that began a run of this project before returns that run.
    fn begin(&mut self, new: &NewRun<'_>, decision: &Decision) -> Result<StoredRun, Error>;
    /// The only way to advance a run: looks whether it is still as it was seen, has the decision
    /// made, and stores it together with the new state, or nothing at all.
    fn transact(
        &mut self,
        commit: &Commit<'_>,
        decide: &mut dyn FnMut(&Run) -> Decision,
    ) -> Result<Transacted, Error>;
    fn claim(&mut self, run: &RunId, claim: &Claim<'_>) -> Result<Lease, Error>;
    /// Stores content ahead of the entry that will name it.
    fn put_content(&mut self, bytes: &[u8], at: Time) -> Result<Hash, Error>;
    fn put_compiled(&mut self, source: Hash, compiled: &Definition) -> Result<(), Error>;
    /// Deletes finished runs that are old enough, and what no run holds any more.
    fn gc(&mut self, collect: &Collect) -> Result<Collected, Error>;

    /// Where each checkpoint of the run is; a name that was used twice means the later place.
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

    /// Where the run last came into each stage: the last entry of the decision that brought it there.
    /// Every one is a point to which the run can go back, without anybody having marked it.
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

    /// The run as it was after that entry.
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

    /// Writes everything of a run as JSON lines: the run, its definition, its journal, its contents.
    fn export(&self, run: &RunId, out: &mut dyn Write) -> Result<(), Error> {
        export::export(self, run, out)
    }

    /// Shows the entries up to number `to`, a page at a time, and returns the last one's number.
    fn walk(
        &self,
        run: &RunId,
        to: u64,
        show: &mut dyn FnMut(&StoredEntry) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let mut last = 0;
        while last < to {
            let page = self.journal(run, last + 1, PAGE.min(to - last))?;
            let Some(end) = page.last() else { break };
            last = end.number;
            page.iter().try_for_each(&mut *show)?;
        }
        Ok(last)
    }
}

/// A run with where it belongs and where its journal ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRun {
    pub run: Run,
    /// The number of its entries.
    pub version: u64,
    /// The last entry's hash.
    pub head: Hash,
    pub project: String,
    pub worktree: String,
    pub pipeline: PipelineName,
}

impl StoredRun {
    pub(crate) fn tip(&self) -> Tip {
        Tip {
            version: self.version,
            head: self.head,
        }
    }

    pub(crate) fn belongs(&self) -> Belongs<'_> {
        let Self {
            project,
            worktree,
            pipeline,
            ..
        } = self;
        Belongs {
            project,
            worktree,
            pipeline: pipeline.as_str(),
        }
    }
}

/// What a list shows of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSummary {
    pub id: RunId,
    pub project: String,
    pub worktree: String,
    pub pipeline: PipelineName,
    /// The first line of the task, shortened.
    pub task: String,
    pub stage: StageName,
    pub status: Status,
    pub driver: Driver,
    /// A person overrode a gate of this run.
    pub overridden: bool,
    pub started_at: Time,
    pub updated_at: Time,
    pub version: u64,
}

/// An entry with its place in the journal and in the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEntry {
    /// From 1, without a gap.
    pub number: u64,
    /// The number of the first entry of the same decision.
    pub decision: u64,
    /// Stands on the first entry of its decision.
    pub key: Option<Key>,
    pub entry: Entry,
    pub hash: Hash,
    pub previous: Hash,
}

/// Bytes under their hash. Whoever made them has redacted them before hashing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content<'a> {
    pub hash: Hash,
    pub bytes: &'a [u8],
}

/// How a run stands, told from its state. The store keeps the answer for lists.
pub type StatusOf<'a> = &'a dyn Fn(&Run) -> Status;

/// What a run begins with, besides its first entries.
#[derive(Clone, Copy)]
pub struct NewRun<'a> {
    pub project: &'a str,
    pub worktree: &'a str,
    pub files: &'a Files,
    pub compiled: &'a Definition,
    pub key: Option<&'a Key>,
    pub contents: &'a [Content<'a>],
    /// Values that must not be stored, such as those of the environment's tokens.
    pub secrets: &'a [String],
    pub status: StatusOf<'a>,
}

/// What a write to a run is about.
#[derive(Clone, Copy)]
pub struct Commit<'a> {
    pub run: &'a RunId,
    /// The version that was looked at.
    pub seen: u64,
    pub key: Option<&'a Key>,
    pub contents: &'a [Content<'a>],
    /// The lease under which it is written, by whoever drives the run.
    pub fence: Option<Fence>,
    /// Values that must not be stored, such as those of the environment's tokens.
    pub secrets: &'a [String],
    pub status: StatusOf<'a>,
}

/// How a write ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transacted {
    /// Stored, as the decision's entries now read. `numbers` is empty if there was nothing to store.
    Done {
        decision: Decision,
        stored: Box<StoredRun>,
        numbers: Range<u64>,
    },
    /// The key was there already; these are the entries of then.
    Repeated { entries: Vec<StoredEntry> },
    /// Somebody else was first: look again.
    Moved { version: u64 },
}

/// What may be deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collect {
    /// Runs that ended, and contents that nobody holds, from before this time.
    pub before: Time,
    /// Also give the freed room back to the disk, which rewrites the whole file.
    pub shrink: bool,
}

/// What was deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    pub runs: u64,
    pub entries: u64,
    pub contents: u64,
    pub definitions: u64,
}

/// The longest task that a list shows, in characters.
const TASK: usize = 80;

/// The first line of a task, shortened.
pub(crate) fn short_task(task: &str) -> String {
    let line = task.trim().lines().next().unwrap_or_default().trim_end();
    match line.char_indices().nth(TASK - 1) {
        Some((cut, last)) if cut + last.len_utf8() < line.len() => format!("{}…", &line[..cut]),
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_shown_by_its_first_line() {
        let (fits, long) = ("é".repeat(80), "é".repeat(81));
        let cut = format!("{}…", "é".repeat(79));
        for (task, shown) in [
            ("write a role", "write a role"),
            ("\n  write a role  \nand test it", "write a role"),
            ("", ""),
            (fits.as_str(), fits.as_str()),
            (long.as_str(), cut.as_str()),
        ] {
            assert_eq!(short_task(task), shown);
        }
    }
}
