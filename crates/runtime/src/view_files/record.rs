//! The last written state of a run's views, stored in the state folder, to detect changes by
//! others.

use std::collections::BTreeMap;
#[cfg(test)]
use std::fs;
use std::fs::{File, OpenOptions};
use std::hash::{DefaultHasher, Hasher as _};
use std::io::{self, ErrorKind, IoSlice};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::PathBuf;
use std::time::Duration;

use engine::RunId;
use evidence::{FileStamp, InsidePath, small_file};
use views::JournalDigest;

use crate::failure::Failure;
use crate::file_lock::FileLock;
use crate::state::State;

/// How long to wait for another process that renders the same run.
const PATIENCE: Duration = Duration::from_secs(3);

/// Below the state folder.
const FOLDER: &str = "views";

/// The first line. Both words have the same length, so that one can overwrite the other.
const LEFT: &str = "written";
const AT_IT: &str = "writing";

/// Invariant: only the holder of the lock changes it. It is a cache: if it is lost or unreadable,
/// the views are rendered from the whole journal, and no change is reported.
#[derive(Debug, Default)]
pub(super) struct ViewRecord {
    path: PathBuf,
    /// Its file, if it exists, and how long that was.
    file: Option<(File, usize)>,
    pub digest: JournalDigest,
    files: BTreeMap<String, WrittenView>,
}

/// The last written state of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WrittenView {
    pub file_stamp: FileStamp,
    /// `None` for a log, which only grows.
    pub print: Option<TextFingerprint>,
}

/// A fingerprint of a text. It need not resist forgery, because a forged file has another stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextFingerprint(u64);

impl TextFingerprint {
    /// A hook computes one after every change, so it must be fast.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut hasher = DefaultHasher::new();
        hasher.write(bytes);
        Self(hasher.finish())
    }
}

impl ViewRecord {
    /// Locks the views of this run.
    pub(super) fn lock(
        state: &State,
        run: &RunId,
        before_waiting: impl Fn(),
    ) -> Result<FileLock, Failure> {
        let folder = state.folder().join(FOLDER);
        let path = folder.join(format!("{run}.lock"));
        let lock = FileLock::take(&path, PATIENCE, &before_waiting);
        match lock {
            Err(_) if !folder.is_dir() => {
                state.views();
                FileLock::take(&path, PATIENCE, before_waiting)
            }
            lock => lock,
        }
    }

    /// Empty if nothing is stored, or if a writer was interrupted.
    pub(super) fn read(state: &State, run: &RunId) -> Self {
        let path = state.folder().join(FOLDER).join(run.as_str());
        let file = OpenOptions::new().read(true).write(true).open(&path).ok();
        let bytes = file.as_ref().map(small_file::read_long_from);
        let bytes = bytes.and_then(Result::ok).unwrap_or_default();
        let length = bytes.len();
        let text = String::from_utf8(bytes).unwrap_or_default();
        let (digest, files) = parse(text).unwrap_or_default();
        Self {
            path,
            file: file.map(|file| (file, length)),
            digest,
            files,
        }
    }

    pub(super) fn of(&self, path: &InsidePath) -> Option<&WrittenView> {
        self.files.get(path.as_str())
    }

    pub(super) fn set(&mut self, path: &InsidePath, written: Option<WrittenView>) {
        match written {
            Some(written) => self.files.insert(path.as_str().to_owned(), written),
            None => self.files.remove(path.as_str()),
        };
    }

    /// Written before the first file is touched: if we are killed now, the changes are ours.
    pub(super) fn mark_incomplete(&self) {
        if let Some((file, _)) = &self.file {
            let _ = file.write_all_at(AT_IT.as_bytes(), 0);
        }
    }

    /// Written without a sync: after a power failure it may be old, and is then ignored.
    pub(super) fn save(&mut self) -> io::Result<()> {
        let files = self.files.iter().map(|(path, written)| {
            let print = written.print.map(|print| print.0);
            (path, written.file_stamp.text(), print)
        });
        let files = serde_json::to_string(&files.collect::<Vec<_>>())?;
        let (digest, rows) = self.digest.parts();
        let text = format!("{LEFT}\n{files}\n{digest}");
        let whole = text.len() + rows.len();
        let (file, length) = match self.file.take() {
            Some(known) => known,
            None => {
                let mut options = OpenOptions::new();
                options.write(true).create(true).truncate(true).mode(0o600);
                (options.open(&self.path)?, 0)
            }
        };
        // Nothing of a longer text may be left behind the new one.
        if length > whole {
            file.set_len(0)?;
        }
        let parts = [text.as_bytes(), rows.as_bytes()].map(IoSlice::new);
        if rustix::io::pwritev(&file, &parts, 0)? != whole {
            return Err(ErrorKind::WriteZero.into());
        }
        self.file = Some((file, whole));
        Ok(())
    }
}

