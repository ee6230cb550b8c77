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
mod folder_removal;
mod git;
mod merge;
mod name;
mod prepare;
mod record;
mod refs;
mod removal;
mod scratch;
mod settings;
mod spare;
mod tree_commit;
mod trees;

#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::RunId;
use evidence::tree::ObjectStamps;

pub use disk::is_temporary;
pub use durable::DurableSoon;
use folder_removal::is_folder;
pub use git::NoGit;
use git::{Repository, WorktreeDirs};
use merge::Merger;
use name::{SafeName, content_ref};
use record::{Records, WorktreeRecord};
pub use refs::{HeadLog, RefState, WorktreeOwner};
use scratch::Scratch;
pub use settings::{SettingHashes, changed_settings};
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

impl Worktree {
    /// Is its folder there? An agent may have removed it, or put a link into its place.
    pub fn is_there(&self) -> bool {
        is_folder(&self.root)
    }
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
    Ready(Worktree, WorktreeAge),
    /// There can be no worktrees here: steps must run one after another in the run's own.
    NoGit(NoGit),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorktreeAge {
    /// It has the content of the run's worktree as it is now.
    New,
    /// It was prepared before a kill.
    Old,
}

/// The files of the run's worktree at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunContent {
    pub commit: String,
    /// Where it differs from the content that was known; `None` if that is lost.
    pub changed: Option<Vec<Vec<u8>>>,
}

/// What a merge found and did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeReport {
    pub merged: Merged,
    /// The run's worktree now, and where others had changed it before; `None` if nothing was written.
    pub seen: Option<RunContent>,
}

impl RunContent {
    fn unchanged(commit: &str) -> Self {
        Self {
            commit: commit.to_owned(),
            changed: Some(Vec::new()),
        }
    }

    /// What a later look adds to this one.
    fn then(self, later: Self) -> Self {
        let changed = self.changed.zip(later.changed);
        Self {
            commit: later.commit,
            changed: changed.map(|(first, second)| [first, second].concat()),
        }
    }
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
        is_folder(self.records.folder())
    }

    /// Keeps the result of the worker: all of its files, and its own commits.
    pub fn finish(&self, worktree: &Worktree) -> Result<Snapshot, Failure> {
        if !worktree.is_there() {
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
            like: Some(worktree.base.clone()),
            also: ForcedPaths::TheseAndLike(carried.collect()),
            parents,
            about: format!("what {} left", worktree.name),
        };
        let commit = tree_commit::write(scratch, &tree_commit)?.commit;
        Ok(
            match previous.filter(|previous| **previous != worktree.base) {
                // A repeated call returns the same commit.
                Some(previous) => {
                    let [before, now] = scratch.trees([previous, &commit])?;
                    if before == now {
                        previous.clone()
                    } else {
                        commit
                    }
                }
                None => commit,
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
    ///
    /// `known` is a commit with the content of the run's worktree as far as the caller knows it.
    pub fn merge(&self, snapshot: &Snapshot, known: &str) -> Result<MergeReport, Failure> {
        let repository = self.repository()?;
        let merger = self.merger(&repository);
        let _lock = self.lock(&repository)?;
        merger.settle()?;
        merger.merge(snapshot, known)
    }

    /// Looks at the run's worktree, which was known to have the content of this commit. A ref keeps what is
    /// there now.
    pub fn look(&self, known: &str) -> Result<RunContent, Failure> {
        let repository = self.repository()?;
        let merger = self.merger(&repository);
        let _lock = self.lock(&repository)?;
        let make = |scratch: &Scratch<'_>| {
            let content = merger.look(scratch, known, Vec::new())?;
            let new = (content.commit != known).then(|| content.commit.clone());
            Ok((new, content))
        };
        repository.keep_new(&content_ref(&self.run), make, self.records.folder())
    }

    /// The content that the run's worktree had when somebody last looked.
    pub fn last_content(&self) -> Result<Option<String>, Failure> {
        let repository = self.repository()?;
        repository.kept(&content_ref(&self.run))
    }

    /// Keeps a commit with the content of the run's worktree under a ref.
    pub fn keep_content(&self, commit: &str) -> Result<(), Failure> {
        self.repository()?.keep(&content_ref(&self.run), commit)
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
