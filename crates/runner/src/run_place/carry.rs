//! Untracked files that come along into a worktree, because the work needs them.
//!
//! They are copied, as clones where the file system can: a hard link would let an agent change the person's
//! own file. They never come back.

mod links;

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use evidence::Project;
use evidence::git::path_of;
use runtime::failure::Failure;

use super::checkout::Checkout;
use links::Leads;

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

/// What becomes of a link that would lead elsewhere from the copy. One that names a place in the folder by its absolute
/// path leads to that place in the copy, unless all links stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutwardLinks {
    /// It stays as it is.
    Kept,
    /// It leads to the same place.
    Absolute,
    /// A file comes along with its content, so that the work cannot change the person's. A folder may be large, and a
    /// program may need what lies beside it, so a link to one is absolute.
    Content,
}

/// Copies what is listed, and says what could not be copied as it is.
pub(super) fn copy_into(
    list: &CarryList,
    from: &Path,
    to: &Path,
    links: OutwardLinks,
) -> Result<Vec<String>, Failure> {
    let mut copier = Copier::new(from, links);
    for pattern in &list.missing {
        let remark = format!("nothing in the project matches `carry` {pattern}");
        copier.remarks.push(remark);
    }
    for path in &list.found {
        let target = to.join(path);
        if let Some(above) = target.parent() {
            fs::create_dir_all(above).map_err(Failure::file("make", above))?;
        }
        copier.copy(&from.join(path), &target)?;
    }
    Ok(copier.said())
}

/// Copies out of one folder.
struct Copier<'a> {
    from: &'a Path,
    links: OutwardLinks,
    remarks: Vec<String>,
    /// Links that lead out of the folder, relative to it.
    leading_out: Vec<String>,
}

impl<'a> Copier<'a> {
    fn new(from: &'a Path, links: OutwardLinks) -> Self {
        Self {
            from,
            links,
            remarks: Vec::new(),
            leading_out: Vec::new(),
        }
    }

    fn copy(&mut self, from: &Path, to: &Path) -> Result<(), Failure> {
        let kind = fs::symlink_metadata(from).map_err(Failure::file("read", from))?;
        if kind.is_symlink() {
            self.copy_link(from, to)
        } else if kind.is_dir() {
            fs::create_dir_all(to).map_err(Failure::file("make", to))?;
            let mut entries = fs::read_dir(from)
                .and_then(Iterator::collect::<Result<Vec<_>, _>>)
                .map_err(Failure::file("read", from))?;
            entries.sort_by_key(fs::DirEntry::file_name);
            for entry in entries {
                self.copy(&entry.path(), &to.join(entry.file_name()))?;
            }
            Ok(())
        } else if kind.is_file() {
            copy_file(from, to)
        } else {
            let remark = format!("{} is not a file and was not carried", from.display());
            self.remarks.push(remark);
            Ok(())
        }
    }

    fn copy_link(&mut self, from: &Path, to: &Path) -> Result<(), Failure> {
        let target = fs::read_link(from).map_err(Failure::file("read", from))?;
        let target = match (links::leads(self.from, from, &target), self.links) {
            (_, OutwardLinks::Kept) => target,
            (Leads::Inside(target), OutwardLinks::Content | OutwardLinks::Absolute) => target,
            (Leads::Outside(outside), OutwardLinks::Absolute) => outside,
            (Leads::Outside(outside), OutwardLinks::Content) if links::is_program(&outside) => {
                outside
            }
            (Leads::Outside(outside), OutwardLinks::Content) => {
                let path = from.strip_prefix(self.from).unwrap_or(from);
                self.leading_out.push(path.display().to_string());
                if outside.is_file() {
                    return copy_file(&outside, to);
                }
                outside
            }
        };
        replace(to, |to| std::os::unix::fs::symlink(&target, to))
    }

