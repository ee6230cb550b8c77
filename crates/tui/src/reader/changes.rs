//! What each piece of work changed: the list of them, and one as a text to read.

use std::collections::BTreeMap;

use engine::{DispatchId, RunId};
use runtime::facts::RunReader;
use runtime::failure::Failure;
use runtime::state::State;
use runtime::workspace::{OpenRun, Workspace};
use runtime::{change_report, clock, work_change};
use views::Style;
use views::change::ChangeStat;
use views::facts::{Attempt, Timeline, Visit};

use crate::event::{ChangeExtent, ChangeRow, OpenText, Wrapping};

/// How many of the latest pieces of work are listed.
const MOST_ROWS: usize = 200;

/// What was kept at the end of each piece of work of a run. It does not change, so it is read once.
#[derive(Default)]
pub(super) struct KeptChanges {
    run: Option<RunId>,
    known: BTreeMap<DispatchId, ChangeStat>,
}

impl KeptChanges {
    /// The latest pieces of work, in their order.
    pub(super) fn rows(
        &mut self,
        state: &State,
        opened: &OpenRun,
        timeline: &Timeline,
    ) -> Vec<ChangeRow> {
        let run = &opened.run().id;
        if self.run.as_ref() != Some(run) {
            self.known.clear();
            self.run = Some(run.clone());
        }
        let visits = timeline.visits().rev();
        let latest =
            visits.flat_map(|visit| visit.attempts.iter().rev().map(move |it| (visit, it)));
        let mut rows: Vec<ChangeRow> = latest
            .take(MOST_ROWS)
            .map(|(visit, attempt)| self.row(state, opened, visit, attempt))
            .collect();
        rows.reverse();
        rows
    }

    fn row(
        &mut self,
        state: &State,
        opened: &OpenRun,
        visit: &Visit,
        attempt: &Attempt,
    ) -> ChangeRow {
        let extent = if opened.run().dispatches.contains_key(&attempt.dispatch) {
            ChangeExtent::Open
        } else {
            self.kept(state, &opened.run().id, attempt.dispatch)
        };
        ChangeRow {
            dispatch: attempt.dispatch,
            agent: attempt.agent.clone(),
            stage: visit.stage.clone(),
            attempt: attempt.number,
            extent,
        }
    }

    fn kept(&mut self, state: &State, run: &RunId, dispatch: DispatchId) -> ChangeExtent {
        if let Some(stat) = self.known.get(&dispatch) {
            return ChangeExtent::Known(*stat);
        }
        match work_change::stat(state, run, dispatch) {
            Some(stat) => {
                self.known.insert(dispatch, stat);
                ChangeExtent::Known(stat)
            }
            None => ChangeExtent::Unknown,
        }
    }
}

/// What a run has changed since it began.
pub(super) fn of_run(workspace: &mut Workspace<'_>, run: &RunId) -> Result<OpenText, Failure> {
    let opened = workspace.read(run)?;
    let lines = match change_report::of(workspace, &opened)? {
        Ok(report) => report.lines(),
        Err(reason) => {
            let text = format!("the change cannot be shown: {}", views::line(&reason));
            vec![(Style::Wait, text)]
        }
    };
    Ok(text(format!("diff {run}"), lines))
}

/// What the work of a stage changed, or the work with a number.
pub(super) fn of_work(
    workspace: &mut Workspace<'_>,
    run: &RunId,
    of: &str,
    known: Option<&RunReader>,
) -> Result<OpenText, Failure> {
    let opened = workspace.read(run)?;
    let mut fresh = RunReader::new(run.clone());
    let reader = match known {
        Some(reader) => reader,
        None => {
            fresh.read_opened(workspace, &opened, clock::now())?;
            &fresh
        }
    };
    let changes = work_change::wanted(workspace, &opened, reader.timeline(), of);
    if changes.is_empty() {
        let message = format!("no agent has worked in '{}' of {run}", views::line(of));
        return Err(Failure::not_found(message).hint("press 6 to see who worked where"));
    }
    let lines = changes.iter().flat_map(|change| change.lines()).collect();
    Ok(text(format!("diff {run} {}", views::line(of)), lines))
}

fn text(title: String, lines: Vec<(Style, String)>) -> OpenText {
    let plain = lines.into_iter();
    OpenText {
        title,
        lines: plain
            .map(|(style, line)| (style, line.replace('\t', "    ")))
            .collect(),
        wrapping: Wrapping::Off,
    }
}
