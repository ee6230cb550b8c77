//! Files of a worktree, compared and changed one by one, never through a symbolic link.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use evidence::beneath::{self, Folder, Refused, split};
use evidence::tree::{ObjectKind, TreeObject, escape};
use runtime::failure::Failure;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::blobs::{BlobReader, Content};

/// The prefix of a file that is not complete yet. No commit contains such files.
const TEMPORARY_PREFIX: &str = ".gatewright-new-";

/// A worktree's files, and the blobs that they are compared with.
pub(super) struct Disk {
    top: PathBuf,
    root: Folder,
    blobs: BlobReader,
}

/// Was the change made, or did the path have unexpected content?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChangeResult {
    Done,
    Unexpected,
}

/// Is this a path of the project, and neither git's own nor a temporary file of ours?
pub(super) fn is_ours(path: &[u8]) -> bool {
    let mut parts = path.split(|byte| *byte == b'/');
    parts.all(|part| {
        !part.eq_ignore_ascii_case(b".git")
            && !is_temporary_name(part)
            && !matches!(part, b"" | b"." | b"..")
    })
}

impl Disk {
    pub(super) fn open(top: &Path, blobs: BlobReader) -> Result<Self, Failure> {
        let root = Folder::open(top).map_err(Failure::file("read", top))?;
        let top = top.to_owned();
        Ok(Self { top, root, blobs })
    }

    /// Does the path have exactly this content?
    pub(super) fn holds(
        &mut self,
        path: &[u8],
        item: Option<&TreeObject>,
    ) -> Result<bool, Failure> {
        match self.compare(path, item) {
            Ok(same) => same,
            Err(Refused::Absent | Refused::Link(_) | Refused::NotAFolder(_)) => Ok(item.is_none()),
            Err(Refused::NotAFile(_)) => Ok(false),
            Err(Refused::Io(cause)) => Err(self.failure("read", path)(cause)),
        }
    }

    /// Is there a folder at this path?
    pub(super) fn is_folder(&self, path: &[u8]) -> bool {
        self.root.descend_path(path).is_ok()
    }

    /// Replaces `old` by `new`, if the path still has the content of `old`.
    pub(super) fn change(
        &mut self,
        path: &[u8],
        old: Option<&TreeObject>,
        new: Option<&TreeObject>,
    ) -> Result<ChangeResult, Failure> {
        match new {
            Some(new) => self.put(path, old, new),
            None => self.remove(path, old),
        }
    }

    fn put(
        &mut self,
        path: &[u8],
        old: Option<&TreeObject>,
        new: &TreeObject,
    ) -> Result<ChangeResult, Failure> {
        let (above, name) = split(path);
        let folder = match self.descend_or_make(above) {
            Ok(folder) => folder,
            Err(Refused::Io(cause)) => return Err(self.failure("write to", path)(cause)),
            Err(
                Refused::Absent | Refused::Link(_) | Refused::NotAFolder(_) | Refused::NotAFile(_),
            ) => return Ok(ChangeResult::Unexpected),
        };
        let temporary_name = temporary_name(path);
        let written = self.write(&folder, &temporary_name, new);
        written.map_err(self.failure("write to", path))?;
        keep_permissions(&folder, name, &temporary_name, new);
        // An empty folder blocks a file, but nothing is lost with it.
        if old.is_none() {
            let _ = rustix::fs::unlinkat(folder.descriptor(), name_of(name), AtFlags::REMOVEDIR);
        }
        // Invariant: nothing happens between this comparison and the rename.
        if !self.holds(path, old)? {
            let _ = unlink(&folder, &temporary_name);
            return Ok(ChangeResult::Unexpected);
        }
        let from = name_of(&temporary_name);
        rustix::fs::renameat(
            folder.descriptor(),
            from,
            folder.descriptor(),
            name_of(name),
        )
        .and_then(|()| sync(&folder))
        .map_err(|error| self.failure("write to", path)(error.into()))?;
        Ok(ChangeResult::Done)
    }