fn parse(text: String) -> Option<(JournalDigest, BTreeMap<String, WrittenView>)> {
    let rest = text.strip_prefix(LEFT)?.strip_prefix('\n')?;
    let (files, digest) = rest.split_once('\n')?;
    let digest = text.len() - digest.len();
    // A hook reads it after every change: straight from the text, without a tree of values in between.
    let files: Vec<(String, &str, Option<u64>)> = serde_json::from_str(files).ok()?;
    let files = files.into_iter().map(|(path, stamp, print)| {
        let written = WrittenView {
            file_stamp: FileStamp::parse(stamp)?,
            print: print.map(TextFingerprint),
        };
        Some((path, written))
    });
    let files = files.collect::<Option<_>>()?;
    Some((JournalDigest::read_behind(text, digest)?, files))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> (tempfile::TempDir, State, RunId) {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().join("state"));
        fs::create_dir(state.folder()).unwrap();
        state.views();
        (folder, state, RunId::parse("r-1").unwrap())
    }

    fn read_written() -> WrittenView {
        WrittenView {
            file_stamp: FileStamp::parse("1 2 3 4").unwrap(),
            print: Some(TextFingerprint::of(b"x")),
        }
    }

    #[test]
    fn what_is_kept_is_read_again() {
        let (_folder, state, run) = place();
        let mut record = ViewRecord::read(&state, &run);
        let path = InsidePath::parse("a \"b\"\n.json").unwrap();
        let log = InsidePath::parse("log").unwrap();
        record.digest.version = 7;
        record.set(&path, Some(read_written()));
        let grows = WrittenView {
            print: None,
            ..read_written()
        };
        record.set(&log, Some(grows));
        record.save().unwrap();
        let mut again = ViewRecord::read(&state, &run);
        assert_eq!(again.of(&path), Some(&read_written()));
        assert_eq!(again.of(&log), Some(&grows));
        assert_eq!(again.digest, record.digest);
        // A shorter and a longer text over an earlier one.
        again.set(&log, None);
        again.save().unwrap();
        let mut shorter = ViewRecord::read(&state, &run);
        assert_eq!(shorter.digest, record.digest);
        assert_eq!(shorter.of(&log), None);
        shorter.set(&log, Some(grows));
        shorter.save().unwrap();
        assert_eq!(ViewRecord::read(&state, &run).of(&log), Some(&grows));
    }

    #[test]
    fn who_was_interrupted_or_damaged_left_nothing_to_compare_with() {
        let (_folder, state, run) = place();
        let mut record = ViewRecord::read(&state, &run);
        let path = InsidePath::parse("a").unwrap();
        record.set(&path, Some(read_written()));
        record.save().unwrap();
        record.mark_incomplete();
        assert_eq!(ViewRecord::read(&state, &run).of(&path), None);
        record.save().unwrap();
        let text = fs::read(&record.path).unwrap();
        for length in 0..text.len() {
            fs::write(&record.path, &text[..length]).unwrap();
            let _ = ViewRecord::read(&state, &run);
        }
        fs::write(&record.path, [0xff, 0xfe]).unwrap();
        assert_eq!(ViewRecord::read(&state, &run).of(&path), None);
    }

    #[test]
    fn stored_bytes_are_read_and_written_as_they_always_were() {
        let (_folder, state, run) = place();
        let mut record = ViewRecord::read(&state, &run);
        let (view, log) = (
            InsidePath::parse("a \"b\"").unwrap(),
            InsidePath::parse("log").unwrap(),
        );
        let print = Some(TextFingerprint(u64::MAX));
        let written = WrittenView {
            print,
            ..read_written()
        };
        let grows = WrittenView {
            print: None,
            ..written
        };
        record.set(&view, Some(written));
        record.set(&log, Some(grows));
        record.save().unwrap();
        let text = fs::read_to_string(&record.path).unwrap();
        let stored = r#"[["a \"b\"","1 2 3 4",18446744073709551615],["log","1 2 3 4",null]]"#;
        assert_eq!(text.lines().nth(1), Some(stored));
        assert_eq!(ViewRecord::read(&state, &run).of(&view), Some(&written));
        for damaged in [
            "{}",
            r#"[["log","1 2",null]]"#,
            r#"[["log","1 2 3 4","x"]]"#,
        ] {
            fs::write(&record.path, text.replace(stored, damaged)).unwrap();
            assert_eq!(ViewRecord::read(&state, &run).of(&log), None, "{damaged}");
        }
    }
}
