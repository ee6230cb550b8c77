//! Worktrees: each parallel worker has its own, and what it leaves is merged back, in order.
//!
//! A worktree is git's own kind, outside the project, at a commit that holds exactly what lies in the
//! run's worktree: uncommitted and untracked files too, byte for byte. What a worker leaves is kept
//! as a commit, whether it committed anything itself or not. The person's index, branches, stash,
//! HEAD and hooks have no part in any of it; what is merged shows up as uncommitted changes.
//!
//! What that means in a repository that is not plain:
//!
//! - Ignored files (`node_modules`, `.venv`, `target`) are not carried: a worker that needs them makes
//!   them anew in its worktree. Only paths that the caller names are carried though ignored.
//! - Submodules and repositories that lie in the worktree: their files are carried as plain files, and
//!   changes come back into them; their commits are not carried, so no git works inside of them.
//! - Sparse checkouts: what is not checked out is not there for the worker, and stays untouched.
//! - Filters (LFS, line ends): the files are carried as they lie there, and no filter is started. The
//!   worker's own `git status` calls such files changed; nothing is taken from that.
//! - Merge drivers are not started; where the attributes ask for one, or forbid a merge of lines, two
//!   changes of one file are a conflict.
//! - A run in a subfolder of its repository works in the same subfolder of the worktree.
//! - A repository without a commit works like any other.

mod blobs;
mod disk;
mod git;
mod merge;
mod name;
mod picture;
mod record;
mod removal;
mod trees;

#[cfg(test)]
mod tests;

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::RunId;
use evidence::InsidePath;

use blobs::Blobs;
use disk::Disk;
pub use git::NoGit;
use git::{Place, Repository};
use merge::Merger;
use name::Name;
use picture::Picture;
use record::{Beginning, Records};

use runtime::failure::Failure;
use runtime::file_lock::FileLock;
use runtime::state::{State, write_durably};

/// The folder of all worktrees, in the state folder.
const FOLDER: &str = "worktrees";

/// Where the run's worktree is, for whoever clears up after it.
const ROOT: &str = "root";

/// One waits so long for others that look at the same worktree and work: a big one takes its time.
const PATIENCE: Duration = Duration::from_secs(300);

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
    /// As it was called when it was prepared.
    pub name: String,
    /// Where the worker works.
    pub folder: PathBuf,
    /// The commit that holds what the worker begins with.
    pub base: String,
    root: PathBuf,
    id: String,
    carried: Vec<String>,
}

