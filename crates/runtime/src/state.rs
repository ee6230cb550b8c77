//! The state folder: the store and the files next to it.

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

/// The folder's name below the user's state folder.
const NAME: &str = "gatewright";

/// How many runs can be locked at once without sharing a lock.
const MOST_TURNS: usize = 16;

/// How the names of files begin that have not got their own yet.
const TEMPORARY: &str = ".tmp";

/// Younger files may belong to a process that is still at work.
const OLD: Duration = Duration::from_secs(60 * 60);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    folder: PathBuf,
}

impl State {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The folder that the environment names.
    pub fn find(environment: &Environment) -> Result<Self, Failure> {
        if let Some(folder) = environment.state_folder() {
            return Ok(Self::new(folder.to_owned()));
        }
        let home = environment.state_home().ok_or_else(|| {
            Failure::environment("there is no state folder")
                .hint("set HOME or XDG_STATE_HOME to an absolute path")
        })?;
        Ok(Self::new(home.join(NAME)))
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The cache folder of `evidence`. Without it everything is only slower.
    pub fn cache(&self) -> PathBuf {
        let folder = self.folder.join("cache");
        let _ = make_private(&folder);
        folder
    }

    /// Locks the start of runs, so that two colliding runs cannot start at once.
    ///
    /// Invariant: the store was opened for writing before, so the folder exists.
    pub fn lock_start(&self, patience: Duration) -> Result<FileLock, Failure> {
        FileLock::wait_for(&self.folder.join("starting.lock"), patience)
    }

    /// Locks a run for a look and a change, so that of many processes each looks once and none
    /// starves. The store prevents conflicting changes: a process that waits in vain continues
    /// without the lock.
    pub fn lock_run(&self, run: &RunId) -> Option<FileLock> {
        FileLock::wait(&self.lock_path(run)).ok()
    }

    /// The same with a shorter timeout.
    pub fn lock_run_within(&self, run: &RunId, patience: Duration) -> Option<FileLock> {
        FileLock::wait_for(&self.lock_path(run), patience).ok()
    }

    fn lock_path(&self, run: &RunId) -> PathBuf {
        let sum: usize = run.as_str().bytes().map(usize::from).sum();
        let name = format!("changing-{:x}.lock", sum % MOST_TURNS);
        self.folder.join(name)
    }

    /// The folder for backups before a reset.
    pub fn backups(&self) -> Result<PathBuf, Failure> {
        let folder = self.folder.join("backups");
        make_private(&folder)?;
        Ok(folder)
    }

    /// The path for a copy of content that is too long to quote.
    pub fn copy_of(&self, run: &RunId, name: &str) -> PathBuf {
        self.folder.join("copies").join(format!("{run}.{name}"))
    }

    /// Saves the search path of the person who started a run. Its checks find programs there, and
    /// not where a later caller wants.
    pub fn save_search_path(&self, run: &RunId, search: &OsStr) -> Result<(), Failure> {
        let path = self.folder.join("search").join(run.as_str());
        write_bytes(&path, search.as_bytes()).map_err(Failure::file("write to", &path))
    }

    /// The search path of a run; `None` if it is unknown.
    pub fn search_path(&self, run: &RunId) -> Option<OsString> {
        let bytes = fs::read(self.folder.join("search").join(run.as_str())).ok()?;
        Some(OsString::from_vec(bytes))
    }

    /// The folder of the view records.
    pub fn views(&self) -> PathBuf {
        let folder = self.folder.join("views");
        let _ = make_private(&folder);
        folder
    }

    /// Removes what killed processes left half written, here and in the folders of this one.
    pub fn forget_temporary_files(&self) {
        let folders = entries(&self.folder).filter(|path| path.is_dir());
        for folder in folders.chain([self.folder.clone()]) {
            let half = entries(&folder).filter(|path| is_temporary(path) && path.is_file());
            // What cannot be removed now is removed the next time.
            half.filter(|path| is_old(path)).for_each(|path| {
                let _ = fs::remove_file(path);
            });
        }
    }

    /// Removes the files of runs that are gone.
    pub fn forget_runs(&self, is_there: impl Fn(&str) -> bool) {
        for kept in [
            "search", "backups", "copies", "headless", "guards", "views", "told", "witness",
            "looks", "logs", "changes", "shipping",
        ] {
            forget(&self.folder.join(kept), &is_there);
        }
    }
}

/// Removes files and folders whose run is gone. Their names start with the run's id, which has no
/// dot.
fn forget(folder: &Path, is_there: &impl Fn(&str) -> bool) {
    let listed = fs::read_dir(folder).into_iter().flatten();
    for entry in listed.filter_map(Result::ok) {
        let name = entry.file_name();
        if is_temporary(Path::new(&name)) {
            continue;
        }
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

/// A file that is about to get its name: see `write_durably`.
fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str);
    name.is_some_and(|name| name.starts_with(TEMPORARY))
}

/// Nobody is still at work on a file of this age.
pub(crate) fn is_old(path: &Path) -> bool {
    let written = fs::symlink_metadata(path).and_then(|metadata| metadata.modified());
    let age = written.map(|written| written.elapsed().unwrap_or_default());
    age.is_ok_and(|age| age >= OLD)
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let listed = fs::read_dir(folder).into_iter().flatten();
    listed.filter_map(|entry| Some(entry.ok()?.path()))
}

/// Writes a file of the state folder atomically. It is durable when this returns.
pub fn write_durably(path: &Path, text: &str) -> io::Result<()> {
    write_bytes(path, text.as_bytes())
}

/// The same for a file that may be lost in a power cut, and is then made again.
pub fn write_quickly(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = temporary(path)?;
    file.write_all(bytes)?;
    file.persist(path).map_err(|failed| failed.error)?;
    Ok(())
}

fn temporary(path: &Path) -> io::Result<tempfile::NamedTempFile> {
    let folder = path.parent().unwrap_or(path);
    make_folder(folder)?;
    tempfile::Builder::new()
        .prefix(TEMPORARY)
        .tempfile_in(folder)
}

/// The same as `write_durably`, for bytes.
pub fn write_bytes(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    let mut file = temporary(path)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|failed| failed.error)?;
    sync(folder)
}

