//! Finds the project of a folder, the same one from every subfolder and worktree.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::escape::escape;
use crate::git::Git;
use crate::repository::{self, GitEntry, Repository};

/// The name of git's folder in a worktree.
const GIT: &str = ".git";

/// The folder of a run, and its project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// The worktree's top, or the folder.
    pub root: PathBuf,
    /// The project's identity: git's common folder, or the folder itself.
    pub key: String,
    /// The repository that lists the files.
    pub repository: Option<Repository>,
}

impl Project {
    /// The commit that is checked out, if there is one.
    pub fn commit(&self) -> Option<String> {
        let repository = self.repository.as_ref()?;
        let git = Git::find().ok()?;
        git.head(&self.root, &repository.git_dir).ok()?
    }

    /// Finds the project of a folder. Without git it is the folder itself.
    pub fn find(from: &Path) -> Result<Self, Error> {
        Self::find_among(from, |_| false)
    }

    /// Finds the project of a folder. Without git it is the nearest parent folder for which
    /// `is_known` is true, by its key.
    ///
    /// A `.git` that no repository links back to (forged, moved or bare) counts only without a real
    /// repository around it: planting one does not take a folder out of its project.
    pub fn find_among(from: &Path, is_known: impl Fn(&str) -> bool) -> Result<Self, Error> {
        let from = canonical(from)?;
        let mut claimed = None;
        for folder in from.ancestors() {
            match repository::find(folder) {
                GitEntry::Repository(repository) if repository.linked_back => {
                    return Ok(Self::of(folder, repository));
                }
                GitEntry::Repository(repository) => claimed = Some(Self::of(folder, repository)),
                GitEntry::Broken => claimed = Some(Self::folder(folder)),
                GitEntry::Nothing if repository::is_git_dir(folder) => {
                    claimed = Some(Self::folder(folder));
                }
                GitEntry::Nothing => {}
            }
        }
        let known = || {
            from.ancestors()
                .find(|folder| is_known(&key(folder)))
                .map(Self::folder)
        };
        Ok(claimed
            .or_else(known)
            .unwrap_or_else(|| Self::folder(&from)))
    }

    /// Finds the project in which something is installed, by its keys. An installed project keeps its
    /// folder after `git init`, and after its `.git` has gone away or broken.
    pub fn find_installed(from: &Path, is_known: impl Fn(&str) -> bool) -> Result<Self, Error> {
        let found = Self::find(from)?;
        if found.keys().iter().any(|key| is_known(key)) {
            return Ok(found);
        }
        let from = canonical(from)?;
        // A repository inside an installed folder is a project of its own.
        let limit = found.linked().map(|_| found.root.as_path());
        for folder in from.ancestors() {
            if Some(folder) == limit {
                break;
            }
            let keys = [key(folder), key(&folder.join(GIT))];
            if let Some(key) = keys.into_iter().find(|key| is_known(key)) {
                let root = folder.to_path_buf();
                return Ok(Self {
                    root,
                    key,
                    repository: None,
                });
            }
        }
        Ok(found)
    }

    /// Every key that this project may have had, the present one first: without git it is the folder,
    /// and with git the repository in it.
    pub fn keys(&self) -> Vec<String> {
        let main = self.main_root();
        let folders = [self.root.join(GIT), self.root.clone()];
        let folders = folders.into_iter().chain(main);
        let mut keys = vec![self.key.clone()];
        for key in folders.map(|folder| key(&folder)) {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        keys
    }

    /// The folder of the main worktree, as a linked one or the main one itself shows it.
    pub fn main_root(&self) -> Option<PathBuf> {
        let common = &self.linked()?.common_dir;
        let root = common.parent().filter(|_| common.ends_with(GIT))?;
        Some(root.to_owned())
    }

    /// The repository, if it confirms that this is its worktree.
    fn linked(&self) -> Option<&Repository> {
        self.repository.as_ref().filter(|it| it.linked_back)
    }

    /// Does git list the files?
    pub fn is_git(&self) -> bool {
        self.repository.is_some()
    }

    fn of(root: &Path, repository: Repository) -> Self {
        let identity = if repository.linked_back {
            &repository.common_dir
        } else {
            root
        };
        Self {
            root: root.to_path_buf(),
            key: key(identity),
            repository: Some(repository),
        }
    }

    fn folder(root: &Path) -> Self {
        Self {
            root: root.to_path_buf(),
            key: key(root),
            repository: None,
        }
    }
}

fn canonical(from: &Path) -> Result<PathBuf, Error> {
    std::fs::canonicalize(from).map_err(|cause| Error::Folder {
        path: from.to_path_buf(),
        cause,
    })
}

/// A unique text for a path.
fn key(path: &Path) -> String {
    escape(path.as_os_str().as_bytes())
}
