//! Untracked files that come along into a worktree, because the work needs them.
//!
//! They are copied, as clones where the file system can: a hard link would let an agent change the person's
//! own file. They never come back.

use std::fs;
use std::os::unix::fs as unix;
use std::path::{Path, PathBuf};

use evidence::Project;
use evidence::git::path_of;
use runtime::failure::Failure;

use super::checkout::Checkout;

/// The project's own list: one pattern a line, as in `.gitignore`. Other tools read it, too.
const PROJECT_LIST: &str = ".worktreeinclude";

/// What is carried, relative to the project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CarryList {
    pub found: Vec<PathBuf>,
    /// Patterns of the pipeline that nothing matches.
    pub missing: Vec<String>,
}

impl CarryList {
    /// The size of all listed files. What cannot be read is missing in the copy, too.
    pub(super) fn bytes(&self, from: &Path) -> u64 {
        let sizes = self.found.iter().map(|path| size(&from.join(path)));
        sizes.fold(0, u64::saturating_add)
    }
}

fn size(path: &Path) -> u64 {
    let Ok(kind) = fs::symlink_metadata(path) else {
        return 0;
    };
    if !kind.is_dir() {
        return kind.len();
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| size(&entry.path()));
    sizes.fold(0, u64::saturating_add)
}

/// What the patterns of the pipeline and of the project name.
pub(super) fn carry_list(home: &Project, patterns: &[String]) -> Result<CarryList, Failure> {
    let mut list = CarryList::default();
    for pattern in patterns {
        let matches = untracked(home, &[format!("--exclude={pattern}")])?;
        if matches.is_empty() {
            list.missing.push(pattern.clone());
        }
        list.found.extend(matches);
    }
    let own = home.root.join(PROJECT_LIST);
    if own.is_file() {
        list.found.extend(untracked(
            home,
            &[format!("--exclude-from={}", own.display())],
        )?);
    }
    list.found.sort();
    list.found.dedup();
    Ok(list)
}

/// Has the project a list of its own?
pub fn has_own_list(home: &Project) -> bool {
    home.root.join(PROJECT_LIST).is_file()
}

/// The patterns of the pipeline that nothing in the project matches.
pub fn missing(home: &Project, patterns: &[String]) -> Result<Vec<String>, Failure> {
    Ok(carry_list(home, patterns)?.missing)
}

/// The files and whole folders that git ignores here.
pub(super) fn ignored(project: &Project) -> Result<Vec<PathBuf>, Failure> {
    untracked(project, &["--exclude-standard".to_owned()])
}

/// The untracked files and whole folders that match.
fn untracked(home: &Project, matching: &[String]) -> Result<Vec<PathBuf>, Failure> {
    let here = Checkout::of(home)?;
    let mut command = here.command()?;
    command.args(["ls-files", "-z", "--others", "--ignored", "--directory"]);
    let listed = here.succeed(command.args(matching))?;
    let paths = listed
        .split(|byte| *byte == 0)
        .filter(|path| !path.is_empty());
    let paths = paths.map(|path| path_of(path.strip_suffix(b"/").unwrap_or(path)));
    Ok(paths.filter(|path| stays_inside(path)).collect())
}

fn stays_inside(path: &Path) -> bool {
    let is_plain = |part| matches!(part, std::path::Component::Normal(name) if name != ".git");
    path.components().all(is_plain)
}

/// Copies what is listed, and says what could not be copied.
pub(super) fn copy_into(list: &CarryList, from: &Path, to: &Path) -> Result<Vec<String>, Failure> {
    let mut remarks = Vec::new();
    for pattern in &list.missing {
        remarks.push(format!("nothing in the project matches `carry` {pattern}"));
    }
    for path in &list.found {
        let target = to.join(path);
        if let Some(above) = target.parent() {
            fs::create_dir_all(above).map_err(Failure::file("make", above))?;
        }
        copy(&from.join(path), &target, &mut remarks)?;
    }
    Ok(remarks)
}

fn copy(from: &Path, to: &Path, remarks: &mut Vec<String>) -> Result<(), Failure> {
    let kind = fs::symlink_metadata(from).map_err(Failure::file("read", from))?;
    if kind.is_symlink() {
        let target = fs::read_link(from).map_err(Failure::file("read", from))?;
        replace(to, |to| unix::symlink(&target, to))
    } else if kind.is_dir() {
        fs::create_dir_all(to).map_err(Failure::file("make", to))?;
        let mut entries = fs::read_dir(from)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(Failure::file("read", from))?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            copy(&entry.path(), &to.join(entry.file_name()), remarks)?;
        }
        Ok(())
    } else if kind.is_file() {
        // The standard library clones where the file system can.
        replace(to, |to| fs::copy(from, to).map(drop))
    } else {
        remarks.push(format!(
            "{} is not a file and was not carried",
            from.display()
        ));
        Ok(())
    }
}

/// A copy that a kill interrupted is made again.
fn replace(to: &Path, make: impl Fn(&Path) -> std::io::Result<()>) -> Result<(), Failure> {
    if to.symlink_metadata().is_ok() {
        fs::remove_file(to).map_err(Failure::file("replace", to))?;
    }
    make(to).map_err(Failure::file("write to", to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_carried_needs_room_with_all_of_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let from = folder.path();
        fs::create_dir_all(from.join("vendor/deep")).unwrap();
        fs::write(from.join("vendor/deep/a"), [0; 700]).unwrap();
        fs::write(from.join("vendor/b"), [0; 300]).unwrap();
        fs::write(from.join(".env"), [0; 24]).unwrap();
        let list = CarryList {
            found: vec!["vendor".into(), ".env".into(), "absent".into()],
            missing: Vec::new(),
        };
        assert_eq!(list.bytes(from), 1024);
        assert_eq!(CarryList::default().bytes(from), 0);
    }
}
