//! Removes folders with all that they hold, also read-only content such as caches.
//!
//! An agent may put a link anywhere, also in the place of a folder and while we are at it. So each name is removed
//! in the open folder that holds it, and no folder is opened through a link: a link goes, and what it leads to stays.

use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::num::NonZero;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use evidence::beneath::{Folder, Refused};
use runtime::failure::Failure;
use rustix::fs::{AtFlags, Dir, FileType, Mode};
use rustix::io::Errno;

/// How often a folder is removed into which somebody still writes, and the pause between.
const REMOVALS: u32 = 10;
const BETWEEN_REMOVALS: Duration = Duration::from_millis(50);

/// How many folders are worth threads, and how many threads at most.
const MANY_FOLDERS: usize = 16;
const MOST_THREADS: usize = 8;

/// Is there a folder, and not a link to one?
pub(super) fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|it| it.is_dir())
}

/// Opens a folder, but not through a link. The folder above it is trusted.
pub(super) fn open_folder(path: &Path) -> io::Result<Folder> {
    match path.file_name() {
        Some(_) => {
            let (above, name) = above(path)?;
            above.descend(name).map_err(io_error)
        }
        None => Folder::open(path),
    }
}

/// Removes a folder with its content. A process of an orchestrator that lost the run may still put something into it
/// for a moment. What is gone already counts as removed.
pub(super) fn remove_folder(folder: &Path) -> Result<(), Failure> {
    let removed = above(folder).and_then(|(above, name)| remove_in(&above, name));
    match removed {
        Err(cause) if cause.kind() != ErrorKind::NotFound => {
            Err(Failure::file("remove", folder)(cause))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// The same for a name in an open folder.
pub(super) fn remove_in(above: &Folder, name: &[u8]) -> io::Result<()> {
    if let Ok(folder) = open_to_remove(above, name) {
        remove_below(&folder);
    }
    let mut removed = remove_entry(above, name);
    for _ in 1..REMOVALS {
        match removed.as_ref().map_err(io::Error::kind) {
            // Somebody put something there meanwhile, or something else into its place.
            Err(ErrorKind::DirectoryNotEmpty | ErrorKind::NotADirectory) => {
                thread::sleep(BETWEEN_REMOVALS);
            }
            Ok(()) | Err(_) => break,
        }
        removed = remove_entry(above, name);
    }
    removed
}

/// Removes what is below the folders of a folder, with all processors. What remains is not an error yet.
fn remove_below(folder: &Folder) {
    let mut below = Vec::new();
    for name in folders_in(folder) {
        if let Ok(inside) = open_to_remove(folder, &name) {
            let names = folders_in(&inside).into_iter();
            below.extend(names.map(|inner| (name.clone(), inner)));
        }
    }
    if below.len() < MANY_FOLDERS {
        return;
    }
    let next = AtomicUsize::new(0);
    let remove = || {
        while let Some((name, inner)) = below.get(next.fetch_add(1, Ordering::Relaxed)) {
            let _ = folder
                .descend(name)
                .map_err(io_error)
                .and_then(|inside| remove_entry(&inside, inner));
        }
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        for _ in 1..threads.min(MOST_THREADS) {
            scope.spawn(remove);
        }
        remove();
    });
}

/// The folders in a folder, as far as it can be read.
fn folders_in(folder: &Folder) -> Vec<Vec<u8>> {
    let listed = Dir::read_from(folder.descriptor()).into_iter().flatten();
    let entries = listed.filter_map(Result::ok);
    let folders = entries.filter(|entry| entry.file_type() == FileType::Directory);
    let names = folders.map(|entry| entry.file_name().to_bytes().to_vec());
    names.filter(|name| name != b"." && name != b"..").collect()
}

/// Removes one name, whatever it is. All that can be removed goes, also if something else remains.
fn remove_entry(above: &Folder, name: &[u8]) -> io::Result<()> {
    let path = OsStr::from_bytes(name);
    let refused = match rustix::fs::unlinkat(above.descriptor(), path, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        // Systems say this of a folder.
        Err(refused @ (Errno::ISDIR | Errno::PERM)) => refused,
        Err(refused) => return Err(refused.into()),
    };
    let folder = match open_to_remove(above, name) {
        Err(cause) if cause.kind() == ErrorKind::NotADirectory && refused == Errno::PERM => {
            return Err(refused.into());
        }
        // Somebody else has removed it.
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(()),
        opened => opened?,
    };
    let mut emptied = Ok(());
    for name in folder.names()? {
        emptied = emptied.and(remove_entry(&folder, &name));
    }
    emptied?;
    match rustix::fs::unlinkat(above.descriptor(), path, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(refused) => Err(refused.into()),
    }
}

/// Opens a folder, and gives us the rights to remove what it holds.
fn open_to_remove(above: &Folder, name: &[u8]) -> io::Result<Folder> {
    let folder = match above.descend(name).map_err(io_error) {
        Err(cause) if cause.kind() == ErrorKind::PermissionDenied => {
            unlock(above, name)?;
            above.descend(name).map_err(io_error)?
        }
        opened => opened?,
    };
    let mode = Mode::from_raw_mode(rustix::fs::fstat(folder.descriptor())?.st_mode);
    if !mode.contains(Mode::RWXU) {
        rustix::fs::fchmod(folder.descriptor(), Mode::RWXU)?;
    }
    Ok(folder)
}

/// Makes a folder readable that cannot be opened.
#[cfg(target_os = "linux")]
fn unlock(above: &Folder, name: &[u8]) -> io::Result<()> {
    use std::os::fd::AsRawFd as _;

    use rustix::fs::OFlags;

    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let name = OsStr::from_bytes(name);
    let found = rustix::fs::openat(above.descriptor(), name, flags, Mode::empty())?;
    let path = format!("/proc/self/fd/{}", found.as_raw_fd());
    Ok(rustix::fs::chmod(path, Mode::RWXU)?)
}

#[cfg(not(target_os = "linux"))]
fn unlock(above: &Folder, name: &[u8]) -> io::Result<()> {
    let name = OsStr::from_bytes(name);
    let flags = AtFlags::SYMLINK_NOFOLLOW;
    Ok(rustix::fs::chmodat(
        above.descriptor(),
        name,
        Mode::RWXU,
        flags,
    )?)
}

/// The open folder that holds this one, and its name there.
fn above(folder: &Path) -> io::Result<(Folder, &[u8])> {
    let name = folder.file_name().ok_or(ErrorKind::InvalidInput)?;
    let above = folder.parent().ok_or(ErrorKind::InvalidInput)?;
    Ok((Folder::open(above)?, name.as_bytes()))
}

pub(super) fn io_error(refused: Refused) -> io::Error {
    match refused {
        Refused::Io(cause) => cause,
        Refused::Absent => ErrorKind::NotFound.into(),
        Refused::Link(_) | Refused::NotAFolder(_) | Refused::NotAFile(_) => {
            ErrorKind::NotADirectory.into()
        }
    }
}
