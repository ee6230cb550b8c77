//! The worktree of a run that has a branch of its own: made before the run begins, removed when it is over.
//!
//! It is a normal git worktree on the run's branch, in the state folder. The person's tree, index, branches
//! and stash are not touched. No filter of git runs, so files of a large-file store are its pointers.

mod carry;
mod checkout;
pub(crate) mod half_made;
pub(crate) mod left_files;
mod relocation;
mod room;
pub(crate) mod stale_locks;

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use engine::{EngineEvent, RunBranch, RunId};
use evidence::Project;
use runtime::failure::Failure;
use runtime::fleet_clones;
use runtime::run_branch;
use runtime::state::{State, write_durably};
use runtime::undelivered;
use runtime::workspace::{OpenRun, Workspace};

use crate::engine_event;

use carry::{CarryList, OutwardLinks, carry_list, copy_into};
pub use carry::{has_own_list, missing};
pub(crate) use checkout::{Checkout, complaint};
pub(crate) use relocation::make_here;

/// The file that says that the worktree is complete.
const MADE: &str = "made";

/// The file that lists what came along.
const CARRIED: &str = "carried";

/// What stays when the worktree is removed.
const KEPT: [&str; 2] = [left_files::BACK, CARRIED];

/// The file that says that all work in the worktree is kept, so that it can be removed.
const KEPT_WORK: &str = ".kept";

/// The file that says which branch we were about to make, so that after a kill we know it for ours.
const BRANCH: &str = "branch";

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
        let carried = carried_bytes(workspace, &opened, &home)?;
        room::require(workspace, &home, &place.branch, &run, carried)?;
        run_branch::note_home(&workspace.state, &run, &home)?;
        files.checkout(&home, &run, &place.branch)?;
        here.release_base(&run)?;
        remarks.extend(here.filter_remark());
        remarks.extend(here.submodule_remark(&place.branch));
        remarks.extend(carry_from_project(workspace, &opened, &home, &files)?);
        let placement = &opened.pipeline.definition().placement;
        left_files::note_began(&workspace.state, &run, &home.root, placement)?;
        undelivered::note_open(&workspace.state, &run)?;
        write_durably(&files.mark(MADE), "").map_err(Failure::file("write to", &files.folder))?;
    }
    let folder = text(&files.worktree)?;
    // The look reads the artifacts' paths there.
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
    files: &PlaceFiles,
) -> Result<Remarks, Failure> {
    let patterns = &opened.pipeline.definition().placement.carry;
    let Some(seat) = workspace.context.fleet() else {
        return files.carry(&carry_list(home, patterns)?, &home.root);
    };
    let clone = carried_from(workspace, opened);
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
    remarks.extend(files.carry(&list, &from.root)?);
    Ok(remarks)
}

/// What came along into the worktree of a run and is in no commit of ours, relative to its project.
pub(crate) fn carried(state: &State, run: &RunId) -> Vec<PathBuf> {
    carry::noted(&run_branch::run_folder(state, run).join(CARRIED))
}

/// When the worktree of a run was complete: what changed later, its workers changed.
fn made_at(state: &State, run: &RunId) -> SystemTime {
    let mark = run_branch::run_folder(state, run).join(MADE);
    let modified = fs::metadata(mark).and_then(|mark| mark.modified());
    modified.unwrap_or_else(|_| SystemTime::now())
}

/// How much room the files need that come along into the worktree of a run.
fn carried_bytes(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    home: &Project,
) -> Result<u64, Failure> {
    let from = carried_from(workspace, opened);
    let from = from.as_ref().unwrap_or(home);
    let patterns = &opened.pipeline.definition().placement.carry;
    Ok(carry_list(from, patterns)?.bytes(&from.root))
}

/// The clone of a fleet's project that people use on this machine.
fn carried_from(workspace: &Workspace<'_>, opened: &OpenRun) -> Option<Project> {
    workspace.context.fleet()?;
    let environment = &workspace.context.environment;
    fleet_clones::find(&workspace.state, environment, &opened.stored.home)
}