/// What a worker left, kept by a ref.
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
    /// There can be no worktrees here: steps have to work one after another in the run's own.
    NoGit(NoGit),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merged {
    /// The worker changed nothing that is not there already.
    Nothing,
    Clean {
        changed: Vec<String>,
    },
    /// Both sides changed these. The run's worktree is as it was.
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

    /// Makes a worktree with what the run's worktree holds now. `carried` are paths, relative to the
    /// run's folder, that come along and are brought back even if git ignores them.
    ///
    /// A name is prepared once: whoever asks again, after a kill, gets the same worktree.
    pub fn prepare(&self, name: &str, carried: &[String]) -> Result<Prepared, Failure> {
        let repository = match Repository::find(&self.root)? {
            Ok(repository) => repository,
            Err(no_git) => return Ok(Prepared::NoGit(no_git)),
        };
        let called = Name::of(name);
        if let Some(worktree) = self.find(name)? {
            return if worktree.root.is_dir() {
                Ok(Prepared::Ready(worktree))
            } else {
                Err(Failure::no(format!("the worktree {name} was archived"))
                    .hint("prepare one with another name"))
            };
        }
        let inside = self.inside(&repository)?;
        let carried = carried_paths(&inside, carried)?;
        let base = self.keep_base(&repository, &called, name, &carried)?;
        let id = self.fill(&repository, &called, &base)?;
        let beginning = Beginning {
            called: name.to_owned(),
            base,
            id,
            inside,
            carried,
        };
        self.records.keep_beginning(&called, &beginning)?;
        Ok(Prepared::Ready(self.worktree(&called, beginning)))
    }

    /// Keeps what the worker left: all of its files, and what it committed besides.
    pub fn finish(&self, worktree: &Worktree) -> Result<Snapshot, Failure> {
        if !worktree.root.is_dir() {
            let message = format!("the worktree of {} is gone", worktree.name);
            return Err(Failure::outside(message).hint("prepare another one"));
        }
        let repository = self.repository()?;
        let place = repository.linked(&worktree.root, &worktree.id);
        let kept = Name::of(&worktree.name).kept(&self.run);
        let scratch = repository.scratch(self.records.folder())?;
        let mut files = repository.files(&place)?;
        let began = trees::items(&scratch, &worktree.base)?;
        files.extend(began.into_iter().map(|(path, _)| path));
        files.extend(
            worktree
                .carried
                .iter()
                .map(|path| path.clone().into_bytes()),
        );
        files.sort_unstable();
        files.dedup();
        let previous = repository.kept(&kept)?;
        let mut parents = vec![worktree.base.clone()];
        let others = previous.iter().cloned().chain(repository.head(&place)?);
        for other in others {
            if !parents.contains(&other) {
                parents.push(other);
            }
        }
        let picture = Picture {
            root: &worktree.root,
            files,
            parents,
            about: format!("what {} left", worktree.name),
        };
        let commit = picture::take(&scratch, &picture)?;
        let commit = match previous.filter(|previous| *previous != worktree.base) {
            // Whoever asks twice gets the same answer.
            Some(previous) if scratch.tree(&previous)? == scratch.tree(&commit)? => previous,
            _ => commit,
        };
        repository.keep(&kept, &commit)?;
        Ok(snapshot(worktree, commit))
    }

    /// What a worker was seen to leave, also when its worktree has been archived.
    pub fn left(&self, worktree: &Worktree) -> Result<Option<Snapshot>, Failure> {
        let kept = Name::of(&worktree.name).kept(&self.run);
        let commit = self.repository()?.kept(&kept)?;
        let commit = commit.filter(|commit| *commit != worktree.base);
        Ok(commit.map(|commit| snapshot(worktree, commit)))
    }

    /// Brings what a worker changed into the run's worktree as it is now: all of it, or nothing.
    /// After a kill the same call goes on where it was; once it is done, it changes nothing more.
    pub fn merge(&self, snapshot: &Snapshot) -> Result<Merged, Failure> {
        let repository = self.repository()?;
        let merger = self.merger(&repository);
        let _turn = self.turn(&repository)?;
        merger.settle()?;
        merger.merge(snapshot)
    }

    /// Every worktree that was prepared and not discarded.
    pub fn list(&self) -> Result<Vec<Worktree>, Failure> {
        let names = self.records.names()?;
        let found = names.iter().map(|name| {
            let beginning = self.records.beginning(name)?;
            Ok(beginning.map(|beginning| self.worktree(name, beginning)))
        });
        found.filter_map(Result::transpose).collect()
    }

    /// The worktree of this name, if there is one.
    pub fn find(&self, name: &str) -> Result<Option<Worktree>, Failure> {
        let name = Name::of(name);
        let beginning = self.records.beginning(&name)?;
        Ok(beginning.map(|beginning| self.worktree(&name, beginning)))
    }

    /// Takes the picture that the worker begins with, and keeps it.
    fn keep_base(
        &self,
        repository: &Repository,
        name: &Name,
        called: &str,
        carried: &[String],
    ) -> Result<String, Failure> {
        let here = repository.here();
        let _turn = self.turn(repository)?;
        // What a kill left half merged must be whole before anybody builds on it.
        self.merger(repository).settle()?;
        let scratch = repository.scratch(self.records.folder())?;
        let mut files = repository.files(&here)?;
        files.extend(carried.iter().map(|path| path.clone().into_bytes()));
        let picture = Picture {
            root: &here.root,
            files,
            parents: repository.head(&here)?.into_iter().collect(),
            about: format!("what {called} begins with"),
        };
        let base = picture::take(&scratch, &picture)?;
        repository.keep(&name.kept(&self.run), &base)?;
        Ok(base)
    }

    /// Makes the worktree and writes its files. What a killed attempt left there goes first.
    fn fill(&self, repository: &Repository, name: &Name, base: &str) -> Result<String, Failure> {
        let root = self.records.worktree(name);
        removal::remove_folder(&root)?;
        repository.forget_worktree(&root)?;
        let id = repository.add_worktree(&root, base)?;
        let scratch = repository.scratch(self.records.folder())?;
        let items = trees::items(&scratch, base)?;
        let mut disk = Disk::open(&root, Blobs::open(&scratch)?)?;
        for (path, item) in &items {
            disk.fill(path, item)?;
        }
        let Place { git_dir, .. } = repository.linked(&root, &id);
        let inside = root.join(self.inside(repository)?);
        fs::create_dir_all(&inside).map_err(Failure::file("make", &inside))?;
        repository.index(&Place { root, git_dir }, base)?;
        disk.sync()?;
        Ok(id)
    }

    fn worktree(&self, name: &Name, beginning: Beginning) -> Worktree {
        let root = self.records.worktree(name);
        Worktree {
            name: beginning.called,
            folder: if beginning.inside.is_empty() {
                root.clone()
            } else {
                root.join(&beginning.inside)
            },
            base: beginning.base,
            root,
            id: beginning.id,
            carried: beginning.carried,
        }
    }

    /// Where the run works in its repository; empty at the top.
    fn inside(&self, repository: &Repository) -> Result<String, Failure> {
        let root = fs::canonicalize(&self.root).map_err(Failure::file("find", &self.root))?;
        let top = repository.here().root;
        let inside = root.strip_prefix(&top).ok().and_then(Path::to_str);
        inside.map(str::to_owned).ok_or_else(|| {
            Failure::outside(format!("the name of {} is not text", root.display()))
                .hint("give the folder another name")
        })
    }

    fn repository(&self) -> Result<Repository, Failure> {
        let found = Repository::find(&self.root)?;
        found.map_err(|no_git| Failure::outside(no_git.reason).hint("restore the repository"))
    }

    fn merger<'a>(&'a self, repository: &'a Repository) -> Merger<'a> {
        Merger {
            repository,
            records: &self.records,
            run: &self.run,
        }
    }

    /// Waits until nobody else looks at this worktree or writes to it.
    fn turn(&self, repository: &Repository) -> Result<FileLock, Failure> {
        let folder = self.records.folder();
        let mut builder = fs::DirBuilder::new();
        let made = builder.recursive(true).mode(0o700).create(folder);
        made.map_err(Failure::file("write to", folder))?;
        let root = repository.here().root;
        let note = folder.join(ROOT);
        if !note.exists() {
            let text = self.root.to_string_lossy();
            write_durably(&note, &text).map_err(Failure::file("write to", &note))?;
        }
        let hash = evidence::hash(root.as_os_str().as_encoded_bytes()).to_string();
        FileLock::wait_for_long(&self.state.join(format!("{hash:.16}.lock")), PATIENCE)
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

/// The carried paths from the worktree's top.
fn carried_paths(inside: &str, carried: &[String]) -> Result<Vec<String>, Failure> {
    let paths = carried.iter().map(|path| {
        let path = InsidePath::parse(path).map_err(|reason| {
            Failure::no(format!(
                "a path cannot be carried into a worktree: {reason}"
            ))
        })?;
        Ok(if inside.is_empty() {
            path.as_str().to_owned()
        } else {
            format!("{inside}/{}", path.as_str())
        })
    });
    paths.collect()
}
