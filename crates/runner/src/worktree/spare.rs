//! Spare worktrees: the files of a merged step serve the next one, which then needs few new ones.
//!
//! Nothing of the earlier step stays. A file counts only if its stamp is the one that it had when git wrote
//! it, which no program can forge; all else is removed: changed files, ignored files, links, repositories.
//! Git then writes what is missing, with the index as it was before the earlier step began. A folder with
//! other permissions than a new one makes the whole spare useless.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use evidence::beneath::{self, Folder};
use evidence::tree::{ObjectKind, ObjectStamps, UnchangedFile, WrittenFile};
use runtime::failure::Failure;
use rustix::fs::{AtFlags, Dir, FileType};

use super::folder_removal::{io_error, is_folder, open_folder, remove_folder, remove_in};
use super::git::{Repository, WorktreeDirs};
use super::name::SafeName;
use super::trees::{Items, TreeListing};
use super::{Snapshot, Worktree, Worktrees};

/// For each file of a commit: is it there already, from an earlier step?
pub(super) struct ReusedFiles(Vec<Option<UnchangedFile>>);

impl ReusedFiles {
    /// The files that git takes to be there, and that are not: somebody changed them, and the new commit has
    /// them as they were.
    pub(super) fn missing<'i>(&self, root: &Path, items: &'i Items) -> Vec<&'i [u8]> {
        let others = items.iter().zip(&self.0);
        let others = others.filter(|(_, reused)| reused.is_none());
        let is_missing = |path: &&[u8]| {
            let path = root.join(std::ffi::OsStr::from_bytes(path));
            path.symlink_metadata().is_err()
        };
        let paths = others.map(|((path, _), _)| path.as_slice());
        paths.filter(is_missing).collect()
    }
}

/// The files of a worktree with this commit; git has written those that were not reused. Links have no
/// stamps.
pub(super) fn written<'i>(
    items: &'i Items,
    reused: Option<&'i ReusedFiles>,
) -> Vec<WrittenFile<'i>> {
    let reused = |place: usize| reused.and_then(|reused| reused.0.get(place)?.as_ref());
    let files = items.iter().enumerate();
    let files = files.filter(|(_, (_, item))| item.kind != ObjectKind::Link);
    let written = files.map(|(place, (path, item))| WrittenFile {
        path,
        object: &item.name,
        unchanged: reused(place),
    });
    written.collect()
}

/// Attributes of a folder that give rights to others.
const ACCESS_LISTS: &[u8] = b"system.posix_acl";

/// A folder with files that nobody works on.
struct Spare {
    folder: PathBuf,
    /// The stamps of its files as git wrote them.
    written: PathBuf,
    /// Git's index from that moment.
    index: PathBuf,
}

impl Worktrees {
    /// Ends a worktree whose result is merged, and keeps its files for the next one.
    ///
    /// Invariant: nobody has worked in it since this result was taken.
    pub fn retire(&self, worktree: &Worktree, merged: &Snapshot) -> Result<(), Failure> {
        let repository = self.repository()?;
        let name = SafeName::of(&worktree.name);
        if !self.is_settled(&repository, &name, merged)? {
            return Err(super::removal::not_merged(worktree));
        }
        if self.keep_spare(&name, &worktree.root).is_err() {
            remove_folder(&worktree.root)?;
        }
        self.forget_step(&repository, &name, worktree)
    }

    /// Removes the spares: no step begins for now.
    pub fn remove_spares(&self) -> Result<(), Failure> {
        TreeListing::forget_kept();
        if !self.has_spare()? {
            return Ok(());
        }
        while let Some(spare) = self.spare()? {
            spare.remove()?;
        }
        self.forget_content(&self.repository()?)
    }

    pub(super) fn has_spare(&self) -> Result<bool, Failure> {
        Ok(self.spare()?.is_some())
    }

    /// Notes how the files of a new worktree are, for a later one.
    pub(super) fn note_written(&self, name: &SafeName, dirs: &WorktreeDirs) {
        // Without the notes the files do not count as a spare.
        let _ = fs::copy(self.records.stamps(name), self.records.written(name));
        let _ = fs::copy(dirs.git_dir.join("index"), self.records.index(name));
    }

    fn keep_spare(&self, name: &SafeName, root: &Path) -> io::Result<()> {
        if !is_folder(root) {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let numbers = 0_u32..;
        let mut spares = numbers.map(|number| self.records.spare(&number.to_string()));
        let Some(folder) = spares.find(|folder| folder.symlink_metadata().is_err()) else {
            return Ok(());
        };
        let spare = Spare::at(folder);
        fs::rename(self.records.written(name), &spare.written)?;
        fs::rename(self.records.index(name), &spare.index)?;
        // Invariant: the folder comes last. Without it the rest is nothing.
        fs::rename(root, &spare.folder)
    }

    fn spare(&self) -> Result<Option<Spare>, Failure> {
        let mut entries = self.records.entries()?.into_iter();
        let spare = entries.find_map(|entry| self.records.spare_folder(&entry));
        Ok(spare.map(Spare::at))
    }

    /// Puts the files of a spare into a worktree without files; `None` if there is no spare of use. What
    /// remains there is as this commit has it.
    pub(super) fn reuse(
        &self,
        repository: &Repository,
        to: &WorktreeDirs,
        items: &Items,
    ) -> Result<Option<ReusedFiles>, Failure> {
        let Some(spare) = self.spare()? else {
            return Ok(None);
        };
        let stamps = repository.stamps(spare.folder.clone(), spare.written.clone());
        let cleaned = spare.clean(&to.root, items, &stamps);
        let moved = cleaned.and_then(|reused| spare.move_to(to).map(|()| reused));
        spare.remove()?;
        match moved {
            Ok(reused) => return Ok(Some(reused)),
            Err(_) if to.root.join(".git").exists() => {
                // Git would take the files of an index to be there.
                let _ = fs::remove_file(to.git_dir.join("index"));
                return Ok(None);
            }
            Err(_) => {}
        }
        Err(Failure::environment(format!(
            "the files of an earlier step cannot be moved to {}",
            to.root.display()
        )))
    }
}

impl Spare {
    fn at(folder: PathBuf) -> Self {
        Self {
            written: folder.with_extension("written"),
            index: folder.with_extension("index"),
            folder,
        }
    }

