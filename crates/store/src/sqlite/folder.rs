//! The state folder: private, owned by us, and never reached through a symbolic link.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, ffi};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::{Uid, geteuid};

use super::damage::failure;
use crate::Error;

/// The database in it.
pub(super) const DATABASE: &str = "store.db";

/// Its log, which has the latest commits.
pub(super) const LOG: &str = "store.db-wal";

/// A folder that only we can access.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// Who we are, asked once: every file in it must be ours.
    owner: Uid,
}

impl Folder {
    /// The folder, if it exists.
    pub(super) fn find(path: &Path) -> Result<Self, Error> {
        match fs::symlink_metadata(path) {
            Ok(metadata) => Self::check(path, &metadata),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(Error::Absent {
                folder: path.to_owned(),
            }),
            Err(error) => Err(io_error("look at", path, error)),
        }
    }

    /// The folder, created if it is missing.
    pub(super) fn make(path: &Path) -> Result<Self, Error> {
        match Self::find(path) {
            Err(Error::Absent { .. }) => {
                create_private(path)?;
                Self::find(path)
            }
            found => found,
        }
    }

    fn check(path: &Path, metadata: &Metadata) -> Result<Self, Error> {
        if metadata.is_symlink() {
            return Err(Error::Symlink {
                path: path.to_owned(),
            });
        }
        if !metadata.is_dir() {
            return Err(Error::WrongType {
                path: path.to_owned(),
                wanted: "a folder",
            });
        }
        let folder = Self {
            path: std::path::absolute(path).map_err(|error| io_error("look at", path, error))?,
            owner: geteuid(),
        };
        folder.keep_private(path, metadata, 0o700)?;
        Ok(folder)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn database(&self) -> PathBuf {
        self.path.join(DATABASE)
    }

    /// A connection to a database of this folder. SQLite follows no link to it. Links further up belong to
    /// the user: where there is one, SQLite gets the path without any.
    pub(super) fn connect(&self, name: &str, flags: OpenFlags) -> rusqlite::Result<Connection> {
        let flags = flags | OpenFlags::SQLITE_OPEN_NOFOLLOW | OpenFlags::SQLITE_OPEN_EXRESCODE;
        let connected = Connection::open_with_flags(self.path.join(name), flags);
        let plain = match &connected {
            Err(error) if is_link(error) => self.path.canonicalize().ok(),
            Ok(_) | Err(_) => None,
        };
        match plain {
            Some(plain) => Connection::open_with_flags(plain.join(name), flags),
            None => connected,
        }
    }

    /// Makes the names in it durable.
    pub(super) fn sync(&self) -> Result<(), Error> {
        sync_folder(&self.path)
    }

    /// The file's metadata; `None` if it is missing.
    pub(super) fn regular_file(&self, name: &str) -> Result<Option<Metadata>, Error> {
        let path = self.path.join(name);
        let metadata = match fs::symlink_metadata(&path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io_error("look at", &path, error)),
        };
        if metadata.is_symlink() {
            return Err(Error::Symlink { path });
        }
        if !metadata.is_file() {
            return Err(Error::WrongType {
                path,
                wanted: "a file",
            });
        }
        self.keep_private(&path, &metadata, 0o600)?;
        Ok(Some(metadata))
    }

    /// Refuses what others own or could have changed; closes what they could only read.
    fn keep_private(&self, path: &Path, metadata: &Metadata, mode: u32) -> Result<(), Error> {
        if metadata.uid() != self.owner.as_raw() {
            return Err(Error::Foreign {
                path: path.to_owned(),
            });
        }
        if metadata.mode() & 0o022 != 0 {
            return Err(Error::OpenToOthers {
                path: path.to_owned(),
            });
        }
        if metadata.mode() & 0o077 != 0 {
            fs::set_permissions(path, Permissions::from_mode(mode))
                .map_err(|error| io_error("close to others", path, error))?;
        }
        Ok(())
    }

    /// Opens one of our files for writing, created as private if it is missing.
    pub(super) fn open_private(&self, name: &str) -> Result<File, Error> {
        let path = self.path.join(name);
        private_file()
            .create(true)
            .open(&path)
            .map_err(|error| io_error("open", &path, error))
    }

    /// Creates a file that must not exist yet.
    pub(super) fn create_new(path: &Path) -> Result<File, Error> {
        private_file()
            .create_new(true)
            .open(path)
            .map_err(|error| io_error("create", path, error))
    }
}

fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).truncate(false).mode(0o600);
    options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    options
}

fn create_private(path: &Path) -> Result<(), Error> {
    let above = path.ancestors().skip(1);
    let missing = above.take_while(|above| !above.as_os_str().is_empty() && !above.exists());
    let new: Vec<&Path> = std::iter::once(path).chain(missing).collect();
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|error| io_error("create", path, error))?;
    // A power cut must not lose a folder with acknowledged data in it.
    let parents = new.into_iter().filter_map(parent);
    parents.into_iter().try_for_each(sync_folder)
}

fn sync_folder(path: &Path) -> Result<(), Error> {
    let synced = File::open(path).and_then(|folder| folder.sync_all());
    synced.map_err(|error| io_error("sync", path, error))
}

/// The parent folder. A bare name is in the current folder.
fn parent(path: &Path) -> Option<&Path> {
    match path.parent()? {
        nothing if nothing.as_os_str().is_empty() => Some(Path::new(".")),
        parent => Some(parent),
    }
}

/// Is a link on the way to the database why SQLite does not open it?
fn is_link(error: &rusqlite::Error) -> bool {
    let failure = failure(error);
    failure.is_some_and(|failure| failure.extended_code == ffi::SQLITE_CANTOPEN_SYMLINK)
}

/// The error for a failed system call, by what the caller can do about it.
pub(super) fn io_error(doing: &'static str, path: &Path, source: io::Error) -> Error {
    let path = path.to_owned();
    match source.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Error::Full {
            path,
            source: Box::new(source),
        },
        ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => Error::NotWritable {
            path,
            source: Box::new(source),
        },
        ErrorKind::NotFound => Error::Vanished { path },
        _ if Errno::from_io_error(&source) == Some(Errno::LOOP) => Error::Symlink { path },
        _ => Error::Io {
            doing,
            path,
            source,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_call_is_told_by_what_to_do() {
        for (errno, said) in [
            (
                Errno::NOSPC,
                "the disk is full at /state: free space and retry",
            ),
            (
                Errno::DQUOT,
                "the disk is full at /state: free space and retry",
            ),
            (
                Errno::ROFS,
                "cannot write to /state: make the folder writable for you and retry",
            ),
            (
                Errno::ACCESS,
                "cannot write to /state: make the folder writable for you and retry",
            ),
            (
                Errno::NOENT,
                "/state has vanished or was replaced while in use: retry",
            ),
            (
                Errno::LOOP,
                "/state is a symbolic link, which the store does not follow: replace it by a real one",
            ),
            (Errno::IO, "cannot open /state"),
        ] {
            let error = io_error("open", Path::new("/state"), errno.into());
            assert_eq!(error.to_string(), said);
        }
    }
}
