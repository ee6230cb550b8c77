//! Lists the files of a tree: from git, with nested repositories, or from a walk of the folder.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;
use sha2::{Digest as _, Sha256};

use super::escape;
use super::manifest::{EntryKind, ManifestLine};
use super::reading::{AheadOfList, Cursor, LookingAhead};
use crate::beneath::{self, Folder, Refused};
use crate::git::{Git, GitFile, GitFiles, path_of};
use crate::repository::{self, GitEntry, Repository};
use crate::{Error, Project, hash};

/// More files than this are a disk and not a project.
const MOST_FILES: usize = 200_000;

/// How deep repositories may be nested.
const DEEPEST_REPOSITORY: usize = 8;

/// The files to read, sorted, and the lines that need no file.
#[derive(Default)]
pub(super) struct Listing {
    pub files: Vec<Listed>,
    pub lines: Vec<ManifestLine>,
    /// It has more than one listing of git says.
    pub is_nested: bool,
}

/// One file of the tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Listed {
    pub path: Vec<u8>,
    pub standing: Standing,
}

/// Does git know the file?
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    /// It is in the index: always a source.
    Tracked,
    /// The run names it: always a source.
    Named,
    /// It is neither tracked nor ignored, in the repository whose path has this length.
    Untracked { repository: usize },
    /// There is no repository that could say.
    Unknown,
    /// Git tracked it when the run began, and does not list it any more: a source still. It is the last, so that a
    /// file that git does list stays what it is.
    Former,
}

impl Standing {
    pub(super) fn is_source(self) -> bool {
        match self {
            Self::Tracked | Self::Named | Self::Former => true,
            Self::Untracked { .. } | Self::Unknown => false,
        }
    }
}

pub(super) fn list(project: &Project) -> Result<Listing, Error> {
    let (begun, ahead) = Begun::begin(project, || LookingAhead::Done(AheadOfList::nothing()))?;
    begun.finish(&ahead.finish())
}

/// A listing of which git has said its part.
pub(super) enum Begun {
    Repository {
        git: Git,
        place: Place,
        files: GitFiles,
        /// The rules outside of the tree.
        lines: Vec<ManifestLine>,
    },
    /// Without git.
    Folder(Vec<Listed>),
}

impl Begun {
    /// Lists the files. While git is at work, we look at those of the last look.
    pub(super) fn begin(
        project: &Project,
        look_ahead: impl FnOnce() -> LookingAhead,
    ) -> Result<(Self, LookingAhead), Error> {
        let Some(repository) = &project.repository else {
            let files = all(walk(&project.root, b"", MOST_FILES)?, Standing::Unknown);
            return Ok((Self::Folder(files), look_ahead()));
        };
        let place = Place {
            root: project.root.clone(),
            repository: repository.clone(),
            prefix: Vec::new(),
            depth: 0,
        };
        let git = Git::find()?;
        let git_dir = &repository.git_dir;
        let (files, (ahead, rules)) = git.files_while(&project.root, git_dir, || {
            (look_ahead(), personal_rules(&git, &place))
        })?;
        let lines = rules?.into_iter().chain(own_rules(&place)?).collect();
        let begun = Self::Repository {
            git,
            place,
            files,
            lines,
        };
        Ok((begun, ahead))
    }

    /// All that decides which files there are, as far as one listing says it.
    pub(super) fn add_to(&self, digest: &mut Sha256) -> bool {
        match self {
            Self::Folder(_) => false,
            Self::Repository { files, lines, .. } => {
                for line in lines {
                    digest.update(line.hash.0);
                    digest.update(line.path.as_bytes());
                }
                digest.update(b"\0files\0");
                digest.update(files.bytes());
                true
            }
        }
    }

    pub(super) fn finish(self, ahead: &AheadOfList) -> Result<Listing, Error> {
        let mut listing = match self {
            Self::Folder(files) => Listing {
                files,
                ..Listing::default()
            },
            Self::Repository {
                git,
                place,
                files,
                lines,
            } => {
                let mut lister = Lister {
                    git,
                    listing: Listing {
                        lines,
                        ..Listing::default()
                    },
                    cursor: ahead.cursor(),
                };
                lister.add(&place, &files)?;
                lister.listing
            }
        };
        sort(&mut listing.files);
        Ok(listing)
    }
}

/// Sorts the files; one that is listed twice is tracked if one of them is.
pub(super) fn sort(files: &mut Vec<Listed>) {
    // Git lists them in order, first the untracked and then the tracked: a stable sort merges such parts.
    files.sort();
    files.dedup_by(|later, earlier| later.path == earlier.path);
}

