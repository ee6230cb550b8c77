//! Removes the worktrees of runs that are over. Their branches stay, with all of their work.

use std::fs;
use std::path::Path;

use engine::{RunId, Status};
use evidence::{Project, Repository};
use runtime::failure::Failure;
use runtime::workspace::{OpenRun, Workspace};
use runtime::{ids, lease_holder, run_branch, undelivered};
use store::Backend as _;

use crate::delivery;
use crate::merge_branch::BroughtBack;
use crate::run_place::{self, Checkout, left_files};

/// Removes all that can be removed, and returns the runs whose worktrees are gone now.
pub fn collect(workspace: &mut Workspace<'_>) -> Result<Vec<RunId>, Failure> {
    let mut removed = Vec::new();
    for run in placed_runs(workspace) {
        // One that cannot be removed does not keep the others. What somebody delivers now needs its worktree.
        if matches!(is_free(workspace, &run), Ok(true))
            && matches!(collect_one(workspace, &run), Ok(true))
        {
            removed.push(run);
        }
    }
    Ok(removed)
}

fn placed_runs(workspace: &Workspace<'_>) -> Vec<RunId> {
    let listed = fs::read_dir(run_branch::places(&workspace.state));
    let names = listed.into_iter().flatten().filter_map(Result::ok);
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    let runs = names.filter_map(|name| RunId::parse(&name).ok());
    // The store of this machine does not know the runs of a fleet, nor the other way round.
    let is_fleet = workspace.context.fleet().is_some();
    runs.filter(|run| ids::is_of_fleet(run) == is_fleet)
        .collect()
}

/// Is there something to remove, and does no process drive the run or deliver its work?
fn is_free(workspace: &Workspace<'_>, run: &RunId) -> Result<bool, Failure> {
    let held = match workspace.store.lease(run) {
        // The run was deleted.
        Err(store::Error::UnknownRun { .. }) => return Ok(true),
        held => held?,
    };
    let is_free = held.is_none_or(|held| lease_holder::is_abandoned(&held));
    Ok(is_free && !run_place::is_cleared(&workspace.state, run))
}

/// Removes the worktree of a run whose work the person has merged, and all that was kept for that, unless something did
/// not come back.
pub fn collect_merged(
    workspace: &mut Workspace<'_>,
    run: &RunId,
    back: &BroughtBack,
) -> Result<(), Failure> {
    collect_one(workspace, run)?;
    if back.left.is_empty() {
        return run_place::forget(&workspace.state, run);
    }
    undelivered::note_settled(&workspace.state, run);
    run_place::forget_carried(&workspace.state, run)
}

/// Removes the worktree of a run that is over, after its work is kept on its branch.
fn collect_one(workspace: &mut Workspace<'_>, run: &RunId) -> Result<bool, Failure> {
    let Some(opened) = workspace.find(run)? else {
        return run_place::remove_unknown(&workspace.state, run);
    };
    if !engine::is_over(&opened.pipeline, opened.run()) {
        return Ok(false);
    }
    run_place::forget_kept(&workspace.state, run)?;
    if opened.has_project() && opened.run().place.is_some() {
        delivery::keep_work(workspace, &opened)?;
        left_files::keep(workspace, &opened)?;
    }
    run_place::note_kept(&workspace.state, run)?;
    let Some(home) = home_of(workspace, &opened)? else {
        return Ok(false);
    };
    let had_worktree = run_place::remove(&workspace.state, run, &home)?;
    note_undelivered(workspace, &opened, &home)?;
    if !may_be_delivered(&opened) {
        run_place::forget_carried(&workspace.state, run)?;
    }
    Ok(had_worktree)
}

/// A delivery from the branch needs the list of what came along.
fn may_be_delivered(opened: &OpenRun) -> bool {
    let is_completed = engine::status(&opened.pipeline, opened.run()) == Status::Completed;
    let place = opened.run().place.as_ref();
    is_completed && place.is_some_and(|place| place.delivered().is_none())
}

/// The tree in which a run was started. If that is gone, it stands for the repository, which the worktree of the run
/// shows; without that either, nothing is left to remove.
fn home_of(workspace: &Workspace<'_>, opened: &OpenRun) -> Result<Option<Project>, Failure> {
    let root = Path::new(&opened.stored.home);
    if workspace.store.fleet().is_some() || root.is_dir() {
        return workspace.home_of(opened).map(Some);
    }
    let worktree = workspace.project_of(opened).ok();
    let repository = worktree.and_then(|worktree| worktree.repository);
    Ok(repository.map(|repository| Project {
        root: root.to_owned(),
        key: opened.stored.project.clone(),
        repository: Some(Repository {
            git_dir: repository.common_dir.clone(),
            ..repository
        }),
    }))
}

/// The work of a run that could not be delivered is on its branch: it is still to be delivered, unless the branch is
/// gone, too.
fn note_undelivered(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    home: &Project,
) -> Result<(), Failure> {
    let (Some(place), Some(lacking)) = (
        &opened.run().place,
        undelivered::of(&workspace.state, opened),
    ) else {
        return Ok(());
    };
    if Checkout::of(home)?
        .branch_tip(&place.branch.name)?
        .is_none()
    {
        return Ok(());
    }
    let (state, run) = (&workspace.state, &opened.run().id);
    match lacking.reason {
        Some(_) => undelivered::note_failed(state, run),
        None => undelivered::note_open(state, run),
    }
}
