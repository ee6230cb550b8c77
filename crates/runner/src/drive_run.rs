//! Drives one run: takes its lease, orchestrates it, and sends notices at the end.

use engine::{RunId, Status};
use runtime::failure::Failure;
use runtime::workspace::Workspace;

use super::delivery::{self, DeliveryEnd};
use super::drive_options::{DriveEnd, DriveOptions};
use super::notices;
use super::orchestrator::Orchestrator;
use super::progress::Watcher;

/// Drives a run, and sends notices to the targets of its settings.
pub fn drive(
    workspace: &mut Workspace<'_>,
    run: &RunId,
    options: &DriveOptions,
    watcher: &mut dyn Watcher,
) -> Result<DriveEnd, Failure> {
    let left = Orchestrator::new(workspace, run, options, watcher)?.drive();
    workspace.fence = None;
    let left = left?;
    let delivery = match &left {
        DriveEnd::Over(_) => {
            // Files that cannot be listed hold up no delivery.
            if let Ok(Some(left)) = delivery::tell_left(workspace, run) {
                watcher.remark(&left);
            }
            delivery::deliver(workspace, run)?
        }
        DriveEnd::Waiting(_) | DriveEnd::Limited { .. } | DriveEnd::Stopped => DeliveryEnd::Nothing,
    };
    tell_delivery(&delivery, run, watcher);
    let opened = workspace.read(run)?;
    let status = match &left {
        DriveEnd::Waiting(why) => Status::Waiting(why.clone()),
        DriveEnd::Over(_) | DriveEnd::Limited { .. } | DriveEnd::Stopped => {
            engine::status(&opened.pipeline, opened.run())
        }
    };
    notices::tell(workspace, &opened, &status, watcher)?;
    Ok(left)
}

fn tell_delivery(delivery: &DeliveryEnd, run: &RunId, watcher: &mut dyn Watcher) {
    match delivery {
        DeliveryEnd::Nothing => {}
        DeliveryEnd::Done(delivered) => watcher.remark(&views::delivered(delivered)),
        DeliveryEnd::Failed(reason) => watcher.remark(&format!(
            "the run is done, but its work could not be delivered: {reason}; `gatewright deliver {run}` repeats it"
        )),
    }
}
