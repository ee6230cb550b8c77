//! The worktree of a run that has a branch of its own: made before the run begins, removed when it is over.
//!
//! It is a normal git worktree on the run's branch, in the state folder. The person's tree, index, branches
//! and stash are not touched. No filter of git runs, so files of a large-file store are its pointers.

mod carry;
mod checkout;
pub(crate) mod half_made;
mod relocation;
mod room;
pub(crate) mod stale_locks;

use std::fs;
use std::path::{Path, PathBuf};

use engine::{EngineEvent, RunBranch, RunId};
use evidence::Project;
use runtime::failure::Failure;
use runtime::fleet_clones;
use runtime::run_branch;
use runtime::state::{State, write_durably};
use runtime::workspace::{OpenRun, Workspace};

use crate::engine_event;

pub use carry::missing;
use carry::{carry_list, copy_into};
pub(crate) use checkout::{Checkout, complaint};
pub(crate) use relocation::make_here;

/// The file that says that the worktree is complete.
const MADE: &str = "made";

/// The file that says which branch we were about to make, so that after a kill we know it for ours.
const BRANCH: &str = "branch";

/// The file that marks a run whose work is still to be delivered.
const UNDELIVERED: &str = "undelivered";

/// What was noticed while the worktree was made, for a person.
pub(crate) type Remarks = Vec<String>;

/// Makes the worktree of a run that needs one. After a kill the same call completes it.
pub(crate) fn make(
    workspace: &mut Workspace<'_>,
    opened: OpenRun,
) -> Result<(OpenRun, Remarks), Failure> {
    let unplaced = opened.run().place.clone();
    let Some(place) = unplaced.filter(|place| place.folder.is_none()) else {
        return Ok((opened, Vec::new()));
    };
    let home = workspace.project_of(&opened)?;
    let run = opened.run().id.clone();
    let files = PlaceFiles::of(&workspace.state, &run, &home);
    let mut remarks = Vec::new();
    if !files.mark(MADE).exists() {
        let here = Checkout::of(&home)?;
        if let Some(repository) = &home.repository {
            half_made::remove(&repository.common_dir, workspace.state.folder());
        }
        here.require_base(&place.branch, &run)?;
        room::require(workspace, &home, &place.branch, &run)?;
        run_branch::note_home(&workspace.state, &run, &home)?;
        files.checkout(&home, &run, &place.branch)?;
        here.release_base(&run)?;
        remarks.extend(here.filter_remark());
        remarks.extend(here.submodule_remark(&place.branch));
        remarks.extend(carry_from_project(
            workspace,
            &opened,
            &home,
            &files.worktree,
        )?);
        write_durably(&files.mark(UNDELIVERED), "")
            .map_err(Failure::file("write to", &files.folder))?;
        write_durably(&files.mark(MADE), "").map_err(Failure::file("write to", &files.folder))?;
    }
    let folder = text(&files.worktree)?;
    // What lies at the artifacts' paths is looked at there.
    workspace.step_folder = Some(folder.clone());
    let on = workspace.context.fleet();
    let on = on.map(|seat| seat.on_machine(&workspace.state, &home));
    let event = EngineEvent::Placed {
        folder,
        on: on.transpose()?,
    };
    let placed = engine_event::submit(workspace, opened, &event, None);
    workspace.step_folder = None;
    Ok((placed?, remarks))
}

/// Copies what comes along into the worktree of a run, and says what is missing. Git hands none of it on: for a run of a
/// fleet it is what this machine has, in the clone that people use here.
fn carry_from_project(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    home: &Project,
    worktree: &Path,
) -> Result<Remarks, Failure> {
    let patterns = &opened.pipeline.definition().placement.carry;
    let Some(seat) = workspace.context.fleet() else {
        return copy_into(&carry_list(home, patterns)?, &home.root, worktree);
    };
    let environment = &workspace.context.environment;
    let clone = fleet_clones::find(&workspace.state, environment, &opened.stored.home);
    let from = clone.as_ref().unwrap_or(home);
    let mut list = carry_list(from, patterns)?;
    let missing = std::mem::take(&mut list.missing).into_iter();
    let advice = match &clone {
        Some(clone) => format!("in {}", clone.root.display()),
        None => "there: start its worker once in a clone of the project that has it".to_owned(),
    };
    let name = &seat.name;
    let missing =
        missing.map(|pattern| format!("{name} has nothing for `carry` {pattern} {advice}"));
    let mut remarks: Remarks = missing.collect();
    remarks.extend(copy_into(&list, &from.root, worktree)?);
    Ok(remarks)
}

/// Copies what comes along into the worktree of a step.
pub(crate) fn carry(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    worktree: &Path,
) -> Result<(), Failure> {
    let from = workspace.project_of(opened)?;
    let carried = carry_list(&from, &opened.pipeline.definition().placement.carry)?;
    copy_into(&carried, &from.root, worktree).map(drop)
}