    fn remove(&mut self, path: &[u8], old: Option<&TreeObject>) -> Result<ChangeResult, Failure> {
        if !self.holds(path, old)? {
            return Ok(ChangeResult::Unexpected);
        }
        let (above, name) = split(path);
        let Ok(folder) = self.root.descend_path(above) else {
            return Ok(ChangeResult::Done);
        };
        match unlink(&folder, name).and_then(|()| sync(&folder)) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(self.failure("remove", path)(error.into())),
        }
        self.remove_empty(above);
        Ok(ChangeResult::Done)
    }

    /// Removes empty folders, from the inside out: git has no empty folders.
    fn remove_empty(&self, path: &[u8]) {
        let mut path = path;
        while !path.is_empty() {
            let (above, name) = split(path);
            let Ok(folder) = self.root.descend_path(above) else {
                return;
            };
            let removed =
                rustix::fs::unlinkat(folder.descriptor(), name_of(name), AtFlags::REMOVEDIR);
            if removed.is_err() {
                return;
            }
            path = above;
        }
    }

    /// Removes the temporary file that a killed writer left.
    pub(super) fn remove_temporary(&self, path: &[u8]) {
        let (above, _) = split(path);
        if let Ok(folder) = self.root.descend_path(above) {
            let _ = unlink(&folder, &temporary_name(path));
        }
    }

    fn compare(
        &mut self,
        path: &[u8],
        item: Option<&TreeObject>,
    ) -> Result<Result<bool, Failure>, Refused> {
        let (above, name) = split(path);
        let folder = self.root.descend_path(above)?;
        let stat = folder.stat(name)?;
        let Some(item) = item else {
            return Ok(Ok(false));
        };
        if beneath::kind(&stat) == FileType::Symlink {
            let target = folder.link(name).map_err(Refused::Io)?;
            let is_same = |content: &mut Content<'_>| same(&mut target.as_slice(), content);
            return match item.kind {
                ObjectKind::Link => self.compared(item, is_same),
                ObjectKind::File | ObjectKind::Program => Ok(Ok(false)),
            };
        }
        let (mut file, stat) = folder.file(name)?;
        let kind = match stat.st_mode & 0o100 {
            0 => ObjectKind::File,
            _ => ObjectKind::Program,
        };
        let length = u64::try_from(stat.st_size).unwrap_or_default();
        if kind == item.kind {
            self.compared(item, |content| {
                if content.limit() == length {
                    same(&mut file, content)
                } else {
                    Ok(false)
                }
            })
        } else {
            Ok(Ok(false))
        }
    }

    fn compared(
        &mut self,
        item: &TreeObject,
        is_same: impl FnOnce(&mut Content<'_>) -> io::Result<bool>,
    ) -> Result<Result<bool, Failure>, Refused> {
        match self.blobs.read(&item.name, is_same) {
            Ok(same) => same.map(Ok).map_err(Refused::Io),
            Err(failure) => Ok(Err(failure)),
        }
    }

    /// Writes an item under a free name, or over the temporary file of a killed writer.
    fn write(&mut self, folder: &Folder, name: &[u8], item: &TreeObject) -> io::Result<()> {
        match unlink(folder, name) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        let given = self.blobs.read(&item.name, |content| match item.kind {
            ObjectKind::Link => write_link(folder, name, content),
            ObjectKind::File => write_file(folder, name, content, 0o666),
            ObjectKind::Program => write_file(folder, name, content, 0o777),
        });
        given.unwrap_or_else(|failure| Err(io::Error::other(failure.to_string())))
    }

    fn descend_or_make(&self, path: &[u8]) -> Result<Folder, Refused> {
        let parts = path.split(|byte| *byte == b'/');
        let here = self.root.descend_path(b"")?;
        let parts = parts.filter(|part| !part.is_empty());
        parts.into_iter().try_fold(here, |folder, part| {
            let mode = Mode::from_raw_mode(0o777);
            match rustix::fs::mkdirat(folder.descriptor(), name_of(part), mode) {
                Ok(()) | Err(Errno::EXIST) => folder.descend(part),
                Err(error) => Err(Refused::Io(error.into())),
            }
        })
    }

    fn failure(&self, doing: &'static str, path: &[u8]) -> impl FnOnce(io::Error) -> Failure {
        let path = self.top.join(escape(path));
        move |cause| Failure::file(doing, &path)(cause)
    }
}

