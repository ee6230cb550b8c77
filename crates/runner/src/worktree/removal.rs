//! Removes worktrees: never one whose work is neither merged nor kept under a ref.

use std::fs;
use std::io::{self, ErrorKind};
use std::num::NonZero;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use engine::RunId;
use runtime::failure::Failure;
use runtime::state::State;

use super::git::Repository;
use super::name::{SafeName, content_ref, refs_of};
use super::{FOLDER, ROOT, Snapshot, Worktree, Worktrees};

impl Worktrees {
    /// Removes the folder of a worktree, after keeping its content under a ref, so that it can
    /// still be merged.
    pub fn archive(&self, worktree: &Worktree) -> Result<(), Failure> {
        if worktree.root.is_dir() {
            self.finish(worktree)?;
        }
        let repository = self.repository()?;
        remove_worktree(&repository, &worktree.root)?;
        self.forget_content(&repository)
    }

    /// Removes a worktree and its refs, if its content is merged.
    pub fn discard(&self, worktree: &Worktree) -> Result<(), Failure> {
        let repository = self.repository()?;
        let name = SafeName::of(&worktree.name);
        let left = if worktree.root.is_dir() {
            Some(self.finish(worktree)?)
        } else {
            self.left(worktree)?
        };
        if let Some(snapshot) = left
            && !self.is_settled(&repository, &name, &snapshot)?
        {
            return Err(not_merged(worktree));
        }
        remove_folder(&worktree.root)?;
        self.forget_step(&repository, &name, worktree)
    }

    /// Forgets a worktree whose folder is gone.
    pub(super) fn forget_step(
        &self,
        repository: &Repository,
        name: &SafeName,
        worktree: &Worktree,
    ) -> Result<(), Failure> {
        repository.forget_worktree(&worktree.root)?;
        for kept in [name.merge_ref(&self.run), name.kept_ref(&self.run)] {
            repository.forget(&kept)?;
        }
        self.records.forget(name)?;
        self.forget_content(repository)
    }

    /// After the last step nothing is compared with the content any more.
    pub(super) fn forget_content(&self, repository: &Repository) -> Result<(), Failure> {
        let is_there = |worktree: &Worktree| worktree.root.is_dir();
        if self.has_spare()? || self.list()?.iter().any(is_there) {
            return Ok(());
        }
        repository.forget(&content_ref(&self.run))
    }

    /// Has it been merged, or is there nothing to merge?
    pub(super) fn is_settled(
        &self,
        repository: &Repository,
        name: &SafeName,
        snapshot: &Snapshot,
    ) -> Result<bool, Failure> {
        let began = self.merger(repository).began(name, snapshot)?;
        let scratch = repository.scratch(self.records.folder())?;
        let [began, left] = scratch.trees([&began, &snapshot.commit])?;
        Ok(began == left)
    }

    /// Run after a kill, before anybody works: completes an interrupted merge, and removes
    /// worktrees that were never completed.
    pub fn prune(&self) -> Result<(), Failure> {
        let Ok(repository) = Repository::find(&self.root)? else {
            return Ok(());
        };
        let _lock = self.lock(&repository)?;
        repository.release_packs(&refs_of(&self.run));
        self.merger(&repository).settle()?;
        let prepared = self.records.names()?;
        for entry in self.records.entries()? {
            let path = self.records.folder().join(&entry);
            let is_prepared = prepared.iter().any(|name| name.as_str() == entry);
            if path.is_dir() && !is_prepared {
                remove_worktree(&repository, &path)?;
            }
        }
        for worktree in self.list()? {
            if !worktree.root.is_dir() {
                repository.forget_worktree(&worktree.root)?;
            }
        }
        Ok(())
    }