/// Copies what comes along into the worktree of a step.
pub(crate) fn carry(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    worktree: &Path,
) -> Result<(), Failure> {
    let from = workspace.project_of(opened)?;
    let carried = carry_list(&from, &opened.pipeline.definition().placement.carry)?;
    copy_into(&carried, &from.root, worktree, OutwardLinks::Absolute).map(drop)
}

/// Removes the worktree of a run, and says whether there was one. Its branch stays.
pub fn remove(state: &State, run: &RunId, home: &Project) -> Result<bool, Failure> {
    let files = PlaceFiles::of(state, run, home);
    let had_worktree = files.worktree.exists();
    if !files.folder.exists() {
        return Ok(had_worktree);
    }
    let here = Checkout::of(home)?;
    here.forget_worktree(&files.worktree)?;
    here.release_base(run)?;
    files.clear()?;
    Ok(had_worktree)
}

/// Removes the place of a run that the store does not know any more, and says whether it had a worktree. If nobody has
/// noted that its work is kept, all stays: the run may be about to begin, or the store may be another one.
pub(crate) fn remove_unknown(state: &State, run: &RunId) -> Result<bool, Failure> {
    let folder = run_branch::run_folder(state, run);
    let names = names_in(&folder);
    let is_cleared = names
        .iter()
        .all(|name| KEPT.iter().any(|kept| name == kept));
    if is_cleared {
        return forget(state, run).map(|()| false);
    }
    if !folder.join(KEPT_WORK).exists() {
        return Ok(false);
    }
    let mut names = names.iter();
    let has_worktree = names.any(|name| name != left_files::BACK && folder.join(name).is_dir());
    if let Ok(home) = Project::find(&run_branch::noted_home(state, run))
        && home.is_git()
    {
        remove(state, run, &home)?;
    }
    forget(state, run)?;
    Ok(has_worktree)
}

/// Notes that all work in the worktree of a run is kept elsewhere.
pub(crate) fn note_kept(state: &State, run: &RunId) -> Result<(), Failure> {
    let folder = run_branch::run_folder(state, run);
    if !folder.is_dir() {
        return Ok(());
    }
    let note = folder.join(KEPT_WORK);
    write_durably(&note, "").map_err(Failure::file("write to", &note))
}

/// Nobody knows whether all work in the worktree of a run is kept.
pub(crate) fn forget_kept(state: &State, run: &RunId) -> Result<(), Failure> {
    remove_file(&run_branch::run_folder(state, run).join(KEPT_WORK))
}

/// Removes the list of what came along: no delivery needs it any more.
pub(crate) fn forget_carried(state: &State, run: &RunId) -> Result<(), Failure> {
    let folder = run_branch::run_folder(state, run);
    remove_file(&folder.join(CARRIED))?;
    // What comes back with a merge may be there.
    let _ = fs::remove_dir(&folder);
    Ok(())
}

/// Is nothing left of the place of a run but what comes back with a merge?
pub(crate) fn is_cleared(state: &State, run: &RunId) -> bool {
    let names = names_in(&run_branch::run_folder(state, run));
    matches!(names.as_slice(), [only] if only == left_files::BACK)
}

fn names_in(folder: &Path) -> Vec<OsString> {
    let listed = fs::read_dir(folder).into_iter().flatten().flatten();
    listed.map(|entry| entry.file_name()).collect()
}

