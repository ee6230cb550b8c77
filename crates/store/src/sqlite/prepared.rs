//! The rows of a decision, prepared in advance and then stored with few statements.

use engine::{Decision, Hash, Run, Time};

use super::table::{Row, RunValues, Table};
use crate::chain::Tip;
use crate::journal::{self, Addition};
use crate::line::Line;
use crate::{Commit, Content, Error, StoredRun};

/// The rows of one decision.
pub(super) struct Prepared {
    pub tip: Tip,
    lines: Vec<Line>,
    named: Vec<Hash>,
    row: Row,
    updated_at: Time,
}

impl Prepared {
    /// What the decision adds to the run, and the new run. Redacts the decision's entries in place.
    pub(super) fn new(
        commit: &Commit<'_>,
        stored: StoredRun,
        decision: &mut Decision,
    ) -> Result<(Self, StoredRun), Error> {
        let before = stored.tip();
        let StoredRun { run, .. } = stored;
        let addition = journal::append(run, before, commit.key, commit.secrets, decision)?;
        let Addition {
            run,
            lines,
            tip,
            named,
        } = addition;
        let stored = StoredRun {
            run,
            version: tip.version,
            head: tip.head,
            ..stored
        };
        let updated_at = last_time(&stored.run, decision);
        let row = Row::of(&RunValues {
            origin: stored.origin(),
            run: &stored.run,
            tip,
            status: &(commit.status)(&stored.run),
            updated_at,
        });
        let prepared = Self {
            tip,
            lines,
            named,
            row,
            updated_at,
        };
        Ok((prepared, stored))
    }

    pub(super) fn put(
        &self,
        table: Table<'_>,
        number: i64,
        contents: &[Content<'_>],
    ) -> Result<(), Error> {
        table.add_lines(number, &self.lines)?;
        table.hold(number, contents, &self.named, self.updated_at)?;
        table.set_run(number, &self.row)
    }
}

pub(super) fn last_time(run: &Run, decision: &Decision) -> Time {
    decision
        .entries
        .last()
        .map_or(run.touched_at, |entry| entry.at)
}
