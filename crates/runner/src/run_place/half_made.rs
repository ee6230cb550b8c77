//! Half-made worktrees: an empty file among git's own records breaks every `git worktree` of the repository, also
//! the person's. A git that lives fills it soon, and what a killed one of ours left is removed.

use std::fs;
use std::path::Path;
use std::process::Output;
use std::thread;
use std::time::{Duration, Instant};

use runtime::failure::Failure;

/// A git that lives fills the file at once.
const LONGEST: Duration = Duration::from_secs(5);

const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How often another git that makes a worktree at the same time is waited for, and how long each time.
const MOST_WAITS: usize = 10;
const WAIT: Duration = Duration::from_millis(200);

/// Makes a worktree; once more where git could not read the record of one that another git is making.
pub(crate) fn with_retries(
    mut make: impl FnMut() -> Result<Output, Failure>,
) -> Result<Output, Failure> {
    let mut output = make()?;
    for _ in 0..MOST_WAITS {
        if output.status.success() || !has_met_half_made(&output.stderr) {
            break;
        }
        thread::sleep(WAIT);
        output = make()?;
    }
    Ok(output)
}

/// Git reads all its records of worktrees, and one of them is being written.
fn has_met_half_made(complaint: &[u8]) -> bool {
    let complaint = String::from_utf8_lossy(complaint);
    let mut records = ["/commondir", "/gitdir"].iter();
    complaint.contains("failed to read") && records.any(|record| complaint.contains(record))
}

/// Removes git's records of worktrees in the state folder whose making was interrupted. Those elsewhere are the
/// person's.
pub(crate) fn remove(common_dir: &Path, state: &Path) {
    let Ok(state) = state.canonicalize() else {
        return;
    };
    let listed = fs::read_dir(common_dir.join("worktrees"));
    for entry in listed.into_iter().flatten().flatten() {
        let record = entry.path();
        if is_ours(&record, &state) && stays_empty(&record.join("commondir")) {
            // If it stays, git says so.
            let _ = fs::remove_dir_all(&record);
        }
    }
}

fn is_ours(record: &Path, state: &Path) -> bool {
    let target = fs::read_to_string(record.join("gitdir")).unwrap_or_default();
    Path::new(target.trim()).starts_with(state)
}

/// Is the file empty, and does nobody fill it?
fn stays_empty(file: &Path) -> bool {
    let is_empty = || fs::metadata(file).is_ok_and(|it| it.len() == 0);
    let modified = fs::metadata(file).and_then(|it| it.modified());
    let age = modified.ok().and_then(|it| it.elapsed().ok());
    let left = LONGEST.saturating_sub(age.unwrap_or_default());
    let end = Instant::now() + left;
    while is_empty() && Instant::now() < end {
        thread::sleep(POLL_INTERVAL);
    }
    is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_ours_and_half_made_goes() {
        let folder = tempfile::tempdir().unwrap();
        let (git, state) = (folder.path().join(".git"), folder.path().join("state"));
        fs::create_dir_all(&state).unwrap();
        let state = state.canonicalize().unwrap();
        let ours = state.join("places/r-1/project/.git").display().to_string();
        let long_ago = std::time::SystemTime::now() - 2 * LONGEST;
        for (name, target, common) in [
            ("half", ours.as_str(), ""),
            ("whole", ours.as_str(), "../..\n"),
            ("persons", "/elsewhere/.git", ""),
        ] {
            let record = git.join("worktrees").join(name);
            fs::create_dir_all(&record).unwrap();
            fs::write(record.join("gitdir"), target).unwrap();
            fs::write(record.join("commondir"), common).unwrap();
            let file = fs::File::options()
                .append(true)
                .open(record.join("commondir"));
            file.unwrap().set_modified(long_ago).unwrap();
        }
        remove(&git, &state);
        let is_there = |name: &str| git.join("worktrees").join(name).exists();
        assert_eq!(
            ["half", "whole", "persons"].map(is_there),
            [false, true, true]
        );
    }
}
