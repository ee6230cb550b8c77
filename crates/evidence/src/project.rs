//! Finds the project of a folder, the same one from every subfolder and worktree.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::escape::escape;
use crate::repository::{self, GitEntry, Repository};

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
        let from = std::fs::canonicalize(from).map_err(|cause| Error::Folder {
            path: from.to_path_buf(),
            cause,
        })?;
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

/// A unique text for a path.
fn key(path: &Path) -> String {
    escape(path.as_os_str().as_bytes())
}