/// Flushes a worktree to disk.
pub(super) fn sync_all(top: &Path) -> Result<(), Failure> {
    let sync = || {
        let folder = Folder::open(top)?;
        #[cfg(target_os = "linux")]
        let synced = rustix::fs::syncfs(folder.descriptor());
        #[cfg(not(target_os = "linux"))]
        let synced = rustix::fs::fsync(folder.descriptor());
        Ok(synced?)
    };
    sync().map_err(Failure::file("write to", top))
}

fn write_file(
    folder: &Folder,
    name: &[u8],
    content: &mut Content<'_>,
    mode: u32,
) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(mode);
    let file = rustix::fs::openat(folder.descriptor(), name_of(name), flags, mode)?;
    let mut file = File::from(file);
    io::copy(content, &mut file)?;
    file.sync_all()
}

fn write_link(folder: &Folder, name: &[u8], content: &mut Content<'_>) -> io::Result<()> {
    let mut target = Vec::new();
    content.read_to_end(&mut target)?;
    Ok(rustix::fs::symlinkat(
        name_of(&target),
        folder.descriptor(),
        name_of(name),
    )?)
}

/// A file that replaces another keeps its permissions, if possible.
fn keep_permissions(folder: &Folder, old: &[u8], new: &[u8], item: &TreeObject) {
    let (Ok((_, stat)), Ok((file, _))) = (folder.file(old), folder.file(new)) else {
        return;
    };
    let readable = stat.st_mode & 0o666;
    let mode = match item.kind {
        ObjectKind::Program => readable | ((readable & 0o444) >> 2),
        ObjectKind::File | ObjectKind::Link => readable,
    };
    let _ = file.set_permissions(std::fs::Permissions::from_mode(mode));
}

/// Are these the same bytes to the end?
fn same(left: &mut dyn Read, right: &mut dyn Read) -> io::Result<bool> {
    let (mut ours, mut theirs) = (vec![0; 32 * 1024], vec![0; 32 * 1024]);
    loop {
        let (length, other) = (fill(left, &mut ours)?, fill(right, &mut theirs)?);
        if ours[..length] != theirs[..other] {
            return Ok(false);
        }
        if length == 0 {
            return Ok(true);
        }
    }
}

/// Reads until the buffer is full or the input ends.
fn fill(from: &mut dyn Read, piece: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < piece.len() {
        match from.read(&mut piece[filled..]) {
            Ok(0) => break,
            Ok(length) => filled += length,
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            Err(cause) => return Err(cause),
        }
    }
    Ok(filled)
}

/// The name depends on the path alone, so that the file of a killed writer is found again.
pub(super) fn temporary_name(path: &[u8]) -> Vec<u8> {
    format!("{TEMPORARY_PREFIX}{:.16}", evidence::hash(path).to_string()).into_bytes()
}

/// Is this the temporary file of a merge? A killed orchestrator leaves it, and the next one removes it.
pub fn is_temporary(path: &str) -> bool {
    is_temporary_name(split(path.as_bytes()).1)
}

fn is_temporary_name(name: &[u8]) -> bool {
    let hash = name.strip_prefix(TEMPORARY_PREFIX.as_bytes());
    hash.is_some_and(|hash| hash.len() == 16 && hash.iter().all(u8::is_ascii_hexdigit))
}

fn name_of(name: &[u8]) -> &std::ffi::OsStr {
    std::os::unix::ffi::OsStrExt::from_bytes(name)
}

fn unlink(folder: &Folder, name: &[u8]) -> Result<(), Errno> {
    rustix::fs::unlinkat(folder.descriptor(), name_of(name), AtFlags::empty())
}

fn sync(folder: &Folder) -> Result<(), Errno> {
    rustix::fs::fsync(folder.descriptor())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_temporary_file_of_a_merge_is_known_by_its_name() {
        let name = String::from_utf8(temporary_name(b"src/a.rs")).unwrap();
        assert!(is_temporary(&name) && is_temporary(&format!("src/{name}")));
        for other in [
            "src/a.rs",
            ".gatewright-new-a",
            ".gatewright-new-0123456789abcdef.txt",
        ] {
            assert!(!is_temporary(other), "{other}");
        }
    }
}