/// Adds the paths that are not among these sorted files yet. Mostly all of them are.
pub(super) fn add_named(files: &mut Vec<Listed>, paths: &[&[u8]]) {
    let mut paths = paths.to_vec();
    paths.sort_unstable();
    let mut listed = files.iter().map(|file| file.path.as_slice()).peekable();
    paths.retain(|path| {
        while listed.next_if(|listed| listed < path).is_some() {}
        listed.peek() != Some(path)
    });
    if !paths.is_empty() {
        files.extend(all(
            paths.into_iter().map(<[u8]>::to_vec).collect(),
            Standing::Named,
        ));
        sort(files);
    }
}

pub(super) fn all(paths: Vec<Vec<u8>>, standing: Standing) -> Vec<Listed> {
    let listed = |path| Listed { path, standing };
    paths.into_iter().map(listed).collect()
}

/// The file of this path, or all files of the folder. Nothing behind a link belongs to this tree.
pub(super) fn below(root: &Path, path: &str) -> Result<Vec<Vec<u8>>, Error> {
    let full = root.join(path);
    match full.symlink_metadata() {
        Ok(_) if !is_plain(root, path) => Ok(Vec::new()),
        Ok(found) if found.is_dir() => walk(&full, path.as_bytes(), MOST_FILES),
        Ok(_) => Ok(vec![path.as_bytes().to_vec()]),
        Err(_) => Ok(Vec::new()),
    }
}

/// Is there no link on the way to this path?
fn is_plain(root: &Path, path: &str) -> bool {
    let above = Path::new(path).parent().unwrap_or(Path::new(""));
    let real = |path: &Path| path.canonicalize().ok();
    match (real(root), real(&root.join(above))) {
        (Some(root), Some(found)) => path != "." && found == root.join(above),
        _ => false,
    }
}

/// A worktree, its repository, and its path in the project.
pub(super) struct Place {
    root: PathBuf,
    repository: Repository,
    prefix: Vec<u8>,
    depth: usize,
}

impl Place {
    fn untracked(&self) -> Standing {
        let repository = match self.prefix.len() {
            0 => 0,
            length => length + 1,
        };
        Standing::Untracked { repository }
    }
}

struct Lister<'a> {
    git: Git,
    listing: Listing,
    /// What was a file just now need not be asked whether it is a folder.
    cursor: Cursor<'a>,
}

impl Lister<'_> {
    /// Adds the files of one repository, and of nested ones.
    fn list(&mut self, place: &Place) -> Result<(), Error> {
        if place.depth > DEEPEST_REPOSITORY {
            return Err(Error::TooDeep {
                path: escape(&place.prefix),
                limit: DEEPEST_REPOSITORY,
            });
        }
        let files = self.git.files(&place.root, &place.repository.git_dir)?;
        self.listing.lines.extend(own_rules(place)?);
        self.add(place, &files)
    }

    /// Adds these files, which git listed in this repository.
    fn add(&mut self, place: &Place, files: &GitFiles) -> Result<(), Error> {
        let folder = Folder::open(&place.root).map_err(|cause| Error::Unreadable {
            path: escape(&place.prefix),
            cause,
        })?;
        let is_git_s_own = git_s_own(place);
        for GitFile { path, tracked } in files.iter() {
            if is_git_s_own(path) {
                continue;
            }
            let standing = if tracked {
                Standing::Tracked
            } else {
                place.untracked()
            };
            let name = path.strip_suffix(b"/").unwrap_or(path);
            let full = join(&place.prefix, name);
            if !self.cursor.is_file(&full) && is_folder(&folder, name) {
                self.inside(place, path)?
            } else {
                let path = full;
                self.listing.files.push(Listed { path, standing })
            }
        }
        Ok(())
    }

    /// Adds a folder that git lists as one entry: a submodule, or, with a slash at its end, an
    /// untracked repository.
    fn inside(&mut self, outer: &Place, path: &[u8]) -> Result<(), Error> {
        self.listing.is_nested = true;
        let name = path.strip_suffix(b"/").unwrap_or(path);
        let (root, prefix) = (outer.root.join(path_of(name)), join(&outer.prefix, name));
        let GitEntry::Repository(repository) = repository::find(&root) else {
            let files = walk(&root, &prefix, MOST_FILES)?;
            self.listing.files.extend(all(files, outer.untracked()));
            return Ok(());
        };
        // Another worktree of the same repository is another tree, in which somebody else may work.
        let is_sibling = repository.common_dir == outer.repository.common_dir;
        if repository.linked_back && is_sibling {
            return Ok(());
        }
        let depth = outer.depth + 1;
        let place = Place {
            root,
            repository,
            prefix,
            depth,
        };
        if name == path {
            self.listing.lines.extend(commit(&self.git, &place)?);
        }
        self.list(&place)
    }
}

/// Git skips `.git`, but not a repository in its worktree under another name.
fn git_s_own(place: &Place) -> impl Fn(&[u8]) -> bool {
    let inside = place.repository.common_dir.strip_prefix(&place.root).ok();
    let folder = inside.map(|inside| [inside.as_os_str().as_bytes(), b"/"].concat());
    move |path| {
        folder
            .as_ref()
            .is_some_and(|folder| path.starts_with(folder))
    }
}

