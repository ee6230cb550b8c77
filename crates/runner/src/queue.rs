//! The queue: the headless runs that are not over, in the order in which a worker takes them, and what each waits for.
//!
//! `worker` and `gatewright queue` ask the same function, so that they cannot disagree.

use std::collections::BTreeMap;

use engine::{Driver, RunId, Status, Time};
use runtime::drive_settings::DriveSettings;
use runtime::failure::Failure;
use runtime::path_collision::{self, Collision};
use runtime::queue_order::QueueOrder;
use runtime::tree_turn;
use runtime::workspace::Workspace;
use store::{Backend as _, RunSummary};

use crate::wait_note::WaitNote;
use runtime::lease_holder;

/// A headless run that is not over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedRun {
    pub summary: RunSummary,
    pub waits: Waits,
}

/// What a run waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Waits {
    /// A worker may take it now.
    Worker,
    /// A process drives it; the note says what keeps that process from starting an agent.
    Driven { by: String, note: Option<WaitNote> },
    /// A person asked for a later beginning.
    Until(Time),
    /// The one before it in the same folder has not begun.
    Turn(RunId),
    /// Another headless run works in the same tree.
    Tree(RunId),
    /// Another run of the same folder writes the same file.
    SameFiles { run: RunId, path: String },
    /// A person must act.
    Person(String),
}

/// Every headless run that is not over, in order.
pub fn look(workspace: &mut Workspace<'_>, now: Time) -> Result<Vec<QueuedRun>, Failure> {
    let mut runs: Vec<RunSummary> = workspace.store.runs(None)?;
    runs.retain(|run| run.driver == Driver::Headless && is_open(&run.status));
    QueueOrder::load(&workspace.state)?.sort(&mut runs);
    // The first queued run of each folder, which the others wait for.
    let mut turns: BTreeMap<String, RunId> = BTreeMap::new();
    let mut queue = Vec::new();
    for summary in runs {
        let waits = waits(workspace, &summary, now, &mut turns)?;
        queue.push(QueuedRun { summary, waits });
    }
    Ok(queue)
}

fn is_open(status: &Status) -> bool {
    match status {
        Status::Queued | Status::Running | Status::Waiting(_) => true,
        Status::Completed | Status::Failed | Status::Cancelled => false,
    }
}

fn waits(
    workspace: &mut Workspace<'_>,
    run: &RunSummary,
    now: Time,
    turns: &mut BTreeMap<String, RunId>,
) -> Result<Waits, Failure> {
    let held = workspace.store.lease(&run.id)?;
    if let (Some(held), Some(by)) = (held.as_ref(), lease_holder::driver(held.as_ref())) {
        let note = WaitNote::read(&workspace.state, &run.id, held);
        if run.status == Status::Queued {
            turns.insert(run.worktree.clone(), run.id.clone());
        }
        return Ok(Waits::Driven { by, note });
    }
    match &run.status {
        Status::Waiting(why) => Ok(Waits::Person(why.clone())),
        Status::Queued => queued(workspace, run, now, turns),
        Status::Running => begun(workspace, run),
        Status::Completed | Status::Failed | Status::Cancelled => Ok(Waits::Worker),
    }
}

/// A run that has begun goes on when nobody else works in its tree.
fn begun(workspace: &Workspace<'_>, run: &RunSummary) -> Result<Waits, Failure> {
    let Some(stored) = workspace.store.run(&run.id)? else {
        return Ok(Waits::Worker);
    };
    let other = tree_turn::at_work(workspace, &run.id, stored.worktree())?;
    Ok(other.map_or(Waits::Worker, Waits::Tree))
}

/// Of one folder the next run is taken up when the one before it was: they keep their order. A run whose time
/// has not come holds nobody up.
fn queued(
    workspace: &mut Workspace<'_>,
    run: &RunSummary,
    now: Time,
    turns: &mut BTreeMap<String, RunId>,
) -> Result<Waits, Failure> {
    let settings = DriveSettings::load(&workspace.state, &run.id)?;
    if let Some(time) = settings.not_before.filter(|time| *time > now) {
        return Ok(Waits::Until(time));
    }
    let Some(opened) = workspace.find(&run.id)? else {
        return Ok(Waits::Worker);
    };
    // A run with a branch of its own is in nobody's way.
    if opened.run().place.is_some() {
        return Ok(Waits::Worker);
    }
    if let Some(earlier) = turns.get(&run.worktree) {
        return Ok(Waits::Turn(earlier.clone()));
    }
    turns.insert(run.worktree.clone(), run.id.clone());
    if let Some(holder) = tree_turn::holder(workspace, &run.id, &run.worktree)? {
        return Ok(Waits::Tree(holder.run));
    }
    let definition = opened.pipeline.definition();
    let found = path_collision::find(workspace, definition, opened.run(), &run.worktree)?;
    Ok(match found {
        Some(Collision { run, path }) => Waits::SameFiles { run, path },
        None => Waits::Worker,
    })
}
