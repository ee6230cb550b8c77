//! Keeps the tree of a fleet's run at the project's remote, so that another machine can go on with it.
//!
//! It is pushed before the entry that says what was done, so the machine that takes the run over has at least the
//! files that its journal speaks of.

use std::fs::File;

use engine::{RunId, Usage};
use runtime::failure::Failure;
use runtime::fleet_project::{FleetProject, KeptTree};
use runtime::run_branch;
use runtime::workspace::{OpenRun, Workspace};

use crate::delivery::Belongings;
use crate::run_place::Checkout;

/// Keeps the present tree, and notes what the run has used with what its journal does not have yet. Does nothing for a run
/// that is in no fleet.
pub(crate) fn keep(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    in_flight: Usage,
) -> Result<(), Failure> {
    let (Some(fleet), Some(fence)) = (workspace.store.fleet(), workspace.fence) else {
        return Ok(());
    };
    let run = opened.run();
    let Some(place) = run.place.as_ref().filter(|place| place.folder.is_some()) else {
        return Ok(());
    };
    // Of two workers that end at once, the later tree is noted last.
    let _turn = turn(workspace, &run.id)?;
    let project = workspace.project_of(opened)?;
    // The push replaces the tree before, and until the note that is the one which others go on with.
    let before = fleet.kept_tree(&run.id)?;
    let about = format!("The tree of {}", run.id);
    let (before, branch) = (before.as_deref(), &place.branch);
    let belongings = Belongings::of(workspace, opened);
    let paths = belongings.paths();
    let commit = run_branch::commit_of_tree(&project, &about, before, paths, &branch.base)?;
    let here = Checkout::of(&project)?;
    belongings.require_kept_back_below(&here, &commit, branch, before)?;
    let remote = FleetProject {
        folder: &project.root,
        environment: &workspace.context.environment,
    };
    remote.push(&run.id, &commit, KeptTree::Under(fence))?;
    fleet.keep_tree(&run.id, fence, &commit)?;
    fleet.note_spending(&run.id, Some(fence), run.used.and(in_flight))?;
    Ok(())
}

fn turn(workspace: &Workspace<'_>, run: &RunId) -> Result<File, Failure> {
    let path = run_branch::run_folder(&workspace.state, run).join("keep.lock");
    let file = File::create(&path).map_err(Failure::file("write to", &path))?;
    file.lock().map_err(Failure::file("lock", &path))?;
    Ok(file)
}
