//! The runs that a worker has driven and no summary has told yet. A crash leaves them to the next worker.
//!
//! Only information: it decides nothing, and what cannot be written is only not told after a crash.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use engine::RunId;
use runtime::ids;
use runtime::live_workers::folder;
use runtime::state::{self, State};
use rustix::fs::OFlags;

/// A record that is not locked yet.
const NEW: &str = "new";

/// The record of this worker, and those of workers that are gone.
#[derive(Debug, Default)]
pub struct UntoldRuns {
    own: Option<RunsFile>,
    left: Vec<RunsFile>,
}

/// A file with the id of a run on each line. Its writer holds a lock on it, which ends with the process.
#[derive(Debug)]
struct RunsFile {
    path: PathBuf,
    file: File,
}

impl UntoldRuns {
    /// Notes that this worker drives the run.
    pub fn note(&mut self, state: &State, run: &RunId) {
        if self.own.is_none() {
            self.own = RunsFile::create(state);
        }
        if let Some(own) = &mut self.own {
            let written = writeln!(own.file, "{run}");
            let _ = written.and_then(|()| own.file.sync_data());
        }
    }

    /// The runs that workers have driven which are gone and told nobody.
    pub fn take_over(&mut self, state: &State) -> BTreeSet<RunId> {
        let listed = fs::read_dir(folder(state)).into_iter().flatten().flatten();
        let paths = listed.map(|entry| entry.path());
        let paths = paths.filter(|path| path.extension().is_none());
        self.left = paths
            .filter_map(|path| RunsFile::abandoned(&path))
            .collect();
        self.left.iter_mut().flat_map(RunsFile::runs).collect()
    }

    /// A summary has told all of them.
    pub fn set_told(self) {
        for record in self.own.iter().chain(&self.left) {
            let _ = fs::remove_file(&record.path);
        }
    }
}

impl RunsFile {
    /// Invariant: the record has its name only when it is locked, so nobody takes it for an abandoned one.
    fn create(state: &State) -> Option<Self> {
        let folder = folder(state);
        state::make_folder(&folder).ok()?;
        let path = folder.join(ids::key().ok()?.to_string());
        let new = path.with_extension(NEW);
        let mut options = OpenOptions::new();
        let file = options.append(true).create_new(true).mode(0o600).open(&new);
        let file = file.ok()?;
        file.try_lock().ok()?;
        fs::rename(&new, &path).ok()?;
        Some(Self { path, file })
    }

    /// The record at this path, if its writer is gone.
    fn abandoned(path: &Path) -> Option<Self> {
        let mut options = OpenOptions::new();
        let no_link = OFlags::NOFOLLOW.bits().cast_signed();
        let file = options.read(true).custom_flags(no_link).open(path).ok()?;
        file.try_lock().ok()?;
        Some(Self {
            path: path.to_owned(),
            file,
        })
    }

    fn runs(&mut self) -> Vec<RunId> {
        let mut text = String::new();
        let _ = self.file.read_to_string(&mut text);
        let lines = text.lines();
        lines.filter_map(|line| RunId::parse(line).ok()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(id: &str) -> RunId {
        RunId::parse(id).unwrap()
    }

    #[test]
    fn what_a_worker_that_is_gone_did_not_tell_is_told_once() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let mut first = UntoldRuns::default();
        first.note(&state, &run("r-1"));
        first.note(&state, &run("r-2"));
        let mut second = UntoldRuns::default();
        assert!(second.take_over(&state).is_empty(), "the first is there");
        drop(first);
        let both = BTreeSet::from([run("r-1"), run("r-2")]);
        assert_eq!(second.take_over(&state), both);
        let mut third = UntoldRuns::default();
        assert!(third.take_over(&state).is_empty(), "the second tells them");
        drop(second);
        assert_eq!(third.take_over(&state), both, "it did not come to it");
        third.set_told();
        assert!(UntoldRuns::default().take_over(&state).is_empty());
    }

    #[test]
    fn what_stands_there_besides_is_not_a_run() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        state::make_folder(&super::folder(&state)).unwrap();
        fs::write(super::folder(&state).join("record"), "r-1\n../x\n\nr-").unwrap();
        let runs = UntoldRuns::default().take_over(&state);
        assert!(runs.contains(&run("r-1")), "{runs:?}");
        assert!(!runs.iter().any(|run| run.as_str().contains('/')));
    }
}
