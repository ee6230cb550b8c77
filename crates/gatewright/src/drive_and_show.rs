//! Drives a run at the terminal: shows the progress, and prints the status at the end.

use engine::{DeliveryState, Driver, RunId, Status};
use runner::delivery::{self, DeliveryEnd};
use runner::drive_options::DriveEnd;
use runner::drive_options::DriveOptions;
use runner::drive_run;
use runner::progress;
use runtime::clock;
use runtime::context::Context;
use runtime::facts::RunReader;
use runtime::failure::Failure;
use runtime::lease_holder;
use runtime::undelivered;
use runtime::workspace::{OpenRun, Workspace};
use store::Backend as _;

use crate::exit::Exit;
use crate::output::{Format, Output};
use crate::progress_view::{self, StagesBefore};

/// Drives a run, shows the progress, and prints the status at the end.
pub(crate) fn drive(
    context: &Context,
    output: &mut Output,
    run: &RunId,
    options: &DriveOptions,
) -> Result<Exit, Failure> {
    let mut workspace = Workspace::for_writing(context)?;
    let opened = workspace.read(run)?;
    is_headless(&opened)?;
    // Do not report the end twice.
    let over = engine::is_over(&opened.pipeline, opened.run());
    if over && opened.run().dispatches.is_empty() {
        let left = DriveEnd::Over(engine::status(&opened.pipeline, opened.run()));
        // Its orchestrator may have been killed before it delivered the work.
        let left = match delivery::deliver(&mut workspace, run, &options.stop)? {
            DeliveryEnd::Stopped => DriveEnd::Stopped,
            DeliveryEnd::Nothing | DeliveryEnd::Done(_) | DeliveryEnd::Failed(_) => left,
        };
        return ended(output, &mut workspace, run, left);
    }
    let before = stages_before(&workspace, &opened)?;
    let left = {
        let mut watcher = progress_view::watcher(output, context, before);
        drive_run::drive(&mut workspace, run, options, watcher.as_mut())
    };
    let left = left.map_err(|failure| left_open(&mut workspace, run, failure))?;
    ended(output, &mut workspace, run, left)
}

/// A run that nobody drives any more is still open, and holds its tree.
fn left_open(workspace: &mut Workspace<'_>, run: &RunId, failure: Failure) -> Failure {
    let held = workspace.store.lease(run).ok().flatten();
    let is_driven = lease_holder::driver(held.as_ref()).is_some();
    let opened = workspace.read(run).ok();
    let is_open = opened.is_some_and(|it| !engine::is_over(&it.pipeline, it.run()));
    if is_driven || !is_open {
        return failure;
    }
    failure.hint(format!(
        "{run} is still open: `gatewright resume {run}` continues it, `gatewright cancel {run} --reason WHY` ends it"
    ))
}

/// Tells how the run was left. A completed run whose work could not be delivered needs somebody.
fn ended(
    output: &mut Output,
    workspace: &mut Workspace<'_>,
    run: &RunId,
    left: DriveEnd,
) -> Result<Exit, Failure> {
    let opened = workspace.read(run)?;
    let left = settled(workspace, &opened, left);
    tell(output, &opened, &left)?;
    let place = opened.run().place.as_ref();
    let is_undelivered =
        place.is_some_and(|place| matches!(place.delivery, DeliveryState::Failed { .. }));
    Ok(match exit(&left) {
        Exit::Success if is_undelivered => Exit::No,
        exit => exit,
    })
}

/// A signal that came when the run was over has stopped nothing, unless its work was to be delivered.
fn settled(workspace: &Workspace<'_>, opened: &OpenRun, left: DriveEnd) -> DriveEnd {
    let is_over = engine::is_over(&opened.pipeline, opened.run());
    let delivers = || undelivered::of(&workspace.state, opened).is_some();
    if left == DriveEnd::Stopped && is_over && !delivers() {
        return DriveEnd::Over(engine::status(&opened.pipeline, opened.run()));
    }
    left
}

fn is_headless(opened: &OpenRun) -> Result<(), Failure> {
    let run = &opened.run().id;
    let how = match opened.run().driver {
        Driver::Headless => return Ok(()),
        Driver::ByHand => "by hand: type `gatewright report` when an agent has finished",
        Driver::Guarded => "by its session: continue there",
    };
    Err(Failure::refused(format!("{run} is driven {how}"))
        .hint(format!("`gatewright next {run}` shows what comes next")))
}

/// The stages that the run has been in.
fn stages_before(workspace: &Workspace<'_>, opened: &OpenRun) -> Result<StagesBefore, Failure> {
    let mut entries = Vec::new();
    workspace
        .store
        .walk(&opened.run().id, u64::MAX, &mut |stored| {
            entries.push(stored.entry.clone());
            Ok(())
        })?;
    Ok(StagesBefore {
        visited: progress::visited(&entries),
        spent: RunReader::new(opened.run().id.clone()).spent(workspace, opened)?,
    })
}

fn tell(output: &mut Output, opened: &OpenRun, left: &DriveEnd) -> Result<(), Failure> {
    let run = &opened.run().id;
    let (line, hint) = match left {
        DriveEnd::Over(status) => (format!("{run} {}", status.word()), None),
        DriveEnd::Waiting(why) => (
            format!("{run} waits for a person: {}", views::line(why)),
            Some(format!(
                "`gatewright next {run}` shows what you can do; then `gatewright resume {run}`"
            )),
        ),
        DriveEnd::Limited { until, why } => (
            format!(
                "{run} rests until {}: {}",
                views::time::moment(*until, clock::now()),
                views::line(why)
            ),
            Some(format!("`gatewright resume {run}` continues it")),
        ),
        DriveEnd::Stopped if engine::is_over(&opened.pipeline, opened.run()) => (
            format!("{run} completed, and its delivery was stopped"),
            Some(format!("`gatewright deliver {run}` delivers its work")),
        ),
        DriveEnd::Stopped => (
            format!("{run} stopped"),
            Some(format!("`gatewright resume {run}` continues it")),
        ),
    };
    if output.format() == Format::Text {
        output.text(&format!("{line}\n"))?;
        if let Some(hint) = hint {
            output.say(&hint);
        }
    }
    Ok(())
}

pub(crate) fn exit(left: &DriveEnd) -> Exit {
    match left {
        DriveEnd::Over(Status::Completed) => Exit::Success,
        DriveEnd::Over(_) => Exit::No,
        DriveEnd::Waiting(_) | DriveEnd::Limited { .. } => Exit::Waiting,
        DriveEnd::Stopped => Exit::Interrupted,
    }
}
