//! Prepares a worktree: a commit with the content of the run's worktree, and its files.

use std::fs;

use evidence::InsidePath;
use runtime::failure::Failure;

use super::git::Repository;
use super::name::{SafeName, content_ref};
use super::record::WorktreeRecord;
use super::removal::remove_folder;
use super::scratch::Scratch;
use super::tree_commit::{self, Committed, ForcedPaths, TreeCommit};
use super::trees::TreeListing;
use super::{Prepared, WorktreeAge, Worktrees, disk, durable, spare};

impl Worktrees {
    /// Makes a worktree with the current content of the run's worktree. `carried` are paths,
    /// relative to the run's folder, that are copied and merged back even if git ignores them.
    ///
    /// A name is prepared once: a second call, after a kill, returns the same worktree.
    pub fn prepare(&self, name: &str, carried: &[String]) -> Result<Prepared, Failure> {
        let repository = match Repository::find(&self.root)? {
            Ok(repository) => repository,
            Err(no_git) => return Ok(Prepared::NoGit(no_git)),
        };
        let called = SafeName::of(name);
        if let Some(worktree) = self.find(name)? {
            return if worktree.is_there() {
                let worktree = self.undamaged(&repository, worktree)?;
                Ok(Prepared::Ready(worktree, WorktreeAge::Old))
            } else {
                Err(
                    Failure::refused(format!("the worktree {name} was archived"))
                        .hint("prepare one with another name"),
                )
            };
        }
        let inside = self.inside(&repository)?;
        let carried = carried_paths(&inside, carried)?;
        let base = self.keep_base(&repository, &called, name, &carried)?;
        let id = self.fill(&repository, &called, &base)?;
        let record = WorktreeRecord {
            called: name.to_owned(),
            base: base.commit,
            id,
            inside,
            carried,
            unsynced: durable::boot(),
        };
        self.records.write_worktree_record(&called, &record)?;
        Ok(Prepared::Ready(
            self.worktree(&called, record),
            WorktreeAge::New,
        ))
    }

    /// Commits the content that the worker starts with, and keeps it under a ref.
    fn keep_base(
        &self,
        repository: &Repository,
        name: &SafeName,
        called: &str,
        carried: &[String],
    ) -> Result<Committed, Failure> {
        let here = repository.here();
        let stamps = self.stamps_here(repository);
        let _lock = self.lock(repository)?;
        // A merge that a kill interrupted must be complete before it is copied.
        self.merger(repository).settle()?;
        let content = repository.kept(&content_ref(&self.run))?;
        let make = |scratch: &Scratch<'_>| {
            let carried = carried.iter().map(|path| path.clone().into_bytes());
            let head = repository.head(&here)?;
            let tree_commit = TreeCommit {
                project: &repository.project(&here),
                stamps: &stamps,
                like: content.clone().or_else(|| head.clone()),
                also: ForcedPaths::These(carried.collect()),
                parents: head.into_iter().collect(),
                about: format!("what {called} begins with"),
            };
            let base = tree_commit::write(scratch, &tree_commit)?;
            Ok((Some(base.commit.clone()), base))
        };
        let base = repository.keep_new(&name.kept_ref(&self.run), make, self.records.folder())?;
        if content.is_none() {
            repository.keep(&content_ref(&self.run), &base.commit)?;
        }
        Ok(base)
    }

    /// Makes the worktree and writes its files, after removing the rest of a killed attempt.
    pub(super) fn fill(
        &self,
        repository: &Repository,
        name: &SafeName,
        base: &Committed,
    ) -> Result<String, Failure> {
        let root = self.records.worktree(name);
        remove_folder(&root)?;
        repository.forget_worktree(&root)?;
        let id = repository.add_worktree(&root, &base.commit)?;
        let dirs = repository.linked(&root, &id);
        let scratch = repository.scratch(self.records.folder())?;
        let listed;
        let items = match &base.items {
            Some(items) => items,
            None => {
                listed = TreeListing::of(&scratch, &base.commit)?.items()?;
                &listed
            }
        };
        let reused = self.reuse(repository, &dirs, items)?;
        scratch.check_out(&dirs, &base.commit)?;
        if let Some(reused) = &reused {
            scratch.write_files(&dirs, &reused.missing(&root, items))?;
        }
        let inside = root.join(self.inside(repository)?);
        fs::create_dir_all(&inside).map_err(Failure::file("make", &inside))?;
        if durable::boot().is_none() {
            disk::sync_all(&root)?;
        }
        let stamps = repository.stamps(root, self.records.stamps(name));
        stamps.remember(&spare::written(items, reused.as_ref()));
        self.note_written(name, &dirs);
        Ok(id)
    }
}

/// The carried paths, relative to the top of the worktree.
fn carried_paths(inside: &str, carried: &[String]) -> Result<Vec<String>, Failure> {
    let paths = carried.iter().map(|path| {
        let path = InsidePath::parse(path).map_err(|reason| {
            Failure::refused(format!("cannot copy a path into a worktree: {reason}"))
        })?;
        Ok(if inside.is_empty() {
            path.as_str().to_owned()
        } else {
            format!("{inside}/{}", path.as_str())
        })
    });
    paths.collect()
}
