//! How the views of a run were left: kept in the state folder, so that what others do to them shows.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::hash::{DefaultHasher, Hasher as _};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::time::Duration;

use engine::RunId;
use evidence::{FileStamp, InsidePath};
use serde_json::{Value, json};
use views::JournalDigest;

use crate::failure::Failure;
use crate::file_lock::FileLock;
use crate::state::State;

/// How long we wait for another one that renders the same run.
const PATIENCE: Duration = Duration::from_secs(3);

/// The first line. Both words have the same length, so that one is written over the other.
const LEFT: &str = "written";
const AT_IT: &str = "writing";

/// Invariant: whoever changes it holds the turn. It is a cache: one that is lost or cannot be read
/// costs a rendering from the whole journal, and nobody is accused of anything.
#[derive(Debug, Default)]
pub struct Record {
    path: PathBuf,
    pub digest: JournalDigest,
    files: BTreeMap<String, Written>,
}

/// How a view was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    pub mark: FileStamp,
    /// Of its text; a log has none, since it only grows.
    pub print: Option<Print>,
}

/// A text's fingerprint: nobody is kept from forging it, since the mark has changed by then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Print(u64);

impl Print {
    /// A hook takes one after every change, so it must be quick above all.
    pub fn of(bytes: &[u8]) -> Self {
        let mut hasher = DefaultHasher::new();
        hasher.write(bytes);
        Self(hasher.finish())
    }
}

impl Record {
    /// Waits for the turn to render the views of this run.
    pub fn turn(state: &State, run: &RunId) -> Result<FileLock, Failure> {
        FileLock::wait_for(&state.views().join(format!("{run}.lock")), PATIENCE)
    }

    /// An empty one where nothing is kept, or where somebody was interrupted.
    pub fn read(state: &State, run: &RunId) -> Self {
        let path = state.views().join(run.as_str());
        let text = fs::read_to_string(&path).unwrap_or_default();
        let (digest, files) = parse(&text).unwrap_or_default();
        Self {
            path,
            digest,
            files,
        }
    }

    pub fn of(&self, path: &InsidePath) -> Option<&Written> {
        self.files.get(path.as_str())
    }

    pub fn set(&mut self, path: &InsidePath, written: Option<Written>) {
        match written {
            Some(written) => self.files.insert(path.as_str().to_owned(), written),
            None => self.files.remove(path.as_str()),
        };
    }

    /// Said before the first file is touched: should we be killed now, nobody else has edited them.
    pub fn begin(&self) {
        let opened = OpenOptions::new().write(true).open(&self.path);
        let _ = opened.and_then(|mut file| file.write_all(AT_IT.as_bytes()));
    }

    /// Kept without a sync: after a power failure it may be old, and then it is not believed.
    pub fn keep(&self) -> io::Result<()> {
        let files: Vec<Value> = self
            .files
            .iter()
            .map(|(path, written)| {
                let print = written.print.map(|print| print.0);
                json!([path, written.mark.text(), print])
            })
            .collect();
        let text = format!("{LEFT}\n{}\n{}", json!(files), self.digest.text());
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        options.open(&self.path)?.write_all(text.as_bytes())
    }
}

fn parse(text: &str) -> Option<(JournalDigest, BTreeMap<String, Written>)> {
    let rest = text.strip_prefix(LEFT)?.strip_prefix('\n')?;
    let (files, digest) = rest.split_once('\n')?;
    let files: Value = serde_json::from_str(files).ok()?;
    let file = |file: &Value| {
        let print = match &file[2] {
            Value::Null => None,
            print => Some(Print(print.as_u64()?)),
        };
        let mark = FileStamp::parse(file[1].as_str()?)?;
        Some((file[0].as_str()?.to_owned(), Written { mark, print }))
    };
    let files = files.as_array()?.iter().map(file).collect::<Option<_>>()?;
    Some((JournalDigest::read(digest)?, files))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> (tempfile::TempDir, State, RunId) {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().join("state"));
        fs::create_dir(state.folder()).unwrap();
        (folder, state, RunId::parse("r-1").unwrap())
    }

    fn written() -> Written {
        Written {
            mark: FileStamp::parse("1 2 3 4").unwrap(),
            print: Some(Print::of(b"x")),
        }
    }

    #[test]
    fn what_is_kept_is_read_again() {
        let (_folder, state, run) = place();
        let mut record = Record::read(&state, &run);
        let path = InsidePath::parse("a \"b\"\n.json").unwrap();
        let log = InsidePath::parse("log").unwrap();
        record.digest.version = 7;
        record.set(&path, Some(written()));
        let grows = Written {
            print: None,
            ..written()
        };
        record.set(&log, Some(grows));
        record.keep().unwrap();
        let again = Record::read(&state, &run);
        assert_eq!(again.of(&path), Some(&written()));
        assert_eq!(again.of(&log), Some(&grows));
        assert_eq!(again.digest, record.digest);
    }

    #[test]
    fn who_was_interrupted_or_damaged_left_nothing_to_compare_with() {
        let (_folder, state, run) = place();
        let mut record = Record::read(&state, &run);
        let path = InsidePath::parse("a").unwrap();
        record.set(&path, Some(written()));
        record.keep().unwrap();
        record.begin();
        assert_eq!(Record::read(&state, &run).of(&path), None);
        record.keep().unwrap();
        let text = fs::read(&record.path).unwrap();
        for length in 0..text.len() {
            fs::write(&record.path, &text[..length]).unwrap();
            let _ = Record::read(&state, &run);
        }
        fs::write(&record.path, [0xff, 0xfe]).unwrap();
        assert_eq!(Record::read(&state, &run).of(&path), None);
    }
}
