//! Files that a killed orchestrator left: worktrees, locks of git and records of work that nobody does any more.

use std::fs;

use engine::CallId;
use runtime::claim;
use runtime::failure::Failure;
use runtime::workspace::{OpenRun, Workspace};

use super::step_folder;
use crate::run_place::{half_made, stale_locks};
use crate::worktree::{Worktree, Worktrees};
use runtime::work_record::Record;

/// Removes them, and completes an interrupted merge.
///
/// Invariant: we hold the lease and no worker of the run is at work.
pub(crate) fn remove(workspace: &Workspace<'_>, opened: &OpenRun) -> Result<(), Failure> {
    remove_locks(workspace, opened)?;
    remove_worktrees(workspace, opened)?;
    remove_records(workspace, opened);
    Ok(())
}

fn remove_locks(workspace: &Workspace<'_>, opened: &OpenRun) -> Result<(), Failure> {
    let project = workspace.project_of(opened)?;
    let Some(repository) = &project.repository else {
        return Ok(());
    };
    half_made::remove(&repository.common_dir, workspace.state.folder());
    let place = opened.run().place.as_ref();
    let branch = place.map(|place| place.branch.name.as_str());
    stale_locks::remove(repository, &opened.run().id, branch);
    if place.is_some() {
        stale_locks::remove_in_worktree(repository, &project.root);
    }
    Ok(())
}

fn remove_worktrees(workspace: &Workspace<'_>, opened: &OpenRun) -> Result<(), Failure> {
    let root = workspace.project_of(opened)?.root;
    let worktrees = Worktrees::new(&workspace.state, &root, &opened.run().id);
    if !worktrees.are_there() {
        return Ok(());
    }
    worktrees.prune()?;
    let all = worktrees.list()?.into_iter();
    let left = all.filter(|worktree| worktree.folder.is_dir());
    for worktree in left.filter(|worktree| !is_of_open_work(opened, worktree)) {
        // Its work was judged before the worktree could be removed, or was never admitted.
        worktrees
            .discard(&worktree)
            .or_else(|_| worktrees.archive(&worktree))?;
    }
    Ok(())
}

fn is_of_open_work(opened: &OpenRun, worktree: &Worktree) -> bool {
    let mut calls = open_calls(opened);
    calls.any(|call| step_folder::belongs_to(worktree, call))
}

fn remove_records(workspace: &Workspace<'_>, opened: &OpenRun) {
    let listed = fs::read_dir(claim::folder(&workspace.state))
        .into_iter()
        .flatten();
    let names = listed.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let names = names.filter_map(|name| Some(name.strip_suffix(".json")?.to_owned()));
    for call in names.filter_map(|name| CallId::parse(&name).ok()) {
        let record = Record::read(&workspace.state, &call);
        let is_ours = record.is_some_and(|record| record.run == opened.run().id);
        if is_ours && !open_calls(opened).any(|open| *open == call) {
            claim::remove(&workspace.state, &call);
        }
    }
}

fn open_calls(opened: &OpenRun) -> impl Iterator<Item = &CallId> {
    let open = opened.run().dispatches.values();
    open.filter_map(|open| open.call.as_ref())
}
