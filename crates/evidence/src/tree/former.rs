//! Files that git tracked when the run began, and no longer tracks: they count even if git ignores them now, as an
//! agent may untrack a file to hide it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use engine::Run;

use super::listing::{Listed, Standing, all};
use crate::beneath::{self, Folder};
use crate::git::Git;
use crate::project::Project;

/// The current commit, for a run whose first one is unknown.
const HEAD: &str = "HEAD";

/// Those of them that exist. A repository without a commit has none.
pub(super) fn list(project: &Project, run: &Run) -> Vec<Listed> {
    let paths = since(project, commit(run));
    let paths = paths.or_else(|| since(project, HEAD)).unwrap_or_default();
    if paths.is_empty() {
        return Vec::new();
    }
    let Ok(root) = Folder::open(&project.root) else {
        return Vec::new();
    };
    let is_file = |path: &Vec<u8>| {
        let found = root.stat(path);
        // A link in the place of a folder may lead to another file of this name.
        let is_behind_link = || project.root.join(OsStr::from_bytes(path)).is_file();
        found.is_ok_and(|stat| beneath::kind(&stat) != rustix::fs::FileType::Directory)
            || is_behind_link()
    };
    let paths = paths.into_iter().filter(is_file).collect();
    all(paths, Standing::Former)
}

/// The commit with which the run began.
fn commit(run: &Run) -> &str {
    let branch = run.place.as_ref().map(|place| place.branch.base.as_str());
    let commit = branch.or(run.commit.as_deref()).unwrap_or(HEAD);
    let is_hash = !commit.is_empty() && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hash { commit } else { HEAD }
}

fn since(project: &Project, commit: &str) -> Option<Vec<Vec<u8>>> {
    let repository = project.repository.as_ref()?;
    let git = Git::find().ok()?;
    git.untracked_since(&project.root, &repository.git_dir, commit)
}