/// A name is durable only after a sync of the folder that it is in.
fn sync(folder: &Path) -> io::Result<()> {
    fs::File::open(folder)?.sync_all()
}

/// Makes a folder of the state folder, and those above it. A power cut takes none of them away when this
/// has returned.
pub fn make_folder(folder: &Path) -> io::Result<()> {
    let new: Vec<&Path> = folder
        .ancestors()
        .take_while(|it| !it.as_os_str().is_empty() && !it.exists())
        .collect();
    if new.is_empty() {
        return Ok(());
    }
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    let mut parents = new.into_iter().filter_map(Path::parent);
    parents.try_for_each(sync)
}

/// The same for one whose parent must be there.
fn make_private(folder: &Path) -> Result<(), Failure> {
    let made = fs::DirBuilder::new().mode(0o700).create(folder);
    match made.and_then(|()| folder.parent().map_or(Ok(()), sync)) {
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
    fn only_old_temporary_files_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let long_ago = std::time::SystemTime::now() - OLD - OLD;
        for name in ["told/.tmpold", "told/.tmpnew", ".tmpold", "told/r-1"] {
            let path = folder.path().join(name);
            write_durably(&path, "half").unwrap();
            if name.ends_with("old") {
                let file = fs::File::options().write(true).open(&path).unwrap();
                file.set_modified(long_ago).unwrap();
            }
        }
        state.forget_temporary_files();
        state.forget_runs(|run| run == "r-1");
        let left = |name: &str| folder.path().join(name).exists();
        assert!(left("told/.tmpnew") && left("told/r-1"));
        assert!(!left("told/.tmpold") && !left(".tmpold"));
    }

    #[test]
    fn a_search_path_is_kept_with_its_run_and_goes_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let run = RunId::parse("r-1").unwrap();
        assert_eq!(state.search_path(&run), None);
        state.save_search_path(&run, OsStr::new("/a:/b")).unwrap();
        assert_eq!(state.search_path(&run), Some("/a:/b".into()));
        state.forget_runs(|run| run == "r-1");
        assert_eq!(state.search_path(&run), Some("/a:/b".into()));
        state.forget_runs(|_| false);
        assert_eq!(state.search_path(&run), None);
    }
}
