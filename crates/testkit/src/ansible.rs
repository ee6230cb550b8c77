//! The real `ansible-playbook` and `ansible-lint`, pinned.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::claude::targets;

/// The version of `ansible-core` that the tests are written for. `cargo xtask test` reads the same file.
pub const VERSION: &str = include_str!("ansible/version.txt").trim_ascii();

/// A playbook that the linters accept.
pub const PLAYBOOK: &str = "---
- name: Greet people
  hosts: all
  gather_facts: false
  tasks:
    - name: Say hello
      ansible.builtin.debug:
        msg: Hello
";

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

/// The search path of the tests, with these programs before all others.
pub fn path() -> OsString {
    let system = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(folder()).chain(std::env::split_paths(&system));
    std::env::join_paths(all).expect("a search path can be joined")
}

/// Puts the programs into a folder that is searched already.
pub fn link_into(searched: &Path) {
    let all = fs::read_dir(folder()).expect("the folder can be read");
    for program in all.filter_map(Result::ok) {
        let name = program.file_name();
        if name.to_string_lossy().starts_with("ansible") {
            symlink(program.path(), searched.join(name)).expect("a link can be made");
        }
    }
}
