//! A look at the files of a fleet's run that another machine works on: a copy of the last tree that was kept.

use std::fs;
use std::path::{Path, PathBuf};

use engine::{Run, RunId};
use evidence::Project;
use evidence::git::Git;
use store::{Backend as _, Handle};

use crate::context::Context;
use crate::failure::Failure;
use crate::fleet_project::FleetProject;
use crate::fleet_seat;
use crate::state::State;

/// The folder of these copies, in the state folder.
const COPIES: &str = "fleet-copies";

/// The folder with the copy, if another machine has the run's worktree.
pub(crate) fn elsewhere(
    context: &Context,
    state: &State,
    store: &Handle,
    run: &Run,
) -> Result<Option<String>, Failure> {
    let (Some(seat), Some(fleet), Some(place)) = (context.fleet(), store.fleet(), &run.place)
    else {
        return Ok(None);
    };
    let folder = place.folder.as_deref().unwrap_or_default();
    if place.machine.as_ref() == Some(&seat.machine) && Path::new(folder).is_dir() {
        return Ok(None);
    }
    let kept = fleet.kept_tree(&run.id)?;
    let commit = kept.unwrap_or_else(|| place.branch.base.clone());
    let stored = store.run(&run.id)?;
    let stored = stored.ok_or_else(|| store::Error::UnknownRun {
        run: run.id.clone(),
    })?;
    let clone = fleet_seat::project_folder(state, &stored.home);
    let project = FleetProject {
        folder: &clone,
        environment: &context.environment,
    };
    project.fetch(&stored.home, &run.id)?;
    let copy = copy_of(state, &run.id).join(&commit);
    if !copy.join(".git").exists() {
        make(&Project::find(&clone)?, &copy, &commit)?;
    }
    Ok(Some(copy.to_string_lossy().into_owned()))
}

/// Removes the copies of a run.
pub fn forget(state: &State, run: &RunId) {
    // What stays is removed the next time.
    let _ = fs::remove_dir_all(copy_of(state, run));
}

fn copy_of(state: &State, run: &RunId) -> PathBuf {
    state.folder().join(COPIES).join(run.as_str())
}

fn make(clone: &Project, copy: &Path, commit: &str) -> Result<(), Failure> {
    let Some(repository) = &clone.repository else {
        return Err(Failure::bug("a clone has no repository"));
    };
    if copy.exists() {
        fs::remove_dir_all(copy).map_err(Failure::file("remove", copy))?;
    }
    let mut command = Git::find()?.without_filters(&clone.root, &repository.git_dir)?;
    command.args([
        "-c",
        "gc.auto=0",
        "worktree",
        "add",
        "--quiet",
        "--force",
        "--detach",
    ]);
    let output = command.arg(copy).arg(commit).output();
    let output = output.map_err(evidence::Error::GitStart)?;
    if output.status.success() {
        return Ok(());
    }
    let why = String::from_utf8_lossy(&output.stderr);
    Err(Failure::environment(format!(
        "git cannot read the tree {commit} ({})",
        evidence::text::line(why.trim(), 300)
    ))
    .hint("the machine that has the run may not have pushed it yet: try again"))
}
