//! A look at the files of a fleet's run that another machine works on: a copy of the last tree that was kept.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use engine::{Run, RunId};
use evidence::Project;
use evidence::git::Git;
use store::{Backend as _, Handle};

use crate::context::Context;
use crate::failure::Failure;
use crate::fleet_project::FleetProject;
use crate::fleet_seat;
use crate::state::{State, write_durably};

/// The folder of these copies, in the state folder.
const COPIES: &str = "fleet-copies";

/// The age after which nobody looks at a copy any more.
const OLD: Duration = Duration::from_secs(3_600);

/// The ref of the clone that has what a run delivered. Steps have names without a dot.
const DELIVERED: &str = "tree.delivered";

/// The folder with the copy, if another machine has the run's worktree, or nobody has it any more.
pub(crate) fn elsewhere(
    context: &Context,
    state: &State,
    store: &Handle,
    run: &Run,
    is_over: bool,
) -> Result<Option<String>, Failure> {
    let (Some(seat), Some(fleet), Some(place)) = (context.fleet(), store.fleet(), &run.place)
    else {
        return Ok(None);
    };
    let folder = place.folder.as_deref().unwrap_or_default();
    let is_ours = place.machine.as_ref() == Some(&seat.machine);
    let delivered = place.delivered().filter(|it| it.pushed.is_some());
    // In the worktree of a delivered run its change is the last commit, so nothing would differ from that.
    if is_ours && delivered.is_none() && Path::new(folder).is_dir() {
        return Ok(None);
    }
    let kept = fleet.kept_tree(&run.id)?;
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
    let commit = match (kept, delivered) {
        (Some(kept), _) => kept,
        (None, Some(delivered)) => {
            let name = format!("refs/gatewright/{}/{DELIVERED}", run.id);
            project.fetch_branch(&place.branch.name, &name)?;
            delivered.commit.clone()
        }
        (None, None) if is_over => return Err(nothing_kept(&run.id)),
        (None, None) => place.branch.base.clone(),
    };
    let copies = copies_of(state, &run.id);
    let (copy, made) = (copies.join(&commit), copies.join(format!("{commit}.made")));
    let _turn = turn(state, &run.id)?;
    // The mark comes last: a copy that a kill left half-made is made again.
    if !made.exists() {
        forget_older(&copies, &copy);
        make(&Project::find(&clone)?, &copy, &commit, &place.branch.base)?;
        write_durably(&made, "").map_err(Failure::file("write to", &made))?;
    }
    Ok(Some(copy.to_string_lossy().into_owned()))
}

/// One look at a run at a time makes a copy.
fn turn(state: &State, run: &RunId) -> Result<File, Failure> {
    let folder = state.folder().join(COPIES);
    let path = folder.join(format!("{run}.lock"));
    let file = fs::create_dir_all(&folder).and_then(|()| File::create(&path));
    let file = file.map_err(Failure::file("write to", &path))?;
    file.lock().map_err(Failure::file("lock", &path))?;
    Ok(file)
}

/// Removes what is half-made, and the copies that nobody looks at any more.
fn forget_older(copies: &Path, copy: &Path) {
    let _ = fs::remove_dir_all(copy);
    for entry in fs::read_dir(copies).into_iter().flatten().flatten() {
        let made = entry.path();
        let age = entry.metadata().and_then(|it| it.modified());
        let age = age.ok().and_then(|at| at.elapsed().ok());
        if made.extension().is_some_and(|it| it == "made") && age.is_some_and(|age| age > OLD) {
            // What stays is removed the next time.
            let _ = fs::remove_file(&made);
            let _ = fs::remove_dir_all(made.with_extension(""));
        }
    }
}

fn nothing_kept(run: &RunId) -> Failure {
    let message =
        format!("another machine of the fleet has the files of {run}, and delivered none");
    Failure::refused(message).hint(format!(
        "`gatewright history {run}` shows on which machine it was placed"
    ))
}

/// Removes the copies of a run.
pub fn forget(state: &State, run: &RunId) {
    // What stays is removed the next time.
    let _ = fs::remove_dir_all(copies_of(state, run));
}

fn copies_of(state: &State, run: &RunId) -> PathBuf {
    state.folder().join(COPIES).join(run.as_str())
}

/// The files are those of the commit. The last commit there is the one that the run began with, as in its own worktree: so a
/// change shows.
fn make(clone: &Project, copy: &Path, commit: &str, base: &str) -> Result<(), Failure> {
    let words = ["worktree", "add", "--quiet", "--force", "--detach"];
    git_in(clone, commit, |git| {
        git.args(words).arg(copy).arg(commit);
    })?;
    git_in(&Project::find(copy)?, commit, |git| {
        git.args(["reset", "--quiet", "--soft", base]);
    })
}

fn git_in(
    project: &Project,
    commit: &str,
    add_words: impl FnOnce(&mut Command),
) -> Result<(), Failure> {
    let Some(repository) = &project.repository else {
        return Err(Failure::bug("a clone has no repository"));
    };
    let mut command = Git::find()?.without_filters(&project.root, &repository.git_dir)?;
    command.args(["-c", "gc.auto=0"]);
    add_words(&mut command);
    let output = command.output().map_err(evidence::Error::GitStart)?;
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
