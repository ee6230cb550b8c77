//! Drives a run at the terminal: shows the progress, and prints the status at the end.

use engine::{Driver, RunId, Status};
use runner::drive_options::DriveEnd;
use runner::drive_options::DriveOptions;
use runner::drive_run;
use runner::progress;
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::workspace::{OpenRun, Workspace};
use store::Backend as _;

use crate::exit::Exit;
use crate::output::{Format, Output};
use crate::progress_view;

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
        tell(output, &opened, &left)?;
        return Ok(exit(&left));
    }
    let visited = visited(&workspace, &opened)?;
    let left = {
        let mut watcher = progress_view::watcher(output, &context.environment, visited);
        drive_run::drive(&mut workspace, run, options, watcher.as_mut())?
    };
    let opened = workspace.read(run)?;
    tell(output, &opened, &left)?;
    Ok(exit(&left))
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
fn visited(workspace: &Workspace<'_>, opened: &OpenRun) -> Result<Vec<engine::StageName>, Failure> {
    let mut entries = Vec::new();
    workspace
        .store
        .walk(&opened.run().id, u64::MAX, &mut |stored| {
            entries.push(stored.entry.clone());
            Ok(())
        })?;
    Ok(progress::visited(&entries))
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
        DriveEnd::Waiting(_) => Exit::Waiting,
        DriveEnd::Stopped => Exit::Interrupted,
    }
}
