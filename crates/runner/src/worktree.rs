//! Worktrees: each parallel worker has its own, and its changes are merged back in order.
//!
//! A worktree is a normal git worktree outside the project. Its commit holds exactly the content of
//! the run's worktree, with uncommitted and untracked files, byte for byte. The result of a worker
//! is kept as a commit, whether the worker committed anything or not. The person's index, branches,
//! stash, HEAD and hooks are not used; merged changes show up as uncommitted changes.
//!
//! Unusual repositories:
//!
//! - Ignored files (`node_modules`, `.venv`, `target`) are not copied: a worker that needs them
//!   creates them again. Only paths that the caller names are copied although git ignores them.
//! - Submodules and nested repositories: their files are copied as plain files and changes are
//!   merged back. Their commits are not copied, so git does not work inside of them.
//! - Sparse checkouts: the worker does not see files that are not checked out, and they stay
//!   untouched.
//! - Filters (LFS, line endings): files are copied as they are on disk, and no filter runs. The
//!   worker's own `git status` may call such files changed; nothing depends on that.
//! - Merge drivers do not run. If the attributes ask for one, or forbid a merge by lines, two
//!   changes of one file are a conflict.
//! - A run in a subfolder of its repository works in the same subfolder of the worktree.
//! - A repository without a commit works like any other.

mod blobs;
mod disk;
mod durable;
mod git;
mod merge;
mod name;
mod record;
mod refs;
mod removal;
mod scratch;
mod spare;
mod tree_commit;
mod trees;

#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::RunId;
use evidence::InsidePath;
use evidence::tree::ObjectStamps;

pub use disk::is_temporary;
pub use durable::DurableSoon;
pub use git::NoGit;
use git::{Repository, WorktreeDirs};
use merge::Merger;
use name::{SafeName, content_ref};
use record::{Records, WorktreeRecord};
pub use refs::{HeadLog, RefState};
use scratch::Scratch;
use tree_commit::{ForcedPaths, TreeCommit};

use runtime::failure::Failure;
use runtime::file_lock::FileLock;
use runtime::state::State;

/// The folder of all worktrees, in the state folder.
const FOLDER: &str = "worktrees";

/// The file that names the run's worktree, for the removal of runs.
const ROOT: &str = "root";

/// How long to wait for the lock of the run's worktree: reading a big one takes long.
const LOCK_TIMEOUT: Duration = Duration::from_secs(300);

/// The worktrees of one run.
#[derive(Clone, Debug)]
pub struct Worktrees {
    state: PathBuf,
    root: PathBuf,
    run: RunId,
    records: Records,
}

/// A worktree for one worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worktree {
    /// The name it was prepared with.
    pub name: String,
    /// Where the worker works.
    pub folder: PathBuf,
    /// The commit with the content that the worker starts with.
    pub base: String,
    root: PathBuf,
    id: String,
    carried: Vec<String>,
}

