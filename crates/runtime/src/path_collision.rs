//! Collisions: two active runs of one worktree must not write artifacts or views to the same path.

use std::collections::BTreeSet;

use engine::{Definition, Run, RunId, Source, Status, StepId};
use evidence::{InsidePath, artifact_path};
use store::{Backend, RunSummary};

use crate::failure::Failure;
use crate::find_run;
use crate::workspace::Workspace;

/// Refuses a new run that would write to a path of an active run of this worktree.
pub fn refuse(
    workspace: &mut Workspace<'_>,
    definition: &Definition,
    run: &Run,
    worktree: &str,
) -> Result<(), Failure> {
    let Some(Collision { run: other, path }) = find(workspace, definition, run, worktree)? else {
        return Ok(());
    };
    let message = format!("run {other} is active here and writes {path}");
    Err(Failure::refused(message).hint(format!(
        "finish or cancel it, use another worktree, or put {{run}} into the path; \
         `gatewright status {other}` shows it"
    )))
}

/// An active run of the same worktree that writes to the same path.
pub struct Collision {
    pub run: RunId,
    pub path: String,
}

/// The first active run of this worktree that writes to a path of this run.
pub fn find(
    workspace: &mut Workspace<'_>,
    definition: &Definition,
    run: &Run,
    worktree: &str,
) -> Result<Option<Collision>, Failure> {
    let wanted = paths(definition, run)?;
    let active = workspace.store.runs(None)?;
    let active = active.into_iter();
    // A queued run has not started: it is checked when it is taken up.
    let begun = |other: &RunSummary| other.status != Status::Queued && other.id != run.id;
    for other in active.filter(find_run::is_active).filter(begun) {
        let Some(stored) = workspace.store.run(&other.id)? else {
            continue;
        };
        if stored.worktree() != worktree {
            continue;
        }
        let pipeline = workspace.pipeline(stored.run.definition)?;
        let taken = paths(pipeline.definition(), &stored.run)?;
        if let Some(path) = wanted.intersection(&taken).next() {
            return Ok(Some(Collision {
                run: other.id,
                path: path.as_str().to_owned(),
            }));
        }
    }
    Ok(None)
}

/// The paths of a run's artifacts and views. A path with a step in it covers those of all steps.
pub(crate) fn paths(definition: &Definition, run: &Run) -> Result<BTreeSet<InsidePath>, Failure> {
    let any_step = StepId::parse("step").ok();
    let artifacts = definition.artifacts.iter();
    let artifacts = artifacts.filter_map(|(name, artifact)| match &artifact.source {
        Source::File(template) => Some((format!("the artifact {name}"), template)),
        Source::Reply | Source::Answers => None,
    });
    let views = definition.views.iter();
    let views = views.map(|view| (format!("the view {}", view.format.name()), &view.path));
    let filled = artifacts.chain(views).map(|(what, template)| {
        artifact_path(template, definition, run, any_step.as_ref()).map_err(|reason| {
            Failure::refused(format!("the path of {what} is not usable: {reason}"))
        })
    });
    filled.collect()
}
