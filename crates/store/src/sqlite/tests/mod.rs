//! Tests that look inside the database.

mod collecting;
mod cost;
mod formats;
mod grouping;
mod salvaging;
mod tampering;
mod torn_index;

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{Access, Sqlite};
use crate::conformance::test_run::{TestRun, note};
use crate::{Backend, StoredRun};

/// A state folder that goes away with its test.
pub(super) struct Place {
    _root: TempDir,
    pub path: PathBuf,
}

impl Place {
    pub(super) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("state");
        Self { _root: root, path }
    }

    /// With a run `r-1` of this many entries.
    pub(super) fn with_run(entries: u64) -> (Self, TestRun) {
        let place = Self::new();
        let test_run = place.begin("r-1", entries);
        (place, test_run)
    }

    pub(super) fn begin(&self, id: &str, entries: u64) -> TestRun {
        let test_run = TestRun::new(id).unwrap();
        test_run.begin(&mut self.open()).unwrap();
        for seen in 1..entries {
            test_run
                .add(
                    &mut self.open(),
                    seen,
                    &[note(&format!("note {}", seen + 1))],
                )
                .unwrap();
        }
        test_run
    }

    pub(super) fn open(&self) -> Sqlite {
        Sqlite::open(&self.path, Access::Write).unwrap()
    }

    pub(super) fn run(&self, test_run: &TestRun) -> StoredRun {
        self.open().run(&test_run.id).unwrap().unwrap()
    }

    pub(super) fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path.join(name)).unwrap_or_default()
    }

    pub(super) fn marker(&self) -> String {
        String::from_utf8(self.bytes("damaged")).unwrap()
    }

    /// A database connection without any of our guards.
    pub(super) fn raw(&self) -> rusqlite::Connection {
        let connection = rusqlite::Connection::open(self.path.join("store.db")).unwrap();
        connection
            .execute_batch(
                "DROP TRIGGER IF EXISTS entries_stay;
                 DROP TRIGGER IF EXISTS entries_stay_as_they_are;
                 DROP TRIGGER IF EXISTS runs_stay;",
            )
            .unwrap();
        connection
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        Path::new(&self.path).join(name)
    }
}