/// The result of a worker, kept under a ref.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    pub name: String,
    pub commit: String,
    pub base: String,
    carried: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prepared {
    Ready(Worktree),
    /// There can be no worktrees here: steps must run one after another in the run's own.
    NoGit(NoGit),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merged {
    /// The worker changed nothing new.
    Nothing,
    Clean {
        changed: Vec<String>,
    },
    /// Both sides changed these. The run's worktree is unchanged.
    Conflict {
        paths: Vec<String>,
    },
}

impl Worktrees {
    /// The worktrees of a run that works in this folder.
    pub fn new(state: &State, root: &Path, run: &RunId) -> Self {
        let state = state.folder().join(FOLDER);
        Self {
            records: Records::new(state.join(run.as_str())),
            state,
            root: root.to_owned(),
            run: run.clone(),
        }
    }

    /// Has the run ever had any?
    pub fn are_there(&self) -> bool {
        self.records.folder().is_dir()
    }

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
            return if worktree.root.is_dir() {
                let worktree = self.undamaged(&repository, worktree)?;
                Ok(Prepared::Ready(worktree))
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
            base,
            id,
            inside,
            carried,
            unsynced: durable::boot(),
        };
        self.records.write_worktree_record(&called, &record)?;
        Ok(Prepared::Ready(self.worktree(&called, record)))
    }

    /// Keeps the result of the worker: all of its files, and its own commits.
    pub fn finish(&self, worktree: &Worktree) -> Result<Snapshot, Failure> {
        if !worktree.root.is_dir() {
            let message = format!("the worktree of {} is gone", worktree.name);
            return Err(Failure::environment(message).hint("prepare another one"));
        }
        let repository = self.repository()?;
        let dirs = repository.linked(&worktree.root, &worktree.id);
        let kept = SafeName::of(&worktree.name).kept_ref(&self.run);
        let previous = repository.kept(&kept)?;
        let make = |scratch: &Scratch<'_>| {
            let commit = self.result(scratch, &repository, worktree, &dirs, previous.as_ref())?;
            Ok((Some(commit.clone()), commit))
        };
        let commit = repository.keep_new(&kept, make, self.records.folder())?;
        Ok(snapshot(worktree, commit))
    }

    /// Commits the files of the worker, unless a previous commit has them.
    fn result(
        &self,
        scratch: &Scratch<'_>,
        repository: &Repository,
        worktree: &Worktree,
        dirs: &WorktreeDirs,
        previous: Option<&String>,
    ) -> Result<String, Failure> {
        let carried = worktree.carried.iter();
        let carried = carried.map(|path| path.clone().into_bytes());
        let mut parents = vec![worktree.base.clone()];
        let others = previous.into_iter().cloned();
        for other in others.chain(repository.head(dirs)?) {
            if !parents.contains(&other) {
                parents.push(other);
            }
        }
        let tree_commit = TreeCommit {
            project: &repository.project(dirs),
            stamps: &self.stamps_of(repository, worktree),
            also: ForcedPaths::TheseAndParent(carried.collect()),
            parents,
            about: format!("what {} left", worktree.name),
        };
        let commit = tree_commit::write(scratch, &tree_commit)?;
        Ok(
            match previous.filter(|previous| **previous != worktree.base) {
                // A repeated call returns the same commit.
                Some(previous) if scratch.tree(previous)? == scratch.tree(&commit)? => {
                    previous.clone()
                }
                Some(_) | None => commit,
            },
        )
    }

    /// The recorded result of a worker, also when its worktree was archived.
    pub fn left(&self, worktree: &Worktree) -> Result<Option<Snapshot>, Failure> {
        let kept = SafeName::of(&worktree.name).kept_ref(&self.run);
        let commit = self.repository()?.kept(&kept)?;
        let commit = commit.filter(|commit| *commit != worktree.base);
        Ok(commit.map(|commit| snapshot(worktree, commit)))
    }

    /// Merges the worker's changes into the run's worktree: all of them or none. After a kill the
    /// same call continues the merge; after a completed merge it changes nothing.
    pub fn merge(&self, snapshot: &Snapshot) -> Result<Merged, Failure> {
        let repository = self.repository()?;
        let merger = self.merger(&repository);
        let _lock = self.lock(&repository)?;
        merger.settle()?;
        merger.merge(snapshot)
    }

    /// All worktrees that were prepared and not discarded.
    pub fn list(&self) -> Result<Vec<Worktree>, Failure> {
        let names = self.records.names()?;
        let found = names.iter().map(|name| {
            let record = self.records.worktree_record(name)?;
            Ok(record.map(|record| self.worktree(name, record)))
        });
        found.filter_map(Result::transpose).collect()
    }

    /// The worktree of this name, if there is one.
    pub fn find(&self, name: &str) -> Result<Option<Worktree>, Failure> {
        let name = SafeName::of(name);
        let record = self.records.worktree_record(&name)?;
        Ok(record.map(|record| self.worktree(&name, record)))
    }

    /// Commits the content that the worker starts with, and keeps it under a ref.
    fn keep_base(
        &self,
        repository: &Repository,
        name: &SafeName,
        called: &str,
        carried: &[String],
    ) -> Result<String, Failure> {
        let here = repository.here();
        let stamps = self.stamps_here(repository);
        let _lock = self.lock(repository)?;
        // A merge that a kill interrupted must be complete before it is copied.
        self.merger(repository).settle()?;
        let make = |scratch: &Scratch<'_>| {
            let carried = carried.iter().map(|path| path.clone().into_bytes());
            let tree_commit = TreeCommit {
                project: &repository.project(&here),
                stamps: &stamps,
                also: ForcedPaths::These(carried.collect()),
                parents: repository.head(&here)?.into_iter().collect(),
                about: format!("what {called} begins with"),
            };
            let base = tree_commit::write(scratch, &tree_commit)?;
            Ok((Some(base.clone()), base))
        };
        let base = repository.keep_new(&name.kept_ref(&self.run), make, self.records.folder())?;
        repository.keep(&content_ref(&self.run), &base)?;
        Ok(base)
    }

    /// Makes the worktree and writes its files, after removing the rest of a killed attempt.
    fn fill(
        &self,
        repository: &Repository,
        name: &SafeName,
        base: &str,
    ) -> Result<String, Failure> {
        let root = self.records.worktree(name);
        removal::remove_folder(&root)?;
        repository.forget_worktree(&root)?;
        let id = repository.add_worktree(&root, base)?;
        let dirs = repository.linked(&root, &id);
        let scratch = repository.scratch(self.records.folder())?;
        let mut items = trees::items(&scratch, base)?;
        items.sort_unstable_by(|left, right| left.0.cmp(&right.0));
        let reused = self.reuse(repository, &dirs, &items)?;
        scratch.check_out(&dirs, base)?;
        if let Some(reused) = &reused {
            scratch.write_files(&dirs, &reused.missing(&root, &items))?;
        }
        let inside = root.join(self.inside(repository)?);
        fs::create_dir_all(&inside).map_err(Failure::file("make", &inside))?;
        if durable::boot().is_none() {
            disk::sync_all(&root)?;
        }
        let stamps = repository.stamps(root, self.records.stamps(name));
        stamps.remember(&spare::written(&items, reused.as_ref()));
        self.note_written(name, &dirs);
        Ok(id)
    }

    /// What is known of the files of the run's worktree, for all runs that work in it.
    fn stamps_here(&self, repository: &Repository) -> ObjectStamps {
        let root = repository.here().root;
        let file = self.file_of(&root, "objects");
        repository.stamps(root, file)
    }

    fn stamps_of(&self, repository: &Repository, worktree: &Worktree) -> ObjectStamps {
        let file = self.records.stamps(&SafeName::of(&worktree.name));
        repository.stamps(worktree.root.clone(), file)
    }

    /// A file of ours that belongs to a folder in which runs work.
    fn file_of(&self, root: &Path, kind: &str) -> PathBuf {
        let hash = evidence::hash(root.as_os_str().as_encoded_bytes()).to_string();
        self.state.join(format!("{hash:.16}.{kind}"))
    }

    fn worktree(&self, name: &SafeName, record: WorktreeRecord) -> Worktree {
        let root = self.records.worktree(name);
        Worktree {
            name: record.called,
            folder: if record.inside.is_empty() {
                root.clone()
            } else {
                root.join(&record.inside)
            },
            base: record.base,
            root,
            id: record.id,
            carried: record.carried,
        }
    }

    /// The run's folder in its repository; empty at the top.
    fn inside(&self, repository: &Repository) -> Result<String, Failure> {
        let root = fs::canonicalize(&self.root).map_err(Failure::file("find", &self.root))?;
        let top = repository.here().root;
        let inside = root.strip_prefix(&top).ok().and_then(Path::to_str);
        inside.map(str::to_owned).ok_or_else(|| {
            Failure::environment(format!("the path {} is not valid UTF-8", root.display()))
                .hint("rename the folder")
        })
    }

    fn repository(&self) -> Result<Repository, Failure> {
        let found = Repository::find(&self.root)?;
        found.map_err(|no_git| Failure::environment(no_git.reason).hint("restore the repository"))
    }

    fn merger<'a>(&'a self, repository: &'a Repository) -> Merger<'a> {
        Merger {
            repository,
            stamps: self.stamps_here(repository),
            records: &self.records,
            run: &self.run,
        }
    }

    /// Locks the run's worktree against other readers and writers of ours.
    fn lock(&self, repository: &Repository) -> Result<FileLock, Failure> {
        self.make_folder()?;
        let root = repository.here().root;
        FileLock::wait_for_long(&self.file_of(&root, "lock"), LOCK_TIMEOUT)
    }
}

fn snapshot(worktree: &Worktree, commit: String) -> Snapshot {
    Snapshot {
        name: worktree.name.clone(),
        commit,
        base: worktree.base.clone(),
        carried: worktree.carried.clone(),
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
