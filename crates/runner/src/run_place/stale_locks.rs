//! Locks that a killed git left on what is a run's alone: its branch, its refs and its worktree.
//!
//! Git never removes the lock of a git that was killed, and then refuses for ever. Those in the person's own tree and on
//! the person's branches are not touched.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use engine::RunId;
use evidence::Repository;

/// Who lives holds a lock for less than this.
const LONGEST_HELD: Duration = Duration::from_secs(5);

const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Removes the locks of a run.
///
/// Invariant: we hold the lease of the run and no worker of it is at work.
pub(crate) fn remove(repository: &Repository, run: &RunId, branch: Option<&str>) {
    let refs = repository.common_dir.join("refs");
    let mut locks = Vec::new();
    collect(&refs.join("gatewright").join(run.as_str()), &mut locks);
    locks.extend(branch.map(|name| refs.join("heads").join(format!("{name}.lock"))));
    locks.iter().for_each(|lock| remove_one(lock));
}

/// Removes the locks in the worktree of a run, unless somebody is at work there.
///
/// Invariant: as for [`remove`].
pub(crate) fn remove_in_worktree(repository: &Repository, root: &Path) {
    let worktrees = repository.common_dir.join("worktrees");
    let is_own = repository.git_dir.parent() == Some(worktrees.as_path());
    let mut locks = Vec::new();
    if is_own {
        // Not only the index has one: a merge locks its own refs.
        collect(&repository.git_dir, &mut locks);
    }
    // A person who writes the message of a commit holds the lock for as long as that takes.
    if !locks.is_empty() && !is_visited(root) {
        locks.iter().for_each(|lock| remove_one(lock));
    }
}

/// Waits for those who live, and removes the lock if it is still the same.
fn remove_one(lock: &Path) {
    let Some(modified) = modified(lock) else {
        return;
    };
    let age = modified.elapsed().unwrap_or_default();
    let mut left = LONGEST_HELD.saturating_sub(age);
    while !left.is_zero() {
        thread::sleep(left.min(POLL_INTERVAL));
        left = left.saturating_sub(POLL_INTERVAL);
        if self::modified(lock) != Some(modified) {
            return;
        }
    }
    // If it stays, git says so.
    let _ = fs::remove_file(lock);
}

fn modified(lock: &Path) -> Option<SystemTime> {
    fs::symlink_metadata(lock).ok()?.modified().ok()
}

/// Every lock in this folder and below.
fn collect(folder: &Path, locks: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => collect(&path, locks),
            Ok(_) if path.extension().is_some_and(|end| end == "lock") => locks.push(path),
            Ok(_) | Err(_) => {}
        }
    }
}

/// Does a process work in this folder? Without `/proc` nobody can tell.
fn is_visited(root: &Path) -> bool {
    let listed = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut folders = listed.filter_map(|entry| fs::read_link(entry.path().join("cwd")).ok());
    folders.any(|folder| folder.starts_with(root))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn old(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let file = fs::File::create(path).unwrap();
        let long_ago = SystemTime::now() - 2 * LONGEST_HELD;
        file.set_modified(long_ago).unwrap();
    }

    #[test]
    fn what_is_the_runs_goes_and_what_is_the_persons_stays() {
        let folder = tempfile::tempdir().unwrap();
        let common_dir = folder.path().join(".git");
        let own = Repository {
            git_dir: common_dir.join("worktrees/project"),
            common_dir: common_dir.clone(),
            linked_back: true,
        };
        let persons = Repository {
            git_dir: common_dir.clone(),
            ..own.clone()
        };
        let theirs = [
            "index.lock",
            "HEAD.lock",
            "packed-refs.lock",
            "refs/heads/main.lock",
            "refs/heads/gatewright/r-2-try.lock",
            "refs/gatewright/r-2/d1.lock",
        ];
        let ours = [
            "worktrees/project/index.lock",
            "worktrees/project/HEAD.lock",
            "worktrees/project/AUTO_MERGE.lock",
            "worktrees/project/refs/bisect/bad.lock",
            "refs/heads/gatewright/r-1-try.lock",
            "refs/gatewright/r-1/deep/d1.lock",
        ];
        for name in theirs.iter().chain(&ours) {
            old(&common_dir.join(name));
        }
        let run = RunId::parse("r-1").unwrap();
        remove(&own, &run, Some("gatewright/r-1-try"));
        for repository in [&own, &persons] {
            remove_in_worktree(repository, &folder.path().join("project"));
        }
        assert!(theirs.iter().all(|name| common_dir.join(name).exists()));
        assert!(!ours.iter().any(|name| common_dir.join(name).exists()));
    }

    #[test]
    fn a_lock_that_is_held_now_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let lock = folder.path().join("a.lock");
        fs::write(&lock, "").unwrap();
        thread::scope(|scope| {
            scope.spawn(|| {
                // Nobody can watch for it: the other thread shows no sign that it waits.
                thread::sleep(2 * POLL_INTERVAL);
                fs::write(&lock, "another one").unwrap();
            });
            remove_one(&lock);
        });
        assert!(lock.exists(), "it is not the one that we waited for");
    }
}
