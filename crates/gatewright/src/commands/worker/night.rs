//! The summary with which a worker ends: what became of every run that it drove.

use std::collections::BTreeMap;

use engine::{RunId, Seconds, Status};
use runner::drive_options::DriveEnd;
use runner::queue::{self, Waits};
use runner::untold_runs::UntoldRuns;
use runtime::clock;
use runtime::context::Context;
use runtime::facts::RunReader;
use runtime::failure::Failure;
use runtime::lease_holder;
use runtime::queue_order::QueueOrder;
use runtime::undelivered;
use runtime::workspace::{OpenRun, Workspace};
use store::Backend as _;
use views::Untrusted;
use views::facts::Undelivered;
use views::night::{Night, NightResult, NightRow};

use crate::commands::queue::reason;
use crate::output::Output;

/// How driving each run ended the last time.
pub(super) type Ends = BTreeMap<RunId, Result<DriveEnd, String>>;

/// What the exit code of a worker says of the runs that are over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Handed {
    Over,
    /// The work of a completed run could not be delivered.
    NotAll,
}

/// Prints the summary; nothing if there was nothing to do.
pub(super) fn tell(
    context: &Context,
    output: &mut Output,
    mut untold: UntoldRuns,
    ends: &Ends,
    lasted: Seconds,
) -> Result<Handed, Failure> {
    let Some(mut workspace) = Workspace::if_exists(context)? else {
        return Ok(Handed::Over);
    };
    let mut rows = Vec::new();
    for (run, end) in ends {
        // A run that somebody has deleted meanwhile has no row.
        if let Some(opened) = workspace.find(run)? {
            rows.push(row(&workspace, &opened, Some(end))?);
        }
    }
    let mut earlier = untold.take_over(&workspace.state);
    earlier.retain(|run| !ends.contains_key(run));
    rows.extend(queued_rows(&mut workspace, |run| {
        ends.contains_key(run) || earlier.contains(run)
    })?);
    for run in &earlier {
        rows.extend(left_row(&mut workspace, run)?);
    }
    let handed = print(&workspace, output, rows, lasted)?;
    untold.set_told();
    Ok(handed)
}

/// The same about the runs that this process drove, and no others.
#[cfg(feature = "fleet")]
pub(super) fn tell_driven(
    context: &Context,
    output: &mut Output,
    ends: &Ends,
    lasted: Seconds,
) -> Result<Handed, Failure> {
    let mut workspace = Workspace::for_reading(context)?;
    let mut rows = Vec::new();
    for (run, end) in ends {
        if let Some(opened) = workspace.find(run)? {
            rows.push(row(&workspace, &opened, Some(end))?);
        }
    }
    print(&workspace, output, rows, lasted)
}

/// Prints the rows in the order of the queue.
fn print(
    workspace: &Workspace<'_>,
    output: &mut Output,
    mut rows: Vec<NightRow>,
    lasted: Seconds,
) -> Result<Handed, Failure> {
    if rows.is_empty() {
        return Ok(Handed::Over);
    }
    let mut runs = workspace.store.runs(None)?;
    // A damaged order is said by `queue`. The summary stands without it.
    QueueOrder::load(&workspace.state)
        .unwrap_or_default()
        .sort(&mut runs);
    let place: BTreeMap<&RunId, usize> = runs.iter().map(|run| &run.id).zip(0..).collect();
    rows.sort_by_key(|row| place.get(&row.run).copied());
    let night = Night { rows, lasted };
    output.facts(|paint| night.text(paint), || night.json())?;
    Ok(if night.has_undelivered() {
        Handed::NotAll
    } else {
        Handed::Over
    })
}

/// The runs that nobody has begun, except these.
fn queued_rows(
    workspace: &mut Workspace<'_>,
    is_known: impl Fn(&RunId) -> bool,
) -> Result<Vec<NightRow>, Failure> {
    let now = clock::now();
    let mut rows = Vec::new();
    for queued in queue::look(workspace, now)? {
        let summary = &queued.summary;
        // The process that drives it tells it.
        let is_driven = matches!(queued.waits, Waits::Driven { .. });
        if is_driven || is_known(&summary.id) || summary.status != Status::Queued {
            continue;
        }
        if let Some(opened) = workspace.find(&summary.id)? {
            let mut row = row(workspace, &opened, None)?;
            row.reason = Some(Untrusted::new(reason(&queued.waits).text(now)));
            rows.push(row);
        }
    }
    Ok(rows)
}

