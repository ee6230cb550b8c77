//! The state folder: where the store lies, and the few things that lie beside it.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::RunId;

use crate::environment::Environment;
use crate::failure::Failure;
use crate::file_lock::FileLock;

/// The folder's name below the user's folder for state.
const NAME: &str = "gatewright";

/// How many runs can be changed at once without waiting for each other.
const MOST_TURNS: usize = 16;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    folder: PathBuf,
}

impl State {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The folder that the environment tells.
    pub fn find(environment: &Environment) -> Result<Self, Failure> {
        let home = environment.state_home().ok_or_else(|| {
            Failure::outside("there is no place to keep runs")
                .hint("set HOME or XDG_STATE_HOME to an absolute path")
        })?;
        Ok(Self::new(home.join(NAME)))
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where evidence remembers what it has read. A folder that cannot be made costs time only.
    pub fn cache(&self) -> PathBuf {
        let folder = self.folder.join("cache");
        let _ = make_private(&folder);
        folder
    }

    /// Waits for the turn to begin a run, so that two that collide are not begun at once.
    ///
    /// Invariant: the store has been opened for writing before, so the folder is there and ours.
    pub fn wait_to_start(&self, patience: Duration) -> Result<FileLock, Failure> {
        FileLock::wait_for(&self.folder.join("starting.lock"), patience)
    }

    /// Waits for the turn to look at a run and change it. Of many who come at once each then looks
    /// once, and none starves. The store is what keeps two from changing a run at once: whoever
    /// waits in vain, because somebody sleeps on its turn, goes on without one.
    pub fn wait_to_change(&self, run: &RunId) -> Option<FileLock> {
        FileLock::wait(&self.turn(run)).ok()
    }

    /// The same for whoever has less time.
    pub fn wait_shortly_to_change(&self, run: &RunId, patience: Duration) -> Option<FileLock> {
        FileLock::wait_for(&self.turn(run), patience).ok()
    }

    fn turn(&self, run: &RunId) -> PathBuf {
        let sum: usize = run.as_str().bytes().map(usize::from).sum();
        let name = format!("changing-{:x}.lock", sum % MOST_TURNS);
        self.folder.join(name)
    }

    /// Where runs are copied to before a person resets them.
    pub fn backups(&self) -> Result<PathBuf, Failure> {
        let folder = self.folder.join("backups");
        make_private(&folder)?;
        Ok(folder)
    }

    /// Where a captured content is copied to that is too long to be quoted.
    pub fn copy_of(&self, run: &RunId, name: &str) -> PathBuf {
        self.folder.join("copies").join(format!("{run}.{name}"))
    }

    /// Keeps the search path with which a person started a run. Its checks look for programs there,
    /// not where whoever asks for a check wants them to be looked for.
    pub fn keep_search_path(&self, run: &RunId, search: &OsStr) -> Result<(), Failure> {
        let path = self.folder.join("search").join(run.as_str());
        write_bytes(&path, search.as_bytes()).map_err(Failure::file("write to", &path))
    }

    /// The search path of a run; `None` when nothing is known of it.
    pub fn search_path(&self, run: &RunId) -> Option<OsString> {
        let bytes = fs::read(self.folder.join("search").join(run.as_str())).ok()?;
        Some(OsString::from_vec(bytes))
    }

    /// Where it is kept how the views of a run were left.
    pub fn views(&self) -> PathBuf {
        let folder = self.folder.join("views");
        let _ = make_private(&folder);
        folder
    }

    /// Forgets what was kept beside the journal for runs that are gone.
    pub fn forget_runs(&self, is_there: impl Fn(&str) -> bool) {
        for kept in ["search", "backups", "copies", "headless", "guards", "views"] {
            forget(&self.folder.join(kept), &is_there);
        }
    }
}

/// Removes the files and folders whose run is gone. Their names begin with its id, which holds no dot.
fn forget(folder: &Path, is_there: &impl Fn(&str) -> bool) {
    let listed = fs::read_dir(folder).into_iter().flatten();
    for entry in listed.filter_map(Result::ok) {
        let name = entry.file_name();
        let run = name.to_str().and_then(|name| name.split('.').next());
        if !run.is_some_and(is_there) {
            // What cannot be removed now is removed the next time.
            let _ = if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                fs::remove_dir_all(entry.path())
            } else {
                fs::remove_file(entry.path())
            };
        }
    }
}

/// Writes a file of the state folder, whole or not at all. It is durable when this returns.
pub fn write_durably(path: &Path, text: &str) -> io::Result<()> {
    write_bytes(path, text.as_bytes())
}

fn write_bytes(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|failed| failed.error)?;
    // The name is durable only when the folder is.
    fs::File::open(folder)?.sync_all()
}

fn make_private(folder: &Path) -> Result<(), Failure> {
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(cause) if cause.kind() != ErrorKind::AlreadyExists => {
            Err(Failure::file("write to", folder)(cause))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_home_there_is_no_state_folder() {
        let failure = State::find(&Environment::default()).unwrap_err();
        assert!(
            failure
                .to_string()
                .ends_with("set HOME or XDG_STATE_HOME to an absolute path")
        );
    }

    #[test]
    fn a_search_path_is_kept_with_its_run_and_goes_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let run = RunId::parse("r-1").unwrap();
        assert_eq!(state.search_path(&run), None);
        state.keep_search_path(&run, OsStr::new("/a:/b")).unwrap();
        assert_eq!(state.search_path(&run), Some("/a:/b".into()));
        state.forget_runs(|run| run == "r-1");
        assert_eq!(state.search_path(&run), Some("/a:/b".into()));
        state.forget_runs(|_| false);
        assert_eq!(state.search_path(&run), None);
    }
}
