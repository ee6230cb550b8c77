//! Ignored files that a run or a step leaves in its worktree: what is said about them, and what comes back.
//!
//! `carry_back` of the pipeline lists what comes back. From a step it comes into the tree of the run when the step is
//! merged, from a run on a branch into the person's tree when they merge the branch. Until then it is kept, also when
//! the worktree is removed.

mod began;
mod changed_files;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use engine::{Placement, RunId, Status};
use evidence::Project;
use runtime::failure::Failure;
use runtime::run_branch;
use runtime::state::State;
use runtime::workspace::{OpenRun, Workspace};

use self::began::Began;
use super::carry::{self, CarryList, OutwardLinks, carry_list, copy_into};

/// How many files a remark names.
const MOST_NAMED: usize = 5;

/// The folder with what comes back from a run whose worktree was removed.
pub(super) const BACK: &str = "back";

/// The note of what the person's tree had there. It begins with a point: nobody's list names it.
const BEGAN: &str = ".gatewright-began";

/// The ignored files in the worktree of a step that do not come back, without caches of tools: new ones, and what came
/// along and changed since this time.
pub(crate) fn of_step(
    home: &Project,
    placement: &Placement,
    worktree: &Path,
    carried_at: SystemTime,
) -> Result<Vec<String>, Failure> {
    let carried = carry_list(home, &placement.carry)?;
    left(placement, worktree, &carried.found, carried_at)
}

/// The same in the worktree of a run on a branch.
pub(crate) fn of_run(workspace: &Workspace<'_>, opened: &OpenRun) -> Result<Vec<String>, Failure> {
    let worktree = workspace.project_of(opened)?.root;
    let (state, run) = (&workspace.state, &opened.run().id);
    left(
        &opened.pipeline.definition().placement,
        &worktree,
        &super::carried(state, run),
        super::made_at(state, run),
    )
}

fn left(
    placement: &Placement,
    worktree: &Path,
    carried: &[PathBuf],
    carried_at: SystemTime,
) -> Result<Vec<String>, Failure> {
    let back = &placement.carry_back;
    let mut left = carry::ignored(&Project::find(worktree)?)?;
    left.retain(|path| !carried.iter().any(|carried| path.starts_with(carried)));
    for path in carried {
        left.extend(changed_files::since(worktree, path, carried_at));
    }
    left.retain(|path| !back.iter().any(|back| path.starts_with(back)));
    let left = left.iter().map(|path| path.to_string_lossy().into_owned());
    // A folder is listed without its files.
    let is_cache = |path: &String| evidence::tree::is_cache(format!("{path}/x").as_bytes());
    let mut left: Vec<String> = left.filter(|path| !is_cache(path)).collect();
    left.sort();
    left.dedup();
    Ok(left)
}

/// Some of the files, and how many more there are.
pub(crate) fn named(left: &[String]) -> String {
    let named: Vec<&str> = left.iter().take(MOST_NAMED).map(String::as_str).collect();
    match left.len().saturating_sub(MOST_NAMED) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// What came back from a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BroughtBack {
    pub brought: Vec<String>,
    /// What the person has changed since the run began stays as it is.
    pub left: Vec<String>,
    /// Where the run's own version of that lies.
    pub folder: PathBuf,
}

/// Notes what the person's tree has at the paths that will come back from a run.
pub(super) fn note_began(
    state: &State,
    run: &RunId,
    home: &Path,
    placement: &Placement,
) -> Result<(), Failure> {
    if placement.carry_back.is_empty() {
        return Ok(());
    }
    let paths: Vec<PathBuf> = placement.carry_back.iter().map(PathBuf::from).collect();
    Began::note(
        home,
        &paths,
        &run_branch::run_folder(state, run).join(BEGAN),
    )
}

