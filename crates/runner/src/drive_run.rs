//! Drives one run: takes its lease, orchestrates it, and sends notices at the end.

use std::sync::Arc;

use engine::{Delivered, Run, RunId, Status};
use runtime::clock;
use runtime::failure::Failure;
use runtime::state::State;
use runtime::workspace::Workspace;

use super::delivery::{self, DeliveryEnd};
use super::drive_failure::DriveFailure;
use super::drive_options::{DriveEnd, DriveOptions};
use super::lease::Lease;
use super::notices::Notices;
use super::orchestrator::Orchestrator;
use super::progress::Watcher;

/// Takes the lease of a run, drives it, and sends notices to the targets of its settings.
pub fn drive(
    workspace: &mut Workspace<'_>,
    run: &RunId,
    options: &DriveOptions,
    watcher: &mut dyn Watcher,
) -> Result<DriveEnd, Failure> {
    let lease = Arc::new(Lease::take(workspace, run)?);
    drive_under(workspace, &lease, run, options, watcher)
}

/// The same under a lease that the caller has.
pub fn drive_under(
    workspace: &mut Workspace<'_>,
    lease: &Arc<Lease>,
    run: &RunId,
    options: &DriveOptions,
    watcher: &mut dyn Watcher,
) -> Result<DriveEnd, Failure> {
    let mut notices = Notices::default();
    let lease_of_drive = Arc::clone(lease);
    let left = Orchestrator::new(
        workspace,
        lease_of_drive,
        run,
        options,
        watcher,
        &mut notices,
    )
    .and_then(Orchestrator::drive);
    workspace.fence = None;
    note_failure(&workspace.state, run, left.as_ref().err());
    let left = left?;
    let delivery = match &left {
        DriveEnd::Over(_) => {
            // Files that cannot be listed hold up no delivery.
            if let Ok(Some(left)) = delivery::tell_left(workspace, run) {
                watcher.remark(&left);
            }
            delivery::deliver_under(workspace, lease, run, &options.stop)?
        }
        DriveEnd::Waiting(_) | DriveEnd::Limited { .. } | DriveEnd::Stopped => DeliveryEnd::Nothing,
    };
    let opened = workspace.read(run)?;
    tell_delivery(&delivery, opened.run(), watcher);
    if delivery == DeliveryEnd::Stopped {
        return Ok(DriveEnd::Stopped);
    }
    let status = match &left {
        DriveEnd::Waiting(why) => Status::Waiting(why.clone()),
        DriveEnd::Over(_) | DriveEnd::Limited { .. } | DriveEnd::Stopped => {
            engine::status(&opened.pipeline, opened.run())
        }
    };
    notices.tell(workspace, &opened, &status, watcher)?;
    Ok(left)
}

/// `queue` says why a run could not be driven.
fn note_failure(state: &State, run: &RunId, failure: Option<&Failure>) {
    match failure {
        Some(failure) => {
            let (at, why) = (clock::now(), failure.to_string());
            DriveFailure { at, why }.write(state, run);
        }
        None => DriveFailure::clear(state, run),
    }
}

fn tell_delivery(delivery: &DeliveryEnd, run: &Run, watcher: &mut dyn Watcher) {
    let id = &run.id;
    match delivery {
        DeliveryEnd::Nothing => {}
        DeliveryEnd::Stopped => watcher.remark(&format!(
            "stopped: the run is done, and its work is not delivered yet; `gatewright deliver {id}` delivers it"
        )),
        DeliveryEnd::Done(delivered) => watcher.remark(&handed_over(delivered, run)),
        DeliveryEnd::Failed(reason) => watcher.remark(&format!(
            "the run is done, but its work could not be delivered: {reason}; `gatewright deliver {id}` repeats it"
        )),
    }
}

/// Where the work is now, and what a person may do with it.
fn handed_over(delivered: &Delivered, run: &Run) -> String {
    let Some(branch) = run.place.as_ref().map(|place| &place.branch) else {
        return views::delivered(delivered);
    };
    if delivered.commit == branch.base {
        return "the run changed no file, so there is nothing to deliver".to_owned();
    }
    let (text, name) = (views::delivered(delivered), views::line(&branch.name));
    match &delivered.request {
        Some(_) => format!("{text}, branch {name}"),
        None => format!(
            "{text}, branch {name}; `gatewright merge {}` brings it into your tree",
            run.id
        ),
    }
}
