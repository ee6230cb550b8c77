//! Whose turn a tree is: headless runs work in one tree one after another, so that none sees the
//! half-done work of another.

use engine::{Driver, RunId, Status};
use store::{Backend as _, RunSummary};

use crate::failure::Failure;
use crate::workspace::Workspace;

/// The headless run that has begun in this tree and is not over.
pub fn holder(
    workspace: &Workspace<'_>,
    run: &RunId,
    worktree: &str,
) -> Result<Option<RunId>, Failure> {
    let has_begun = |other: &RunSummary| match other.status {
        Status::Running | Status::Waiting(_) => true,
        Status::Queued | Status::Completed | Status::Failed | Status::Cancelled => false,
    };
    let runs = workspace.store.runs(None)?.into_iter();
    let others = runs.filter(|other| {
        other.driver == Driver::Headless
            && other.worktree == worktree
            && other.id != *run
            && has_begun(other)
    });
    for other in others {
        // A run with a branch of its own works elsewhere.
        let stored = workspace.store.run(&other.id)?;
        if stored.is_some_and(|stored| stored.run.place.is_none()) {
            return Ok(Some(other.id));
        }
    }
    Ok(None)
}
