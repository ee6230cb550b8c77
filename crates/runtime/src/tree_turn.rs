//! Whose turn a tree is: headless runs work in one tree one after another, so that none sees the
//! half-done work of another.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use engine::{Driver, RunId, Status};
use store::{Backend as _, RunSummary};
use views::facts::RestKeeper;

use crate::clock;
use crate::failure::Failure;
use crate::lease_holder;
use crate::rest;
use crate::state::State;
use crate::workspace::Workspace;

/// How many digits of a hash name a tree.
const NAME_DIGITS: usize = 24;

/// A headless run that has begun in a tree and is not over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeHolder {
    pub run: RunId,
    pub state: HolderState,
}

/// Will the run go on by itself?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HolderState {
    /// A process drives it.
    Driven,
    /// It waits for a person.
    Waiting,
    /// A service or a cap asks to wait, and a process goes on with it then.
    Rests,
    /// Its process ended, and nobody has resumed it.
    Undriven,
}

/// The headless run that has begun in this tree and is not over.
pub fn holder(
    workspace: &Workspace<'_>,
    run: &RunId,
    worktree: &str,
) -> Result<Option<TreeHolder>, Failure> {
    let has_begun = |other: &RunSummary| match other.status {
        Status::Running | Status::Waiting(_) => true,
        Status::Queued | Status::Completed | Status::Failed | Status::Cancelled => false,
    };
    let runs = workspace.store.runs(None)?.into_iter();
    let others = runs.filter(|other| {
        other.driver == Driver::Headless
            && other.worktree == worktree
            && other.id != *run
            && has_begun(other)
    });
    for other in others {
        // A run with a branch of its own works elsewhere.
        let stored = workspace.store.run(&other.id)?;
        if stored.is_some_and(|stored| stored.run.place.is_none()) {
            let state = state_of(workspace, &other)?;
            let run = other.id;
            return Ok(Some(TreeHolder { run, state }));
        }
    }
    Ok(None)
}

fn state_of(workspace: &Workspace<'_>, run: &RunSummary) -> Result<HolderState, Failure> {
    let held = workspace.store.lease(&run.id)?;
    Ok(match (&run.status, lease_holder::driver(held.as_ref())) {
        (Status::Waiting(_), _) => HolderState::Waiting,
        (_, Some(_)) => HolderState::Driven,
        (_, None) if is_kept(workspace, run)? => HolderState::Rests,
        (_, None) => HolderState::Undriven,
    })
}

/// Does the run rest, and a process goes on with it then?
fn is_kept(workspace: &Workspace<'_>, run: &RunSummary) -> Result<bool, Failure> {
    let Some(stored) = workspace.store.run(&run.id)? else {
        return Ok(false);
    };
    let rest = rest::of(workspace, &stored, &run.status, clock::now())?;
    Ok(rest.is_some_and(|rest| rest.keeper == RestKeeper::There))
}

/// Another headless run that a process drives in this tree, and that waits for nobody.
pub fn at_work(
    workspace: &Workspace<'_>,
    run: &RunId,
    worktree: &str,
) -> Result<Option<RunId>, Failure> {
    let runs = workspace.store.runs(None)?.into_iter();
    let others = runs.filter(|other| {
        other.driver == Driver::Headless && other.status == Status::Running && other.id != *run
    });
    for other in others {
        let stored = workspace.store.run(&other.id)?;
        let is_here = stored.is_some_and(|stored| stored.worktree() == worktree);
        if is_here && state_of(workspace, &other)? == HolderState::Driven {
            return Ok(Some(other.id));
        }
    }
    Ok(None)
}

/// The turn in a tree. It ends with the process that holds it.
#[derive(Debug)]
pub struct TreeTurn {
    /// Locked.
    _file: File,
    path: PathBuf,
}

/// Who has the turn.
#[derive(Debug)]
pub enum Turn {
    Ours(TreeTurn),
    /// The run that another process drives; unknown for a moment while it takes the turn.
    Others(Option<RunId>),
}

impl TreeTurn {
    /// Takes the turn for this run, if nobody has it.
    pub fn take(state: &State, worktree: &str, run: &RunId) -> Result<Turn, Failure> {
        let folder = state.folder().join("trees");
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)
            .map_err(Failure::file("write to", &folder))?;
        let mut name = evidence::hash(worktree.as_bytes()).to_string();
        name.truncate(NAME_DIGITS);
        let path = folder.join(name);
        loop {
            let mut file = open(&path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(Turn::Others(named(&path))),
                Err(TryLockError::Error(cause)) => return Err(Failure::file("lock", &path)(cause)),
            }
            if is_at(&file, &path) {
                // The name is only information.
                let _ = write(&mut file, run);
                return Ok(Turn::Ours(Self { _file: file, path }));
            }
            // The one before us removed the file after we opened it.
        }
    }
}

/// Invariant: the file is removed while it is locked, so that nobody holds a file that others do not find.
impl Drop for TreeTurn {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

fn open(path: &Path) -> Result<File, Failure> {
    let mut options = OpenOptions::new();
    options
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600);
    options.open(path).map_err(Failure::file("write to", path))
}

fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(ours), Ok(there)) = (file.metadata(), fs::metadata(path)) else {
        return false;
    };
    (ours.dev(), ours.ino()) == (there.dev(), there.ino())
}

fn write(file: &mut File, run: &RunId) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(run.as_str().as_bytes())
}

fn named(path: &Path) -> Option<RunId> {
    RunId::parse(&fs::read_to_string(path).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_ours(turn: &Turn) -> bool {
        matches!(turn, Turn::Ours(_))
    }

    #[test]
    fn a_tree_has_one_turn_and_others_learn_who_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let (one, other) = (RunId::parse("r-1").unwrap(), RunId::parse("r-2").unwrap());
        let first = TreeTurn::take(&state, "/here", &one).unwrap();
        assert!(is_ours(&first));
        match TreeTurn::take(&state, "/here", &other).unwrap() {
            Turn::Others(who) => assert_eq!(who, Some(one)),
            Turn::Ours(_) => panic!("two have the turn"),
        }
        assert!(is_ours(&TreeTurn::take(&state, "/there", &other).unwrap()));
        drop(first);
        assert!(is_ours(&TreeTurn::take(&state, "/here", &other).unwrap()));
        let left = fs::read_dir(folder.path().join("trees")).unwrap();
        assert_eq!(left.count(), 0, "a turn that is over leaves nothing");
    }
}