/// A run that an earlier worker drove, which was killed before it could tell. If another process drives it
/// now, that one tells it.
fn left_row(workspace: &mut Workspace<'_>, run: &RunId) -> Result<Option<NightRow>, Failure> {
    if lease_holder::driver(workspace.store.lease(run)?.as_ref()).is_some() {
        return Ok(None);
    }
    let opened = workspace.find(run)?;
    opened
        .map(|opened| row(workspace, &opened, None))
        .transpose()
}

fn row(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    end: Option<&Result<DriveEnd, String>>,
) -> Result<NightRow, Failure> {
    let run = opened.run();
    let mut reader = RunReader::new(run.id.clone());
    let view = reader.read_opened(workspace, opened, clock::now())?;
    let took = view.took();
    let id = &run.id;
    let because = || views::night::reason(&opened.pipeline, run);
    let typed = |command: &str| Some(format!("gatewright {command} {id}"));
    let status = engine::status(&opened.pipeline, run);
    let (result, reason, command) = match (status, end) {
        (Status::Completed, _) => completed(workspace, opened),
        (Status::Failed, _) => (NightResult::Failed, because(), typed("why")),
        (Status::Cancelled, _) => (NightResult::Cancelled, because(), None),
        (Status::Waiting(why), _) => {
            let reason = Some(Untrusted::new(why));
            (NightResult::WaitsForYou, reason, typed("next"))
        }
        (Status::Queued | Status::Running, Some(Ok(DriveEnd::Waiting(why)))) => {
            let reason = Some(Untrusted::new(why));
            (NightResult::WaitsForYou, reason, typed("next"))
        }
        (Status::Queued | Status::Running, Some(Err(failure))) => {
            let reason = Some(Untrusted::new(failure));
            (NightResult::NotDone, reason, typed("resume"))
        }
        (Status::Queued | Status::Running, Some(Ok(_)) | None) => {
            let rest = view.rest.as_ref().map(|rest| {
                let until = rest.moment();
                format!("rests until {until}: {}", rest.why.line())
            });
            let worker = rest.as_ref().map(|_| worker(workspace));
            let reason = rest.map(Untrusted::new);
            let command = worker.or_else(|| typed("resume"));
            (NightResult::NotDone, reason, command)
        }
    };
    Ok(NightRow {
        run: id.clone(),
        task: Untrusted::new(run.task.lines().next().unwrap_or_default()),
        project: Untrusted::new(&opened.stored.home),
        result,
        reason,
        used: run.used,
        took,
        branch: branch(opened).map(Untrusted::new),
        outside: run.outside.unwrap_or(0),
        command,
    })
}

/// A completed run is done when its work is handed over.
fn completed(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
) -> (NightResult, Option<Untrusted>, Option<String>) {
    let run = &opened.run().id;
    match undelivered::of(&workspace.state, opened) {
        Some(lacking) => {
            let command = Undelivered::command(run);
            (NightResult::NotDelivered, lacking.reason, Some(command))
        }
        None => {
            let merges = branch(opened).map(|_| format!("gatewright merge {run}"));
            (NightResult::Done, None, merges)
        }
    }
}

/// What goes on with a run that rests.
fn worker(workspace: &Workspace<'_>) -> String {
    let fleet = workspace.store.fleet().map_or("", |_| " --fleet");
    format!("gatewright worker{fleet}")
}

/// The branch with the work of this run. A run in the tree of the project has none, and one that has not begun has
/// made none: a branch of that name may be somebody else's.
fn branch(opened: &OpenRun) -> Option<String> {
    let place = opened.run().place.as_ref();
    let made = place.filter(|place| place.folder.is_some());
    made.map(|place| place.branch.name.clone())
}