    /// One line for all links: a folder of packages may have many.
    fn said(mut self) -> Vec<String> {
        if let Some(first) = self.leading_out.first() {
            let others = match self.leading_out.len() - 1 {
                0 => String::new(),
                others => format!(" and {others} more"),
            };
            self.remarks.push(format!(
                "`carry` has links that lead out of the project: {first}{others}; files came along with their \
                 content, and folders are still those outside"
            ));
        }
        self.remarks
    }
}

/// The standard library clones where the file system can.
fn copy_file(from: &Path, to: &Path) -> Result<(), Failure> {
    replace(to, |to| fs::copy(from, to).map(drop))
}

/// A copy that a kill interrupted is made again.
fn replace(to: &Path, make: impl Fn(&Path) -> std::io::Result<()>) -> Result<(), Failure> {
    if to.symlink_metadata().is_ok() {
        fs::remove_file(to).map_err(Failure::file("replace", to))?;
    }
    make(to).map_err(Failure::file("write to", to))
}

/// Notes what came along, so that it is in no commit of the run. There is no file if nothing did.
pub(super) fn note(list: &CarryList, file: &Path) -> Result<(), Failure> {
    if list.found.is_empty() {
        return Ok(());
    }
    let paths: Vec<&[u8]> = list
        .found
        .iter()
        .map(|it| it.as_os_str().as_bytes())
        .collect();
    fs::write(file, paths.join(&0)).map_err(Failure::file("write to", file))
}

/// What came along, as noted; nothing if there is no note.
pub(super) fn noted(file: &Path) -> Vec<PathBuf> {
    let bytes = fs::read(file).unwrap_or_default();
    let paths = bytes.split(|byte| *byte == 0).filter(|it| !it.is_empty());
    paths.map(path_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_out_of_the_project_works_in_the_copy() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (
            folder.path().join("project"),
            folder.path().join("far/copy"),
        );
        fs::create_dir_all(from.join("packages")).unwrap();
        fs::create_dir_all(&to).unwrap();
        fs::create_dir(folder.path().join("sibling")).unwrap();
        fs::write(folder.path().join("shared.env"), "KEY=1").unwrap();
        fs::write(from.join("packages/a"), "a").unwrap();
        let link = |target: &str, name: &str| {
            std::os::unix::fs::symlink(target, from.join(name)).unwrap();
        };
        link("../shared.env", ".env");
        link("../../sibling", "packages/sibling");
        link("a", "packages/b");
        link("../absent", "gone");
        // The same by absolute paths, as tools write them.
        link(
            folder.path().join("shared.env").to_str().unwrap(),
            "packages/env",
        );
        link("/bin/sh", "packages/sh");
        link(from.join("packages/a").to_str().unwrap(), "packages/own");
        let list = CarryList {
            found: vec![".env".into(), "packages".into(), "gone".into()],
            missing: Vec::new(),
        };
        let remarks = copy_into(&list, &from, &to, OutwardLinks::Content).unwrap();
        assert_eq!(remarks.len(), 1, "{remarks:?}");
        assert!(remarks[0].contains(".env and 3 more"), "{remarks:?}");
        assert_eq!(
            fs::read_link(to.join("packages/sh")).unwrap(),
            Path::new("/bin/sh")
        );
        // What the work writes there is not the person's file.
        for name in [".env", "packages/env", "packages/own"] {
            fs::write(to.join(name), "KEY=2").unwrap();
        }
        assert_eq!(fs::read_to_string(from.join("packages/a")).unwrap(), "a");
        let shared = fs::read_to_string(folder.path().join("shared.env")).unwrap();
        assert_eq!(shared, "KEY=1");
        assert!(to.join("packages/sibling").is_dir());
        assert_eq!(
            fs::read_link(to.join("packages/b")).unwrap(),
            Path::new("a")
        );
        assert_eq!(
            fs::read_link(to.join("gone")).unwrap(),
            folder.path().join("absent")
        );
    }

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
