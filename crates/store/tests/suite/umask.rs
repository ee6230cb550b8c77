//! The umask belongs to the whole process, so each one is tried in a process of its own.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use store::conformance::test_run::TestRun;
use store::{Access, Sqlite};

/// Tells the child which umask to set, in octal.
const UMASK: &str = "STORE_UMASK";

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| {
            if path.is_dir() {
                files(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

#[test]
fn folder_and_files_are_private_whatever_the_umask() {
    for umask in ["000", "022", "077"] {
        let mut child = Command::new(env::current_exe().unwrap());
        child.args(["--exact", "umask::a_process_with_an_umask_of_its_own"]);
        let ran = child.env(UMASK, umask).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success(), "{umask}: {said}");
        assert!(said.contains("1 passed"), "{umask}: {said}");
    }
}

/// The process that the test above starts. Where nobody says which umask, it keeps the one that it has.
#[test]
fn a_process_with_an_umask_of_its_own() {
    if let Ok(umask) = env::var(UMASK) {
        let mode = u32::from_str_radix(&umask, 8).unwrap();
        rustix::process::umask(rustix::fs::Mode::from_raw_mode(mode));
    }
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("deep/state");
    let mut store = Sqlite::open(&path, Access::Write).unwrap();
    TestRun::new("r-1").unwrap().begin(&mut store).unwrap();
    assert_eq!(mode(&path), 0o700);
    assert_eq!(mode(&path.join("heads")), 0o700);
    let files = files(&path);
    assert_eq!(files.len(), 5, "{files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}
