//! The real `ansible-playbook` and `ansible-lint`, pinned.

use std::path::PathBuf;

use crate::claude::targets;

/// The version of `ansible-core` that the tests are written for. `cargo xtask test` reads the same file.
pub const VERSION: &str = include_str!("ansible/version.txt").trim_ascii();

/// The folder with the programs, which `cargo xtask test` has installed.
///
/// # Panics
/// When they are not there: a test is never left out in silence.
pub fn folder() -> PathBuf {
    let places = targets().map(|target| {
        let folder = target.join("agents").join(format!("ansible-{VERSION}"));
        folder.join("bin")
    });
    let is_there = |place: &PathBuf| place.join("ansible-lint").is_file();
    let found = places.into_iter().find(is_there);
    let found = found.unwrap_or_else(|| {
        panic!("Ansible {VERSION} is missing: run `cargo xtask test`, which installs it")
    });
    found.canonicalize().expect("the folder is there")
}