    fn remove(&self) -> Result<(), Failure> {
        for file in [&self.written, &self.index] {
            let _ = fs::remove_file(file);
        }
        remove_folder(&self.folder)
    }

    /// Removes everything but the files of this commit that are as git wrote them.
    fn clean(&self, new: &Path, items: &Items, stamps: &ObjectStamps) -> io::Result<ReusedFiles> {
        let paths: Vec<&[u8]> = items.iter().map(|(path, _)| path.as_slice()).collect();
        let unchanged = stamps.unchanged(&paths).into_iter().zip(items);
        let same = unchanged
            .map(|(unchanged, (_, item))| unchanged.filter(|unchanged| unchanged.object == *item));
        let reused = ReusedFiles(same.collect());
        let kept = paths.into_iter().zip(&reused.0);
        let cleaner = Cleaner {
            kept: kept
                .filter_map(|(path, reused)| reused.as_ref().map(|_| path))
                .collect(),
            mode: rustix::fs::stat(new)?.st_mode,
        };
        cleaner.clean(&open_folder(&self.folder)?, b"")?;
        Ok(reused)
    }

    /// The folder takes the place of the new one, which has nothing but git's own file.
    fn move_to(&self, to: &WorktreeDirs) -> io::Result<()> {
        fs::copy(to.root.join(".git"), self.folder.join(".git"))?;
        // It is as new as our look at the files. Git would read those that are as new as their index.
        fs::copy(&self.index, to.git_dir.join("index"))?;
        fs::remove_file(to.root.join(".git"))?;
        fs::remove_dir(&to.root)?;
        fs::rename(&self.folder, &to.root)
    }
}

/// Removes what does not belong into a worktree.
struct Cleaner<'a> {
    /// The files that stay, sorted.
    kept: Vec<&'a [u8]>,
    /// The mode of a new folder.
    mode: u32,
}

impl Cleaner<'_> {
    fn clean(&self, folder: &Folder, path: &[u8]) -> io::Result<()> {
        self.check(folder)?;
        for (name, kind) in entries(folder)? {
            let path = if path.is_empty() {
                name.clone()
            } else {
                [path, b"/", &name].concat()
            };
            match kind {
                FileType::Directory if self.has_below(&path) => {
                    let below = folder.descend(&name).map_err(io_error)?;
                    self.clean(&below, &path)?;
                }
                FileType::Directory => remove_in(folder, &name)?,
                _ if self.kept.binary_search(&path.as_slice()).is_ok() => {}
                _ => {
                    let name = std::ffi::OsStr::from_bytes(&name);
                    rustix::fs::unlinkat(folder.descriptor(), name, AtFlags::empty())?;
                }
            }
        }
        Ok(())
    }

    /// A folder must be like a new one.
    fn check(&self, folder: &Folder) -> io::Result<()> {
        let mut names = Vec::with_capacity(1024);
        let list = rustix::fs::flistxattr(
            folder.descriptor(),
            rustix::buffer::spare_capacity(&mut names),
        );
        let has_list = list.is_ok()
            && names
                .split(|byte| *byte == 0)
                .any(|name| name.starts_with(ACCESS_LISTS));
        let is_listed = match list {
            Ok(_) | Err(rustix::io::Errno::NOTSUP) => has_list,
            Err(_) => true,
        };
        if is_listed || rustix::fs::fstat(folder.descriptor())?.st_mode != self.mode {
            return Err(io::Error::other("a folder has other permissions"));
        }
        Ok(())
    }

    fn has_below(&self, path: &[u8]) -> bool {
        let inside = [path, b"/"].concat();
        let place = self.kept.partition_point(|kept| *kept < inside.as_slice());
        self.kept
            .get(place)
            .is_some_and(|kept| kept.starts_with(&inside))
    }
}

/// The names in a folder, with what each is.
fn entries(folder: &Folder) -> io::Result<Vec<(Vec<u8>, FileType)>> {
    let mut found = Vec::new();
    for entry in Dir::read_from(folder.descriptor())? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if matches!(name, b"." | b"..") {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => beneath::kind(&folder.stat(name).map_err(io_error)?),
            known => known,
        };
        found.push((name.to_vec(), kind));
    }
    Ok(found)
}
