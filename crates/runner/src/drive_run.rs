//! Drives one run: takes its lease, orchestrates it, and sends a notice at the end.

use engine::RunId;
use runtime::drive_settings::DriveSettings;
use runtime::failure::Failure;
use runtime::notify_target::NotifyTarget;
use runtime::transact;
use runtime::workspace::Workspace;

use super::drive_options::{DriveEnd, DriveOptions};
use super::notify;
use super::orchestrator::Orchestrator;
use super::progress::Watcher;

/// Drives a run, and sends a notice if its settings name a target.
pub fn drive(
    workspace: &mut Workspace<'_>,
    run: &RunId,
    options: &DriveOptions,
    watcher: &mut dyn Watcher,
) -> Result<DriveEnd, Failure> {
    let left = Orchestrator::new(workspace, run, options, watcher)?.drive();
    workspace.fence = None;
    let left = left?;
    let target = DriveSettings::load(&workspace.state, run)?.notify;
    let target = target.and_then(|target| NotifyTarget::parse(&target).ok());
    let opened = workspace.read(run)?;
    let status = engine::status(&opened.pipeline, opened.run());
    let waits = matches!(left, DriveEnd::Waiting(_));
    if let Some(target) = target.filter(|_| waits || notify::is_worth_a_notice(&status))
        && let Err(message) = notify::send(workspace, &opened, &target)
    {
        watcher.remark(&message);
        transact::remark(workspace, opened, None, &message)?;
    }
    Ok(left)
}
