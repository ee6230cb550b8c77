//! The queue: the headless runs that are not over, in the order in which a worker takes them, and what each waits for.
//!
//! `worker` and `gatewright queue` ask the same function, so that they cannot disagree.

use std::collections::BTreeMap;

use engine::{Driver, RunId, ServiceLimit, Standing, Status, Time};
use runtime::drive_settings::DriveSettings;
use runtime::failure::Failure;
use runtime::known_limits;
use runtime::path_collision::{self, Collision};
use runtime::queue_order::QueueOrder;
use runtime::tree_turn;
use runtime::workspace::Workspace;
use store::{Backend as _, RunSummary};
use views::facts::Rest;

use crate::agent::choice::{self, Starter};
use crate::drive_failure::DriveFailure;
use crate::wait_note::WaitNote;
use runtime::caps::{self, CapReached};
use runtime::lease_holder;
use runtime::rest;

/// A headless run that is not over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedRun {
    pub summary: RunSummary,
    pub waits: Waits,
    /// Why nobody could drive it the last time.
    pub failed: Option<DriveFailure>,
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
    /// A service or a cap asks to wait; a run that has begun goes on then.
    Rest(Rest),
    /// It has not begun, and would only hit a cap or a limit that is known.
    Held { until: Time, why: String },
    /// A person must act.
    Person(String),
}

impl Waits {
    /// A cap that only a person raises holds nobody up: each run asks about it.
    fn of_cap(cap: CapReached) -> Option<Self> {
        let CapReached { what, until } = cap;
        let why = format!("{what}: `gatewright caps`");
        until.map(|until| Self::Held { until, why })
    }
}

/// Every headless run that is not over, in order.
pub fn look(workspace: &mut Workspace<'_>, now: Time) -> Result<Vec<QueuedRun>, Failure> {
    let mut runs: Vec<RunSummary> = workspace.store.runs(None)?;
    runs.retain(|run| run.driver == Driver::Headless && is_open(&run.status));
    QueueOrder::load(&workspace.state)?.sort(&mut runs);
    // The first queued run of each folder, which the others wait for.
    let mut turns: BTreeMap<String, RunId> = BTreeMap::new();
    let mut queue = Vec::new();
    let mut limits = KnownLimits::new();
    let cap = caps::reached(&workspace.state, now)?.and_then(Waits::of_cap);
    for summary in runs {
        let waits = match waits(workspace, &summary, now, &mut turns)? {
            Waits::Worker if summary.status == Status::Queued => match &cap {
                Some(cap) => cap.clone(),
                None => held_up(workspace, &summary, &mut limits, now)?,
            },
            waits => waits,
        };
        let failed = DriveFailure::read(&workspace.state, &summary.id);
        queue.push(QueuedRun {
            summary,
            waits,
            failed,
        });
    }
    Ok(queue)
}

/// What one run waits for, as the whole queue shows it.
pub fn waits_of(
    workspace: &mut Workspace<'_>,
    run: &RunId,
    now: Time,
) -> Result<Option<Waits>, Failure> {
    let summary = workspace.store.active_runs()?;
    let summary = summary.into_iter().find(|it| it.id == *run);
    match summary {
        // Those before it decide what it waits for.
        Some(summary) if summary.status == Status::Queued => {
            let mut queue = look(workspace, now)?.into_iter();
            Ok(queue.find(|it| it.summary.id == *run).map(|it| it.waits))
        }
        Some(summary) => waits(workspace, &summary, now, &mut BTreeMap::new()).map(Some),
        None => Ok(None),
    }
}

/// The limits of each project, as far as they were asked for.
type KnownLimits = BTreeMap<String, Vec<ServiceLimit>>;

/// Would a run that begins now only find that every service it could use is limited?
fn held_up(
    workspace: &mut Workspace<'_>,
    run: &RunSummary,
    known: &mut KnownLimits,
    now: Time,
) -> Result<Waits, Failure> {
    let limits = known.entry(run.project.clone());
    let limits = limits.or_insert_with(|| known_limits::of(&workspace.state, &run.project, now));
    if limits.is_empty() {
        return Ok(Waits::Worker);
    }
    let Some(opened) = workspace.find(&run.id)? else {
        return Ok(Waits::Worker);
    };
    let settings = DriveSettings::load(&workspace.state, &run.id)?;
    // What is wrong with its settings, its orchestrator says.
    let Ok(starter) = Starter::of(&settings) else {
        return Ok(Waits::Worker);
    };
    let mut begun = opened.run().clone();
    begun.standing = Standing::Going;
    begun.limits.clone_from(limits);
    let mut soonest: Option<ServiceLimit> = None;
    for choice in choice::all_due(&opened.pipeline, &begun, starter).unwrap_or_default() {
        let Err(limit) = choice.available(starter, &begun, now)? else {
            return Ok(Waits::Worker);
        };
        let is_sooner = soonest
            .as_ref()
            .is_none_or(|known| limit.until < known.until);
        soonest = if is_sooner { Some(limit) } else { soonest };
    }
    Ok(soonest.map_or(Waits::Worker, |limit| Waits::Held {
        until: limit.until,
        why: views::limit_reason(&limit),
    }))
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
        let note = note.filter(|note| note.counts_at(now));
        if run.status == Status::Queued {
            turns.insert(run.worktree.clone(), run.id.clone());
        }
        let rest = resting(workspace, run, now)?;
        return Ok(rest.map_or(Waits::Driven { by, note }, Waits::Rest));
    }
    match &run.status {
        Status::Waiting(why) => Ok(Waits::Person(why.clone())),
        Status::Queued => queued(workspace, run, now, turns),
        Status::Running => begun(workspace, run, now),
        Status::Completed | Status::Failed | Status::Cancelled => Ok(Waits::Worker),
    }
}

/// A run that has begun goes on when nobody else works in its tree.
fn begun(workspace: &Workspace<'_>, run: &RunSummary, now: Time) -> Result<Waits, Failure> {
    if let Some(rest) = resting(workspace, run, now)?.filter(|rest| rest.until > now) {
        return Ok(Waits::Rest(rest));
    }
    let Some(stored) = workspace.store.run(&run.id)? else {
        return Ok(Waits::Worker);
    };
    let other = tree_turn::at_work(workspace, &run.id, stored.worktree())?;
    Ok(other.map_or(Waits::Worker, Waits::Tree))
}

fn resting(
    workspace: &Workspace<'_>,
    run: &RunSummary,
    now: Time,
) -> Result<Option<Rest>, Failure> {
    match workspace.store.run(&run.id)? {
        Some(stored) => rest::of(workspace, &stored, &run.status, now),
        None => Ok(None),
    }
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
