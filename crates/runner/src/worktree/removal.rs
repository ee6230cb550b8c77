//! Removes worktrees: never one whose work is neither merged nor kept under a ref.

use std::fs;
use std::path::{Path, PathBuf};

use engine::RunId;
use runtime::failure::Failure;
use runtime::state::State;

use super::folder_removal::is_folder;
pub(super) use super::folder_removal::remove_folder;
use super::git::Repository;
use super::name::{SafeName, content_ref, refs_of};
use super::{FOLDER, ROOT, Snapshot, Worktree, Worktrees};

impl Worktrees {
    /// Removes the folder of a worktree, after keeping its content under a ref, so that it can
    /// still be merged.
    pub fn archive(&self, worktree: &Worktree) -> Result<(), Failure> {
        if worktree.is_there() {
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
        let left = if worktree.is_there() {
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
        if self.has_spare()? || self.list()?.iter().any(Worktree::is_there) {
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
            // Nothing of ours is a link.
            let goes = is_folder(&path) || path.is_symlink();
            if goes && !is_prepared {
                remove_worktree(&repository, &path)?;
            }
        }
        for worktree in self.list()? {
            if !worktree.is_there() {
                repository.forget_worktree(&worktree.root)?;
            }
        }
        Ok(())
    }

    /// Removes all worktrees and refs of a run that is gone, merged or not.
    pub fn remove_all(&self) -> Result<(), Failure> {
        // The project may be gone, too: then only the folders remain.
        if let Ok(Ok(repository)) = Repository::find(&self.root) {
            // A link in the place of our folder is removed, and not what it leads to.
            let folder = Some(self.records.folder()).filter(|folder| is_folder(folder));
            let entries = folder.map_or(Ok(Vec::new()), |_| self.records.entries())?;
            for entry in entries {
                let path = self.records.folder().join(&entry);
                if is_folder(&path) || entry.ends_with(".json") {
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