/// The ignored files in the worktree of a step that neither came along nor come back, without caches of tools.
pub(crate) fn left_ignored(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    worktree: &Path,
) -> Result<Vec<String>, Failure> {
    let placement = &opened.pipeline.definition().placement;
    let carried = carry_list(&workspace.project_of(opened)?, &placement.carry)?.found;
    let known = carried.iter().map(PathBuf::as_path);
    let known: Vec<&Path> = known
        .chain(placement.carry_back.iter().map(Path::new))
        .collect();
    let mut left = carry::ignored(&Project::find(worktree)?)?;
    left.retain(|path| !known.iter().any(|known| path.starts_with(known)));
    let left = left.iter().map(|path| path.to_string_lossy().into_owned());
    // A folder is listed without its files.
    let is_cache = |path: &String| evidence::tree::is_cache(format!("{path}/x").as_bytes());
    Ok(left.filter(|path| !is_cache(path)).collect())
}

/// The runs that have a worktree of their own, and whose work may still be to be delivered.
pub fn undelivered(state: &State) -> Vec<RunId> {
    let listed = fs::read_dir(run_branch::places(state));
    let names = listed.into_iter().flatten().filter_map(|entry| {
        let entry = entry.ok()?;
        let is_open = entry.path().join(UNDELIVERED).exists();
        is_open.then(|| entry.file_name().into_string().ok())?
    });
    names.filter_map(|name| RunId::parse(&name).ok()).collect()
}

/// Nothing is left to deliver.
pub(crate) fn set_delivered(state: &State, run: &RunId) {
    // If it stays, the next worker looks at the run once more and finds it delivered.
    let _ = fs::remove_file(run_branch::run_folder(state, run).join(UNDELIVERED));
}

/// Removes the worktree of a run. Its branch stays.
pub fn remove(state: &State, run: &RunId, home: &Project) -> Result<(), Failure> {
    let files = PlaceFiles::of(state, run, home);
    if !files.folder.exists() {
        return Ok(());
    }
    let here = Checkout::of(home)?;
    here.forget_worktree(&files.worktree)?;
    here.release_base(run)?;
    fs::remove_dir_all(&files.folder).map_err(Failure::file("remove", &files.folder))
}

/// Removes the worktree of a run that the store does not know any more.
pub(crate) fn remove_unknown(state: &State, run: &RunId) -> Result<(), Failure> {
    let folder = run_branch::run_folder(state, run);
    match Project::find(&run_branch::noted_home(state, run)) {
        Ok(home) if home.is_git() => remove(state, run, &home),
        // Its repository is gone, too.
        Ok(_) | Err(_) => fs::remove_dir_all(&folder).map_err(Failure::file("remove", &folder)),
    }
}

/// Would the worktree of this run fit on the disk?
pub(crate) fn has_room(workspace: &Workspace<'_>, opened: &OpenRun) -> Result<bool, Failure> {
    let unplaced = opened
        .run()
        .place
        .as_ref()
        .filter(|place| place.folder.is_none());
    let Some(place) = unplaced else {
        return Ok(true);
    };
    let home = workspace.project_of(opened)?;
    Ok(room::require(workspace, &home, &place.branch, &opened.run().id).is_ok())
}

/// Where the files of a run's place lie.
pub(crate) struct PlaceFiles {
    folder: PathBuf,
    worktree: PathBuf,
}

impl PlaceFiles {
    pub(crate) fn of(state: &State, run: &RunId, home: &Project) -> Self {
        Self {
            folder: run_branch::run_folder(state, run),
            worktree: run_branch::folder(state, run, home),
        }
    }

    fn mark(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Invariant: the note about the branch is durable before the branch is made.
    fn checkout(&self, home: &Project, run: &RunId, branch: &RunBranch) -> Result<(), Failure> {
        let here = Checkout::of(home)?;
        if let Some(repository) = &home.repository {
            stale_locks::remove(repository, run, Some(&branch.name));
        }
        let note = self.mark(BRANCH);
        let is_ours = fs::read_to_string(&note).is_ok_and(|text| text == branch.name);
        let tip = here.branch_tip(&branch.name)?;
        match &tip {
            Some(tip) if !is_ours || *tip != branch.base => {
                let message = format!("the branch {} exists already", branch.name);
                return Err(Failure::refused(message).hint(format!(
                    "rename it with `git branch -m {0} NEW`, or delete it with `git branch -D {0}`",
                    branch.name
                )));
            }
            Some(_) | None => {}
        }
        write_durably(&note, &branch.name).map_err(Failure::file("write to", &note))?;
        here.forget_worktree(&self.worktree)?;
        if self.worktree.exists() {
            fs::remove_dir_all(&self.worktree).map_err(Failure::file("remove", &self.worktree))?;
        }
        here.add_worktree(&self.worktree, branch, tip.is_some())
    }
}

fn text(path: &Path) -> Result<String, Failure> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Failure::environment("the path of the state folder is not valid UTF-8")
            .hint("set XDG_STATE_HOME")
    })
}
