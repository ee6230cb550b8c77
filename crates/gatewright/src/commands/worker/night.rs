//! The summary with which a worker ends: what became of every run that it drove.

use std::collections::BTreeMap;

use engine::{RunId, Seconds, Status};
use runner::drive_options::DriveEnd;
use runner::queue;
use runner::untold_runs::UntoldRuns;
use runtime::clock;
use runtime::context::Context;
use runtime::facts::RunReader;
use runtime::failure::Failure;
use runtime::lease_holder;
use runtime::workspace::{OpenRun, Workspace};
use store::Backend as _;
use views::Untrusted;
use views::night::{Night, NightResult, NightRow};

use crate::commands::queue::reason;
use crate::output::Output;

/// How driving each run ended the last time.
pub(super) type Ends = BTreeMap<RunId, Result<DriveEnd, String>>;

/// Prints the summary; nothing if there was nothing to do.
pub(super) fn tell(
    context: &Context,
    output: &mut Output,
    mut untold: UntoldRuns,
    ends: &Ends,
    lasted: Seconds,
) -> Result<(), Failure> {
    let Some(mut workspace) = Workspace::if_exists(context)? else {
        return Ok(());
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
    if !rows.is_empty() {
        let night = Night { rows, lasted };
        output.facts(|paint| night.text(paint), || night.json())?;
    }
    untold.set_told();
    Ok(())
}

/// The same about the runs that this process drove, and no others.
#[cfg(feature = "fleet")]
pub(super) fn tell_driven(
    context: &Context,
    output: &mut Output,
    ends: &Ends,
    lasted: Seconds,
) -> Result<(), Failure> {
    let mut workspace = Workspace::for_reading(context)?;
    let mut rows = Vec::new();
    for (run, end) in ends {
        if let Some(opened) = workspace.find(run)? {
            rows.push(row(&workspace, &opened, Some(end))?);
        }
    }
    if rows.is_empty() {
        return Ok(());
    }
    let night = Night { rows, lasted };
    output.facts(|paint| night.text(paint), || night.json())
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
        if is_known(&summary.id) || summary.status != Status::Queued {
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
    let took = reader.read_opened(workspace, opened, clock::now())?.took();
    let id = &run.id;
    let because = || views::night::reason(&opened.pipeline, run);
    let typed = |command: &str| Some(format!("gatewright {command} {id}"));
    let status = engine::status(&opened.pipeline, run);
    let (result, reason, command) = match (status, end) {
        (Status::Completed, _) => {
            let merges = branch(opened).and_then(|_| typed("merge"));
            (NightResult::Done, None, merges)
        }
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
            (NightResult::NotDone, None, typed("resume"))
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
        command,
    })
}

/// The branch with the work of this run. A run in the tree of the project has none.
fn branch(opened: &OpenRun) -> Option<String> {
    let place = opened.run().place.as_ref();
    place.map(|place| place.branch.name.clone())
}