/// The line for the current commit of a submodule, if it has one.
fn commit(git: &Git, place: &Place) -> Result<Option<ManifestLine>, Error> {
    let commit = git.head(&place.root, &place.repository.git_dir)?;
    let line = |commit: String| {
        let hash = hash(commit.as_bytes());
        ManifestLine::new(EntryKind::Commit, hash, place.prefix.clone())
    };
    Ok(commit.map(line))
}

/// Is there a folder at this path, without a link on the way?
fn is_folder(root: &Folder, path: &[u8]) -> bool {
    let seems = root
        .stat(path)
        .is_ok_and(|stat| beneath::kind(&stat) == FileType::Directory);
    seems && root.descend_path(path).is_ok()
}

/// The rules in a repository's own `info/exclude`, if it has any.
fn own_rules(place: &Place) -> Result<Option<ManifestLine>, Error> {
    let exclude = place.repository.common_dir.join("info/exclude");
    rules(&exclude, &join(&place.prefix, b".git/info/exclude"))
}

/// The person's own rules, if there are any.
fn personal_rules(git: &Git, place: &Place) -> Result<Option<ManifestLine>, Error> {
    match git.excludes_file(&place.root, &place.repository.git_dir)? {
        Some(path) => rules(&path, b".git/core.excludesFile"),
        None => Ok(None),
    }
}

/// A line for the rules in a file. A file with only comments counts as none.
fn rules(path: &Path, name: &[u8]) -> Result<Option<ManifestLine>, Error> {
    if !path.is_file() {
        return Ok(None);
    }
    let bytes = std::fs::read(path).map_err(|cause| Error::Unreadable {
        path: path.display().to_string(),
        cause,
    })?;
    let lines = bytes.split(|byte| *byte == b'\n');
    let is_rule = |line: &&[u8]| !line.trim_ascii().is_empty() && !line.starts_with(b"#");
    let rules: Vec<&[u8]> = lines.filter(is_rule).collect();
    let line = ManifestLine::new(EntryKind::Rules, hash(&rules.join(&b'\n')), name.to_vec());
    Ok((!rules.is_empty()).then_some(line))
}

/// Every file below a folder, except git's own.
///
/// Pending folders are stored by path: open handles would run out.
fn walk(root: &Path, prefix: &[u8], most: usize) -> Result<Vec<Vec<u8>>, Error> {
    let unreadable = |cause| Error::Unreadable {
        path: root.display().to_string(),
        cause,
    };
    let top = Folder::open(root).map_err(unreadable)?;
    let mut files = Vec::new();
    let mut pending = vec![Vec::new()];
    while let Some(path) = pending.pop() {
        if let Err(refused) = walk_one(&top, &path, &mut files, &mut pending) {
            gone(refused, &join(prefix, &path))?;
        }
        if files.len() + pending.len() > most {
            return Err(Error::TooManyFiles {
                root: root.to_path_buf(),
                limit: most,
            });
        }
    }
    Ok(files.into_iter().map(|path| join(prefix, &path)).collect())
}

fn walk_one(
    top: &Folder,
    path: &[u8],
    files: &mut Vec<Vec<u8>>,
    pending: &mut Vec<Vec<u8>>,
) -> Result<(), Refused> {
    let folder = top.descend_path(path)?;
    let names = folder.names().map_err(Refused::Io)?;
    for name in names
        .iter()
        .filter(|name| !name.eq_ignore_ascii_case(b".git"))
    {
        match folder.stat(name) {
            Ok(stat) if beneath::kind(&stat) == FileType::Directory => {
                pending.push(join(path, name))
            }
            Ok(_) => files.push(join(path, name)),
            Err(Refused::Io(cause)) => return Err(Refused::Io(cause)),
            Err(_) => {}
        }
    }
    Ok(())
}

/// A file that vanished during the walk does not exist; an unreadable one is an error.
fn gone(refused: Refused, path: &[u8]) -> Result<(), Error> {
    match refused {
        Refused::Io(cause) => Err(Error::Unreadable {
            path: escape(path),
            cause,
        }),
        Refused::Absent | Refused::Link(_) | Refused::NotAFolder(_) | Refused::NotAFile(_) => {
            Ok(())
        }
    }
}

fn join(prefix: &[u8], name: &[u8]) -> Vec<u8> {
    if prefix.is_empty() {
        name.to_vec()
    } else {
        [prefix, b"/", name].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_too_many_files_is_no_project() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(walk(folder.path(), b"", 3).unwrap().len(), 3);
        let error = walk(folder.path(), b"", 2).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("more than 2 files; make it a git repository"),
            "{error}"
        );
    }
}
