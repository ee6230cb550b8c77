//! What the tests share: a project, its settings, and all of its files with what they hold.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use testkit::{Project, Ran};

pub(super) const PROGRAM: &str = env!("CARGO_BIN_EXE_gatewright");
pub(super) const LOCAL: &str = ".claude/settings.local.json";
pub(super) const SHARED: &str = ".claude/settings.json";

/// Something that somebody does to a project.
pub(super) type Deed = fn(&Project);

pub(super) fn project() -> Project {
    Project::with_git(PROGRAM)
}

pub(super) fn init(project: &Project, more: &[&str]) -> Ran {
    let arguments = ["init", "--yes"].iter().chain(more);
    project.run(arguments)
}

pub(super) fn uninit(project: &Project) -> Ran {
    project.run(["uninit", "--yes"])
}

pub(super) fn json(project: &Project, path: &str) -> Value {
    serde_json::from_str(&project.read(path)).unwrap()
}

/// Every file below a folder with what it holds, and every folder with nothing; git's own is left out.
pub(crate) fn tree(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with(".git") {
            continue;
        }
        if path.is_dir() && !path.is_symlink() {
            found.extend(tree(&path));
            found.insert(path, None);
        } else {
            let bytes = fs::read(&path).unwrap_or_default();
            found.insert(path, Some(bytes));
        }
    }
    found
}
