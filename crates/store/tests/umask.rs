//! The umask belongs to the whole process, so this test has one to itself.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use store::conformance::story::Story;
use store::{Access, Sqlite};

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
    for umask in [0o000, 0o022, 0o077] {
        rustix::process::umask(rustix::fs::Mode::from_raw_mode(umask));
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("deep/state");
        let mut store = Sqlite::open(&path, Access::Write).unwrap();
        Story::new("r-1").unwrap().begin(&mut store).unwrap();
        assert_eq!(mode(&path), 0o700);
        assert_eq!(mode(&path.join("heads")), 0o700);
        let files = files(&path);
        assert_eq!(files.len(), 5, "{files:?}");
        for file in files {
            assert_eq!(mode(&file), 0o600, "{}", file.display());
        }
    }
}
