//! Drives one run: takes its lease, orchestrates it, and sends a notice of how it stands.

use engine::RunId;
use runtime::drive_settings::DriveSettings;
use runtime::failure::Failure;
use runtime::notify_target::NotifyTarget;
use runtime::transact;
use runtime::workspace::Workspace;

use super::drive_options::{DriveOptions, LeftOff};
use super::notify;
use super::orchestrator::Orchestrator;
use super::progress::Watcher;

/// Drives a run, and tells whoever wants a notice of what came of it.
pub fn drive(
    workspace: &mut Workspace<'_>,
    run: &RunId,
    options: &DriveOptions,
    watcher: &mut dyn Watcher,
) -> Result<LeftOff, Failure> {
    let left = Orchestrator::new(workspace, run, options, watcher)?.drive();
    workspace.fence = None;
    let left = left?;
    let target = DriveSettings::of(&workspace.state, run)?.notify;
    let target = target.and_then(|target| NotifyTarget::parse(&target).ok());
    let opened = workspace.read(run)?;
    let status = engine::status(&opened.pipeline, opened.run());
    let waits = matches!(left, LeftOff::Waiting(_));
    if let Some(target) = target.filter(|_| waits || notify::is_told(&status))
        && let Err(message) = notify::send(workspace, &opened, &target)
    {
        watcher.remark(&message);
        transact::remark(workspace, opened, None, &message)?;
    }
    Ok(left)
}