fn remove_file(path: &Path) -> Result<(), Failure> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != ErrorKind::NotFound => {
            Err(Failure::file("remove", path)(cause))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Removes all that there is of a run's place. Its worktree is gone, or nobody knows it any more.
pub(crate) fn forget(state: &State, run: &RunId) -> Result<(), Failure> {
    let folder = run_branch::run_folder(state, run);
    match fs::remove_dir_all(&folder) {
        Err(cause) if cause.kind() != ErrorKind::NotFound => {
            Err(Failure::file("remove", &folder)(cause))
        }
        Ok(()) | Err(_) => Ok(()),
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
    let carried = carried_bytes(workspace, opened, &home)?;
    let run = &opened.run().id;
    Ok(room::require(workspace, &home, &place.branch, run, carried).is_ok())
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

    /// Removes all but what comes back from the run, and the list of what came along: a delivery from the branch needs
    /// it.
    fn clear(&self) -> Result<(), Failure> {
        let entries = fs::read_dir(&self.folder);
        let entries = entries.map_err(Failure::file("read", &self.folder))?;
        for entry in entries.flatten() {
            let (name, path) = (entry.file_name(), entry.path());
            let is_kept = name == KEPT_WORK || KEPT.iter().any(|kept| name == *kept);
            let removed = match entry.file_type() {
                _ if is_kept => Ok(()),
                Ok(kind) if kind.is_dir() => fs::remove_dir_all(&path),
                Ok(_) | Err(_) => fs::remove_file(&path),
            };
            removed.map_err(Failure::file("remove", &path))?;
        }
        // Invariant: the note goes after the worktree. Without it what remains would be taken for work.
        remove_file(&self.mark(KEPT_WORK))?;
        if KEPT.iter().any(|kept| self.folder.join(kept).exists()) {
            return Ok(());
        }
        fs::remove_dir_all(&self.folder).map_err(Failure::file("remove", &self.folder))
    }

    /// Invariant: the list is there before the files are, since after a kill they may be.
    fn carry(&self, list: &CarryList, from: &Path) -> Result<Remarks, Failure> {
        carry::note(list, &self.mark(CARRIED))?;
        copy_into(list, from, &self.worktree, OutwardLinks::Content)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A run that has noted its home, in a repository with a commit.
    fn begun(project: &testkit::Project) -> (State, RunId, Project) {
        let commit = ["commit", "--quiet", "--allow-empty", "--message=one"];
        project.git(commit).succeeds();
        let state = State::new(project.state());
        let run = RunId::parse("r-1").unwrap();
        let home = Project::find(&project.path()).unwrap();
        run_branch::note_home(&state, &run, &home).unwrap();
        (state, run, home)
    }

    #[test]
    fn the_worktree_of_an_unknown_run_goes_only_if_its_work_is_kept() {
        let project = testkit::Project::with_git("unused");
        let git = |words: &[&str]| project.git(words).succeeds().stdout;
        let (state, run, home) = begun(&project);
        let files = PlaceFiles::of(&state, &run, &home);
        let worktree = files.worktree.to_str().unwrap();
        git(&["worktree", "add", "--quiet", "--detach", worktree]);
        fs::write(files.worktree.join("work"), "only here").unwrap();
        assert!(!remove_unknown(&state, &run).unwrap());
        assert!(files.worktree.join("work").exists());

        note_kept(&state, &run).unwrap();
        assert!(remove_unknown(&state, &run).unwrap());
        assert!(!files.folder.exists());
        assert_eq!(git(&["worktree", "list"]).lines().count(), 1);
        assert!(!remove_unknown(&state, &run).unwrap());

        // The removal failed in the middle, and git has forgotten the worktree.
        fs::create_dir_all(files.worktree.join("rest")).unwrap();
        note_kept(&state, &run).unwrap();
        assert!(remove_unknown(&state, &run).unwrap());
        // Only lists and what nobody can merge any more.
        fs::create_dir_all(files.folder.join(left_files::BACK)).unwrap();
        fs::write(files.folder.join(CARRIED), "").unwrap();
        assert!(!remove_unknown(&state, &run).unwrap());
        assert!(!files.folder.exists());
    }

    /// What a run begins with is there before the store knows the run.
    #[test]
    fn a_run_that_is_about_to_begin_keeps_what_it_begins_with() {
        let project = testkit::Project::with_git("unused");
        let git = |words: &[&str]| project.git(words).succeeds().stdout;
        let (state, run, _) = begun(&project);
        let base = run_branch::base_ref(&run);
        git(&["update-ref", &base, "HEAD"]);
        assert!(!remove_unknown(&state, &run).unwrap());
        git(&["rev-parse", "--verify", &base]);
        assert!(run_branch::run_folder(&state, &run).is_dir());
    }
}
