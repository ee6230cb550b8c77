//! Is there room on the disk for another worktree?

use engine::{RunBranch, RunId};
use evidence::Project;
use runtime::failure::Failure;
use runtime::workspace::Workspace;

use super::checkout::Checkout;

/// What must be left for the work itself, the store and everybody else.
const RESERVE: u64 = 512 * 1024 * 1024;

/// Refuses to make a worktree that would fill the disk. Nothing is lost: the run stays in the queue.
pub(super) fn require(
    workspace: &Workspace<'_>,
    home: &Project,
    branch: &RunBranch,
    run: &RunId,
    carried: u64,
) -> Result<(), Failure> {
    let needed = size(home, branch)?.saturating_add(carried);
    let Ok(disk) = rustix::fs::statvfs(workspace.state.folder()) else {
        // A disk that does not say how full it is gets its chance.
        return Ok(());
    };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    if is_enough(free, needed) {
        Ok(())
    } else {
        Err(Failure::environment(format!(
            "the worktree of {run} needs about {} MB and {} MB must stay free for the work, and the disk of {} has {} \
             MB free",
            megabytes(needed),
            megabytes(RESERVE),
            workspace.state.folder().display(),
            megabytes(free)
        ))
        .hint(format!(
            "free some space (`gatewright gc` removes the worktrees of finished runs), then \
         `gatewright resume {run}`"
        )))
    }
}

fn is_enough(free: u64, needed: u64) -> bool {
    free.checked_sub(RESERVE).is_some_and(|rest| rest >= needed)
}

fn megabytes(bytes: u64) -> u64 {
    bytes.div_ceil(1024 * 1024)
}

/// The size of all files of the commit.
fn size(home: &Project, branch: &RunBranch) -> Result<u64, Failure> {
    let here = Checkout::of(home)?;
    let words = ["ls-tree", "-r", "--full-tree", "--format=%(objectsize)"];
    let listed = here.ask(&[words.as_slice(), &[&branch.base]].concat())?;
    let listed = String::from_utf8_lossy(&listed);
    // A submodule has no size of its own.
    Ok(listed
        .lines()
        .filter_map(|size| size.parse::<u64>().ok())
        .sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn something_is_left_for_the_work() {
        let gigabyte = 1024 * 1024 * 1024;
        assert!(is_enough(gigabyte, gigabyte / 2));
        assert!(!is_enough(gigabyte, gigabyte / 2 + 1));
        assert!(!is_enough(0, 0));
        assert!(!is_enough(u64::MAX, u64::MAX));
    }
}