    /// Removes all worktrees and refs of a run that is gone, merged or not.
    pub fn remove_all(&self) -> Result<(), Failure> {
        // The project may be gone, too: then only the folders remain.
        if let Ok(Ok(repository)) = Repository::find(&self.root) {
            for entry in self.records.entries()? {
                let path = self.records.folder().join(&entry);
                if path.is_dir() || entry.ends_with(".json") {
                    remove_worktree(&repository, &path.with_extension(""))?;
                }
            }
            for kept in repository.refs(&refs_of(&self.run))? {
                repository.forget(&kept)?;
            }
            repository.release_packs(&refs_of(&self.run));
        }
        remove_folder(self.records.folder())
    }

    /// Removes the worktrees of all runs that are gone.
    pub fn forget_runs(state: &State, is_there: impl Fn(&str) -> bool) -> Result<(), Failure> {
        let folder = state.folder().join(FOLDER);
        let listed = fs::read_dir(&folder).into_iter().flatten();
        for entry in listed.filter_map(Result::ok) {
            let name = entry.file_name();
            let run = name.to_str().and_then(|name| RunId::parse(name).ok());
            let Some(run) = run.filter(|run| !is_there(run.as_str())) else {
                continue;
            };
            let root = fs::read_to_string(entry.path().join(ROOT)).map(PathBuf::from);
            match root {
                Ok(root) => Self::new(state, &root, &run).remove_all()?,
                Err(_) => remove_folder(&entry.path())?,
            }
        }
        Ok(())
    }
}

pub(super) fn not_merged(worktree: &Worktree) -> Failure {
    let message = format!("the work of {} is not merged", worktree.name);
    Failure::refused(message).hint("merge it, or archive it")
}

fn remove_worktree(repository: &Repository, root: &Path) -> Result<(), Failure> {
    remove_folder(root)?;
    repository.forget_worktree(root)
}

/// How often a folder is removed into which somebody still writes, and the pause between.
const REMOVALS: u32 = 10;
const BETWEEN_REMOVALS: Duration = Duration::from_millis(50);

/// How many folders are worth threads, and how many threads at most.
const MANY_FOLDERS: usize = 16;
const MOST_THREADS: usize = 8;

/// Removes a folder with its content, also read-only content such as caches. Follows no link. A process
/// of an orchestrator that lost the run may still put something into it for a moment.
pub(super) fn remove_folder(folder: &Path) -> Result<(), Failure> {
    remove_subfolders(folder);
    let mut removed = fs::remove_dir_all(folder);
    for _ in 1..REMOVALS {
        match removed.as_ref().map_err(io::Error::kind) {
            Err(ErrorKind::PermissionDenied) => unlock(folder),
            Err(ErrorKind::DirectoryNotEmpty) => thread::sleep(BETWEEN_REMOVALS),
            Ok(()) | Err(_) => break,
        }
        removed = fs::remove_dir_all(folder);
    }
    match removed {
        Err(cause) if cause.kind() != ErrorKind::NotFound => {
            Err(Failure::file("remove", folder)(cause))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Removes what is below the folders of a folder, with all processors. What remains is not an error yet.
fn remove_subfolders(folder: &Path) {
    let below: Vec<PathBuf> = folders_in(folder).flat_map(|it| folders_in(&it)).collect();
    if below.len() < MANY_FOLDERS {
        return;
    }
    let next = AtomicUsize::new(0);
    let remove = || {
        while let Some(folder) = below.get(next.fetch_add(1, Ordering::Relaxed)) {
            let _ = fs::remove_dir_all(folder);
        }
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        for _ in 1..threads.min(MOST_THREADS) {
            scope.spawn(remove);
        }
        remove();
    });
}

/// The folders in a folder, as far as it can be read. No link is one.
fn folders_in(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let inside = fs::read_dir(folder).into_iter().flatten();
    let inside = inside.filter_map(Result::ok);
    let folders = inside.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.map(|entry| entry.path())
}

/// Makes every folder below writable, as far as possible.
fn unlock(folder: &Path) {
    let mut pending = vec![folder.to_owned()];
    while let Some(folder) = pending.pop() {
        let _ = fs::set_permissions(&folder, fs::Permissions::from_mode(0o700));
        pending.extend(folders_in(&folder));
    }
}
