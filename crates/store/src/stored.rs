//! Answers of a store: a stored run, its summary, and the result of a write.

use std::ops::Range;

use engine::{Decision, Driver, Hash, PipelineName, Run, RunId, StageName, Status, Time};

use crate::chain::Tip;
use crate::line::StoredEntry;
use crate::record::RunOrigin;

/// A run with its project and the end of its journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRun {
    pub run: Run,
    /// The number of its entries.
    pub version: u64,
    /// The last entry's hash.
    pub head: Hash,
    pub project: String,
    /// The worktree in which it was started.
    pub home: String,
    pub pipeline: PipelineName,
}

impl StoredRun {
    /// Where the run works: its own worktree, or the one in which it was started.
    pub fn worktree(&self) -> &str {
        let place = self.run.place.as_ref();
        let own = place.and_then(|place| place.folder.as_deref());
        own.unwrap_or(&self.home)
    }

    pub fn tip(&self) -> Tip {
        Tip {
            version: self.version,
            head: self.head,
        }
    }

    pub fn origin(&self) -> RunOrigin<'_> {
        let Self {
            project,
            home,
            pipeline,
            ..
        } = self;
        RunOrigin {
            project,
            worktree: home,
            pipeline: pipeline.as_str(),
        }
    }
}

/// The summary of a run in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSummary {
    pub id: RunId,
    pub project: String,
    /// The worktree in which it was started. A run with a branch of its own works in another one.
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

/// How a write ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transacted {
    /// Stored, with the entries as stored. `numbers` is empty if there was nothing to store.
    Done {
        decision: Decision,
        stored: Box<StoredRun>,
        numbers: Range<u64>,
    },
    /// The key was used before; these are its entries.
    Repeated { entries: Vec<StoredEntry> },
    /// Another process was faster: look again.
    Moved { version: u64 },
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
