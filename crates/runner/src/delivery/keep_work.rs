//! The work of a run that delivers nothing, kept on its branch: nobody looks for it in vain when its worktree is gone.

use engine::{RunId, Status};
use runtime::failure::Failure;
use runtime::workspace::{OpenRun, Workspace};
use runtime::{lease_holder, transact};
use store::{Backend as _, Key};

use super::belongings::Belongings;
use super::commit;
use super::texts::{self, Texts};
use crate::lease::Lease;
use crate::run_place::left_files;

/// Commits the work of a failed or cancelled run that nobody drives any more. What cannot be committed stays in the
/// worktree, and the history says why.
pub fn keep_ended(workspace: &mut Workspace<'_>, run: &RunId) -> Result<(), Failure> {
    let opened = workspace.read(run)?;
    let is_driven = lease_holder::driver(workspace.store.lease(run)?.as_ref()).is_some();
    if is_driven || !has_left_work(workspace, &opened) {
        return Ok(());
    }
    let lease = Lease::take(workspace, run)?;
    keep_left(workspace, &lease, opened)
}

/// The same under a lease that the caller has.
pub(super) fn keep_under(
    workspace: &mut Workspace<'_>,
    lease: &Lease,
    run: &RunId,
) -> Result<(), Failure> {
    let opened = workspace.read(run)?;
    if !has_left_work(workspace, &opened) {
        return Ok(());
    }
    keep_left(workspace, lease, opened)
}

fn keep_left(workspace: &mut Workspace<'_>, lease: &Lease, opened: OpenRun) -> Result<(), Failure> {
    workspace.fence = Some(lease.fence);
    let told = match keep_work(workspace, &opened) {
        Ok(_) => Ok(()),
        Err(failure) => {
            let why = views::line(&failure.to_string());
            let message = format!("the work of the run is not on its branch yet: {why}");
            transact::remark(workspace, opened, None, &message).map(drop)
        }
    };
    workspace.fence = None;
    told
}

fn has_left_work(workspace: &Workspace<'_>, opened: &OpenRun) -> bool {
    let is_ended = match engine::status(&opened.pipeline, opened.run()) {
        Status::Failed | Status::Cancelled => true,
        Status::Queued | Status::Running | Status::Waiting(_) | Status::Completed => false,
    };
    let place = opened.run().place.as_ref();
    let is_here = opened.has_project() && !workspace.is_elsewhere(opened);
    is_ended && is_here && place.is_some_and(|place| place.folder.is_some())
}

/// Says once which ignored files a run on a branch leaves that neither its branch has nor `merge` brings back.
pub fn tell_left(workspace: &mut Workspace<'_>, run: &RunId) -> Result<Option<String>, Failure> {
    let opened = workspace.read(run)?;
    let place = opened.run().place.clone();
    let Some(folder) = place.and_then(|place| place.folder) else {
        return Ok(None);
    };
    let is_over = engine::is_over(&opened.pipeline, opened.run());
    if !is_over || !opened.has_project() || workspace.is_elsewhere(&opened) {
        return Ok(None);
    }
    let left = left_files::of_run(workspace, &opened)?;
    if left.is_empty() {
        return Ok(None);
    }
    let message = format!(
        "ignored files are not on the run's branch: {} in {folder}; `carry_back` in the pipeline names what \
         `gatewright merge` brings back",
        left_files::named(&left)
    );
    let key = Key::parse(&format!("left-{run}-{}", opened.run().position.visit)).ok();
    let told = transact::remark(workspace, opened, key.as_ref(), &message)?;
    Ok((!told.repeated).then_some(message))
}

/// Commits whatever a run left that was not delivered, so that its worktree can be removed.
pub fn keep_work(workspace: &Workspace<'_>, opened: &OpenRun) -> Result<Option<String>, Failure> {
    let Some(place) = &opened.run().place else {
        return Ok(None);
    };
    let Ok(project) = workspace.project_of(opened) else {
        return Ok(None);
    };
    let message = match engine::status(&opened.pipeline, opened.run()) {
        Status::Completed => Texts::of(workspace, opened)?.message(opened),
        Status::Failed
        | Status::Cancelled
        | Status::Queued
        | Status::Running
        | Status::Waiting(_) => texts::left_message(opened),
    };
    let belongings = Belongings::of(workspace, opened);
    commit::commit(&project, opened, place, &belongings, &message).map(Some)
}
