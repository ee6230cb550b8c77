//! Opens files below a folder without ever following a symbolic link.
//!
//! Each part of a path is opened relative to the open folder above it, so that nobody can replace a
//! folder by a link between a check and its use.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

/// An open folder.
pub struct Folder(OwnedFd);

/// Why a file was not opened.
#[derive(Debug)]
pub enum Refused {
    Absent,
    /// This part of the path is a symbolic link.
    Link(String),
    /// This part of the path is not a folder.
    NotAFolder(String),
    /// It is not a regular file, but this.
    NotAFile(&'static str),
    Io(io::Error),
}

impl Folder {
    /// Opens a trusted folder: the canonical root of the project.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(rustix::fs::openat(CWD, path, flags, Mode::empty())?))
    }

    /// For callers that do more than read.
    pub fn descriptor(&self) -> &OwnedFd {
        &self.0
    }

    pub fn descend(&self, name: &[u8]) -> Result<Self, Refused> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.0, OsStr::from_bytes(name), flags, Mode::empty()) {
            Ok(folder) => Ok(Self(folder)),
            Err(Errno::NOENT | Errno::NAMETOOLONG) => Err(Refused::Absent),
            // Systems return different errors for a link that must be a folder, so we check.
            Err(Errno::NOTDIR | Errno::LOOP | Errno::MLINK) => Err(self.not_a_folder(name)),
            Err(error) => Err(Refused::Io(error.into())),
        }
    }

    /// Descends part by part; an empty path is this folder again.
    pub fn descend_path(&self, path: &[u8]) -> Result<Self, Refused> {
        if let Some(folder) = self.descend_at_once(path) {
            return Ok(folder);
        }
        let here = self.0.try_clone().map(Self).map_err(Refused::Io)?;
        let parts = path
            .split(|byte| *byte == b'/')
            .filter(|part| !part.is_empty());
        parts
            .into_iter()
            .try_fold(here, |folder, part| folder.descend(part))
    }

    /// The same in one call, where the system can do that. `None` says nothing: part by part it is known
    /// why.
    #[cfg(target_os = "linux")]
    fn descend_at_once(&self, path: &[u8]) -> Option<Self> {
        use rustix::fs::ResolveFlags;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let plainly = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        let path = OsStr::from_bytes(path);
        let opened = rustix::fs::openat2(&self.0, path, flags, Mode::empty(), plainly);
        opened.ok().map(Self)
    }

    #[cfg(not(target_os = "linux"))]
    fn descend_at_once(&self, _: &[u8]) -> Option<Self> {
        None
    }

    /// Opens only a regular file: a pipe would block, and a device could do worse.
    pub fn file(&self, name: &[u8]) -> Result<(File, Stat), Refused> {
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        match self.stat(name)? {
            stat if kind(&stat) == FileType::RegularFile => {}
            stat => return Err(not_a_file(&stat, name)),
        }
        let opened = rustix::fs::openat(&self.0, OsStr::from_bytes(name), flags, Mode::empty());
        let file = opened.map_err(|error| match error {
            Errno::NOENT => Refused::Absent,
            Errno::LOOP | Errno::MLINK => Refused::Link(shown(name)),
            other => Refused::Io(other.into()),
        })?;
        let stat = rustix::fs::fstat(&file).map_err(|error| Refused::Io(error.into()))?;
        match kind(&stat) {
            FileType::RegularFile => Ok((File::from(file), stat)),
            _ => Err(not_a_file(&stat, name)),
        }
    }

    pub fn stat(&self, name: &[u8]) -> Result<Stat, Refused> {
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        rustix::fs::statat(&self.0, OsStr::from_bytes(name), flags).map_err(|error| match error {
            // No file can have a name that is too long for the disk.
            Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG => Refused::Absent,
            other => Refused::Io(other.into()),
        })
    }

    /// The target of a link, which is all that a tree records of it.
    pub fn link(&self, name: &[u8]) -> io::Result<Vec<u8>> {
        let target = rustix::fs::readlinkat(&self.0, OsStr::from_bytes(name), Vec::new())?;
        Ok(target.into_bytes())
    }

    /// The names in this folder, unordered.
    pub fn names(&self) -> io::Result<Vec<Vec<u8>>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.0)? {
            let name = entry?.file_name().to_bytes().to_vec();
            if name != b"." && name != b".." {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn not_a_folder(&self, name: &[u8]) -> Refused {
        match self.stat(name) {
            Ok(stat) if kind(&stat) == FileType::Symlink => Refused::Link(shown(name)),
            Ok(_) => Refused::NotAFolder(shown(name)),
            Err(refused) => refused,
        }
    }
}

/// Opens the regular file at these parts below the root.
pub fn open_file<'a>(
    root: &Path,
    parts: impl IntoIterator<Item = &'a str>,
) -> Result<(File, Stat), Refused> {
    let mut folder = Folder::open(root).map_err(Refused::Io)?;
    let mut parts = parts.into_iter().peekable();
    while let Some(part) = parts.next() {
        match parts.peek() {
            Some(_) => folder = folder.descend(part.as_bytes())?,
            None => return folder.file(part.as_bytes()),
        }
    }
    Err(Refused::NotAFile(description(FileType::Directory)))
}

/// The folder of a path, without a slash, and its name there.
pub fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(slash) => (&path[..slash], &path[slash + 1..]),
        None => (&path[..0], path),
    }
}

pub fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

/// The file type in words.
pub fn description(kind: FileType) -> &'static str {
    match kind {
        FileType::RegularFile => "a file",
        FileType::Directory => "a folder",
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        _ => "something unknown",
    }
}

pub fn not_a_file(stat: &Stat, name: &[u8]) -> Refused {
    match kind(stat) {
        FileType::Symlink => Refused::Link(shown(name)),
        other => Refused::NotAFile(description(other)),
    }
}

fn shown(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}
