//! Head files: the end of each run's chain, kept outside the database, so that a truncated journal
//! shows.
//!
//! Created and synced before the first commit of a run, then overwritten after each commit without
//! a sync: a head may lag, but it is never ahead and never missing.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use engine::{Hash, RunId};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::folder::{Folder, io_error};
use crate::chain::Tip;
use crate::verification::Anchor;
use crate::{Error, chain};

/// Twenty digits, a space, 64 hexadecimal digits, a line break.
const LENGTH: usize = 86;

/// The folder with the head files. Files are opened through it, so no link can lead elsewhere.
pub(super) struct Heads {
    directory: File,
    path: PathBuf,
}

/// One run's head file, if there is one.
pub(super) struct Head {
    file: Option<File>,
    path: PathBuf,
}

impl Heads {
    /// The folder, if it exists.
    pub(super) fn find(folder: &Folder) -> Result<Option<Self>, Error> {
        let path = folder.path().join("heads");
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::open(&path, flags, Mode::empty()) {
            Ok(directory) => Ok(Some(Self {
                directory: directory.into(),
                path,
            })),
            Err(Errno::NOENT) => Ok(None),
            // The errors for a link on Linux and on other systems.
            Err(Errno::NOTDIR | Errno::LOOP) => Err(Error::WrongType {
                path,
                wanted: "a folder",
            }),
            Err(error) => Err(io_error("open", &path, error.into())),
        }
    }

    pub(super) fn make(folder: &Folder) -> Result<Self, Error> {
        if let Some(heads) = Self::find(folder)? {
            return Ok(heads);
        }
        let path = folder.path().join("heads");
        match rustix::fs::mkdir(&path, Mode::RWXU) {
            Ok(()) => folder.sync()?,
            Err(Errno::EXIST) => {}
            Err(error) => return Err(io_error("create", &path, error.into())),
        }
        Self::find(folder)?.ok_or(Error::Vanished { path })
    }

    /// The run's head file; with `CREATE` it is created if it is missing.
    fn head(&self, run: &RunId, flags: OFlags) -> Result<Head, Error> {
        let path = self.path.join(run.as_str());
        match self.open(run, flags) {
            Ok(file) => Ok(Head {
                file: Some(file),
                path,
            }),
            Err(Errno::NOENT) => Ok(Head { file: None, path }),
            Err(error) => Err(io_error("open", &path, error.into())),
        }
    }

    pub(super) fn read(&self, run: &RunId) -> Result<Anchor, Error> {
        self.head(run, OFlags::RDONLY)?.read()
    }

    pub(super) fn write(&self, run: &RunId, tip: Tip) -> Result<(), Error> {
        self.head(run, OFlags::RDWR | OFlags::CREATE)?
            .write(tip)
            .map(drop)
    }

    /// Creates the head file of a run that is about to start or to be collected: it covers no
    /// entries. From now on a run without a head file has lost it.
    pub(super) fn clear(&self, run: &RunId) -> Result<(), Error> {
        self.clear_all(core::slice::from_ref(run))
    }

    /// The same for several runs, with one sync of the folder.
    pub(super) fn clear_all(&self, runs: &[RunId]) -> Result<(), Error> {
        for run in runs {
            let head = self.head(run, OFlags::RDWR | OFlags::CREATE)?;
            let nothing = Tip {
                version: 0,
                head: chain::root(run),
            };
            head.write(nothing)?;
            let synced = head.file.iter().try_for_each(File::sync_data);
            synced.map_err(|error| io_error("sync", &head.path, error))?;
        }
        let synced = self.directory.sync_all();
        synced.map_err(|error| io_error("sync", &self.path, error))
    }

    pub(super) fn remove(&self, run: &RunId) -> Result<(), Error> {
        match rustix::fs::unlinkat(&self.directory, run.as_str(), AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(io_error(
                "remove",
                &self.path.join(run.as_str()),
                error.into(),
            )),
        }
    }

    /// Every run that was recorded and not collected.
    pub(super) fn runs(&self) -> Result<Vec<RunId>, Error> {
        let listed =
            fs::read_dir(&self.path).map_err(|error| io_error("list", &self.path, error))?;
        let names = listed.filter_map(Result::ok).map(|entry| entry.file_name());
        Ok(names
            .filter_map(|name| RunId::parse(name.to_str()?).ok())
            .collect())
    }

    /// A run's id has no slash and no dot, so it stays in this folder.
    fn open(&self, run: &RunId, flags: OFlags) -> Result<File, Errno> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        rustix::fs::openat(&self.directory, run.as_str(), flags, mode).map(File::from)
    }
}

impl Head {
    /// The head of a run, even if it has none yet.
    pub(super) fn find(folder: &Folder, run: &RunId) -> Result<Self, Error> {
        match Heads::find(folder)? {
            Some(heads) => heads.head(run, OFlags::RDWR),
            None => Ok(Self {
                file: None,
                path: folder.path().join("heads"),
            }),
        }
    }

    pub(super) fn read(&self) -> Result<Anchor, Error> {
        let Some(file) = &self.file else {
            return Ok(Anchor::Absent);
        };
        let mut bytes = [0; LENGTH];
        match file.read_exact_at(&mut bytes, 0) {
            Ok(()) => Ok(parse(&bytes)),
            // It is truncated.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(Anchor::Absent),
            Err(error) => Err(io_error("read", &self.path, error)),
        }
    }

    /// Overwrites the head. `false` if there is no file yet.
    fn write(&self, tip: Tip) -> Result<bool, Error> {
        let Some(file) = &self.file else {
            return Ok(false);
        };
        let line = format!("{:020} {}\n", tip.version, tip.head);
        let written = file.write_all_at(line.as_bytes(), 0);
        written
            .map(|()| true)
            .map_err(|error| io_error("write", &self.path, error))
    }

    /// Overwrites the head, or creates the file.
    pub(super) fn put(&self, folder: &Folder, run: &RunId, tip: Tip) -> Result<(), Error> {
        if self.write(tip)? {
            Ok(())
        } else {
            Heads::make(folder)?.write(run, tip)
        }
    }
}

fn parse(bytes: &[u8; LENGTH]) -> Anchor {
    // Some file systems leave zeros where a write did not reach the disk.
    if bytes.iter().all(|byte| *byte == 0) {
        return Anchor::Absent;
    }
    let tip = || {
        let line = std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?;
        let (version, head) = line.split_once(' ')?;
        Some(Tip {
            version: version.parse().ok()?,
            head: Hash::parse(head)?,
        })
    };
    tip().map_or(Anchor::Unreadable, Anchor::At)
}
