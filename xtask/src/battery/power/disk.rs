//! A file system of its own in a file, whose power can be cut: what it has not written is lost, as on a
//! machine that goes off, and its own log is replayed when it is mounted again.

use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use crate::failure::Failure;
use crate::workspace::{read, scratch};

/// The file systems that are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Ext4,
    Xfs,
}

impl Kind {
    pub(super) const ALL: [Self; 2] = [Self::Ext4, Self::Xfs];

    fn make(self) -> &'static str {
        match self {
            Self::Ext4 => "mkfs.ext4",
            Self::Xfs => "mkfs.xfs",
        }
    }

    /// The smallest that its own tool makes without complaint. The file has holes.
    fn bytes(self) -> u64 {
        const MEGABYTE: u64 = 1024 * 1024;
        match self {
            Self::Ext4 => 256 * MEGABYTE,
            Self::Xfs => 512 * MEGABYTE,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
        })
    }
}

/// How often a file system is asked to go. The last process on it may still be ending.
const MOST_TRIES: usize = 100;

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(50);

/// A file system in a file. It is unmounted when this goes.
pub(super) struct Disk {
    kind: Kind,
    folder: TempDir,
}

impl Disk {
    pub(super) fn new(kind: Kind) -> Result<Self, Failure> {
        let disk = Self {
            kind,
            folder: scratch("power")?,
        };
        let (image, place) = (disk.image(), disk.place());
        let file = File::create(&image).map_err(Failure::file("make", &image))?;
        file.set_len(kind.bytes())
            .map_err(Failure::file("make", &image))?;
        fs::create_dir(&place).map_err(Failure::file("make", &place))?;
        read(Command::new(kind.make()).arg("-q").arg(&image))?;
        disk.mount()?;
        Ok(disk)
    }

    fn image(&self) -> PathBuf {
        self.folder.path().join("image")
    }

    /// Where it is mounted.
    pub(super) fn place(&self) -> PathBuf {
        self.folder.path().join("disk")
    }

    fn mount(&self) -> Result<(), Failure> {
        let mut command = Command::new("mount");
        command.args(["-o", "loop", "-t", &self.kind.to_string()]);
        read(command.arg(self.image()).arg(self.place())).map(drop)
    }

    /// Cuts the power: nothing that is not on the disk will ever be.
    pub(super) fn cut(&self) -> Result<(), Failure> {
        let mut command = Command::new("xfs_io");
        read(command.args(["-x", "-c", "shutdown"]).arg(self.place())).map(drop)
    }

    /// The power comes back. As long as another mount namespace has a copy of the mount (a sandbox that somebody
    /// started meanwhile), the file system that was cut lives on, and is mounted again as it is.
    pub(super) fn start_again(&self) -> Result<(), Failure> {
        let place = self.place();
        for _ in 0..MOST_TRIES {
            unmount(&place)?;
            self.mount()?;
            if fs::read_dir(&place).is_ok_and(|mut entries| entries.all(|entry| entry.is_ok())) {
                return Ok(());
            }
            thread::sleep(PAUSE);
        }
        Err(Failure::no(format!(
            "{} stays off: somebody else has it mounted, too",
            place.display()
        )))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // One that is not mounted has nothing to lose.
        let _ = unmount(&self.place());
    }
}

fn unmount(place: &Path) -> Result<(), Failure> {
    for _ in 0..MOST_TRIES {
        if read(Command::new("umount").arg(place)).is_ok() {
            return Ok(());
        }
        thread::sleep(PAUSE);
    }
    read(Command::new("umount").arg(place)).map(drop)
}

/// Why no file system can be mounted here, if there is a reason.
pub(super) fn obstacle() -> Option<String> {
    let tried = Disk::new(Kind::Ext4);
    tried.err().map(|failure| failure.with_causes())
}
