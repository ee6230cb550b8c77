//! What changed since a moment in a file or folder that came along into a worktree.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The paths below this one, relative to the worktree, that are new, changed or gone since then. A folder of which
/// everything is new, or of which something is gone, stands for itself.
///
/// The time of the last change of an inode is compared, which no program can set back.
pub(super) fn since(worktree: &Path, path: &Path, moment: SystemTime) -> Vec<PathBuf> {
    let Ok(stat) = fs::symlink_metadata(worktree.join(path)) else {
        return vec![path.to_owned()];
    };
    look(worktree, path, &stat, moment).changed
}

struct FolderLook {
    changed: Vec<PathBuf>,
    /// Is there anything that did not change?
    has_unchanged: bool,
}

fn look(worktree: &Path, path: &Path, stat: &Metadata, moment: SystemTime) -> FolderLook {
    let is_new = changed_at(stat).is_some_and(|at| at > moment);
    if !stat.is_dir() {
        return FolderLook {
            changed: if is_new {
                vec![path.to_owned()]
            } else {
                Vec::new()
            },
            has_unchanged: !is_new,
        };
    }
    let mut all = FolderLook {
        changed: Vec::new(),
        has_unchanged: false,
    };
    let entries = fs::read_dir(worktree.join(path)).into_iter().flatten();
    for entry in entries.flatten() {
        let Ok(stat) = entry.metadata() else { continue };
        let found = look(worktree, &path.join(entry.file_name()), &stat, moment);
        all.changed.extend(found.changed);
        all.has_unchanged |= found.has_unchanged;
    }
    let is_whole = !all.has_unchanged && !all.changed.is_empty();
    let lost_something = is_new && all.changed.is_empty();
    if is_whole || lost_something {
        all.changed = vec![path.to_owned()];
    }
    all.has_unchanged |= !is_new && !is_whole;
    all
}

fn changed_at(stat: &Metadata) -> Option<SystemTime> {
    let seconds = u64::try_from(stat.ctime()).ok()?;
    let nanoseconds = u32::try_from(stat.ctime_nsec()).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The moment after this file was written.
    fn moment(folder: &Path) -> SystemTime {
        let mark = folder.join("mark");
        fs::write(&mark, "").unwrap();
        let moment = changed_at(&mark.metadata().unwrap()).unwrap();
        // The clock of the disk ticks slowly.
        testkit::until("the clock of the disk has got on", || {
            fs::write(&mark, "x").unwrap();
            changed_at(&mark.metadata().unwrap()).unwrap() > moment
        });
        moment
    }

    #[test]
    fn what_changes_after_the_copy_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for path in [
            "env",
            "packages/a/index",
            "packages/b/one",
            "packages/b/two",
        ] {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), "before").unwrap();
        }
        let moment = moment(root);
        let changed = |path: &str| {
            let mut found: Vec<String> = since(root, path.as_ref(), moment)
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            found.sort();
            found
        };
        assert!(changed("env").is_empty() && changed("packages").is_empty());
        fs::write(root.join("env"), "after!").unwrap();
        assert_eq!(changed("env"), ["env"]);
        fs::create_dir(root.join("packages/c")).unwrap();
        fs::write(root.join("packages/c/one"), "new").unwrap();
        fs::write(root.join("packages/c/two"), "new").unwrap();
        assert_eq!(changed("packages"), ["packages/c"]);
        fs::write(root.join("packages/b/one"), "after!").unwrap();
        assert_eq!(changed("packages"), ["packages/b/one", "packages/c"]);
        fs::remove_file(root.join("packages/a/index")).unwrap();
        assert_eq!(
            changed("packages"),
            ["packages/a", "packages/b/one", "packages/c"]
        );
        fs::remove_file(root.join("env")).unwrap();
        assert_eq!(changed("env"), ["env"]);
    }
}