/// Copies what comes back from a run into the person's tree. What leaves the tree through a link, on either side, does
/// not come.
pub(crate) fn bring_back(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    home: &Project,
) -> Result<BroughtBack, Failure> {
    let (state, run) = (&workspace.state, &opened.run().id);
    let folder = back_folder(state, run);
    let from = if opened.has_project() {
        // A version that does not come is still there when the worktree is gone.
        keep(workspace, opened)?;
        workspace.project_of(opened)?.root
    } else {
        folder.clone()
    };
    let began = Began::noted(&folder.join(BEGAN));
    let files = began::files(&from, &coming_back(opened, &from, &home.root));
    let (left, brought): (Vec<PathBuf>, Vec<PathBuf>) = files
        .into_iter()
        .partition(|path| began.loses(path, &from, &home.root));
    copy_all(&brought, &from, &home.root)?;
    let names = |paths: Vec<PathBuf>| {
        let names = paths.into_iter();
        names
            .map(|path| path.to_string_lossy().into_owned())
            .collect()
    };
    Ok(BroughtBack {
        brought: names(brought),
        left: names(left),
        folder,
    })
}

/// Keeps what comes back from a completed run whose worktree is about to be removed.
pub(crate) fn keep(workspace: &Workspace<'_>, opened: &OpenRun) -> Result<(), Failure> {
    let is_completed = engine::status(&opened.pipeline, opened.run()) == Status::Completed;
    let has_list = !opened.pipeline.definition().placement.carry_back.is_empty();
    if !is_completed || !has_list {
        return Ok(());
    }
    let (state, run) = (&workspace.state, &opened.run().id);
    let folder = back_folder(state, run);
    fs::create_dir_all(&folder).map_err(Failure::file("make", &folder))?;
    let began = run_branch::run_folder(state, run).join(BEGAN);
    if began.exists() {
        let kept = folder.join(BEGAN);
        fs::copy(&began, &kept).map_err(Failure::file("write to", &kept))?;
    }
    let from = workspace.project_of(opened)?.root;
    copy_all(&coming_back(opened, &from, &folder), &from, &folder)
}

/// The paths of the list that are there and may be written.
fn coming_back(opened: &OpenRun, from: &Path, to: &Path) -> Vec<PathBuf> {
    let paths = opened.pipeline.definition().placement.carry_back.iter();
    let paths = paths.filter(|path| {
        let is_folder = from.join(path).is_dir();
        is_inside(from, path) && is_free(to, path, is_folder)
    });
    paths.map(PathBuf::from).collect()
}

fn copy_all(paths: &[PathBuf], from: &Path, to: &Path) -> Result<(), Failure> {
    let list = CarryList {
        found: paths.to_vec(),
        missing: Vec::new(),
    };
    copy_into(&list, from, to, OutwardLinks::Kept).map(drop)
}

/// Is it there, and really in this folder?
fn is_inside(folder: &Path, path: &str) -> bool {
    let there = folder.join(path);
    let above = there.parent().and_then(|above| above.canonicalize().ok());
    let folder = folder.canonicalize().ok();
    let is_inside = above
        .zip(folder)
        .is_some_and(|(above, folder)| above.starts_with(folder));
    is_inside && there.symlink_metadata().is_ok()
}

/// Can it be written without following a link, and without a file in the place of a folder?
fn is_free(folder: &Path, path: &str, is_folder: bool) -> bool {
    let mut above = folder.to_owned();
    let mut parts = Path::new(path).components().peekable();
    while let Some(part) = parts.next() {
        above.push(part);
        let Ok(kind) = above.symlink_metadata() else {
            return true;
        };
        let wants_folder = is_folder || parts.peek().is_some();
        if kind.is_symlink() || kind.is_dir() != wants_folder {
            return false;
        }
    }
    true
}

fn back_folder(state: &State, run: &RunId) -> PathBuf {
    run_branch::run_folder(state, run).join(BACK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_back_stays_in_the_tree() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("out/deep")).unwrap();
        fs::write(root.join("out/file"), "x").unwrap();
        std::os::unix::fs::symlink("/", root.join("away")).unwrap();
        for (path, is_folder, expected) in [
            ("out/file", false, true),
            ("out/new", false, true),
            ("new/below/file", false, true),
            ("out/deep", true, true),
            ("out/deep", false, false),
            ("out/file", true, false),
            ("away/file", false, false),
            ("away", false, false),
            ("out/file/below", false, false),
        ] {
            assert_eq!(is_free(root, path, is_folder), expected, "{path}");
        }
        for (path, expected) in [("out/file", true), ("away/etc", false), ("absent", false)] {
            assert_eq!(is_inside(root, path), expected, "{path}");
        }
    }
}
