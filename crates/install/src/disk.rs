//! Files below one folder: read and written without following a link, whole or not at all.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use runtime::failure::Failure;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;

/// The largest file that we read.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// The folder that contains all files of an installation. It is canonical, or does not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseFolder {
    root: PathBuf,
    /// What a new file may be used for, and by whom.
    mode: u32,
}

/// What to do about a missing folder.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Absent {
    Make,
    Leave,
}

impl BaseFolder {
    pub fn new(root: PathBuf) -> Self {
        Self { root, mode: 0o666 }
    }

    /// A folder with files that only the owner may read.
    pub fn private(root: PathBuf) -> Self {
        Self { root, mode: 0o600 }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The content of a file; `None` if it does not exist.
    pub fn read(&self, path: &str) -> Result<Option<Vec<u8>>, Failure> {
        let Some((folder, name)) = self.folder_of(path, Absent::Leave)? else {
            return Ok(None);
        };
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(&folder, name, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP | Errno::MLINK) => return Err(self.link(path)),
            Err(error) => return Err(self.failed("open", path)(error.into())),
        };
        let metadata = file.metadata().map_err(self.failed("look at", path))?;
        if !metadata.is_file() || metadata.len() > MOST_BYTES {
            let shown = self.shown(path);
            let failure = Failure::refused(format!("{shown} is not a readable file"));
            return Err(failure.hint("move it away"));
        }
        let mut bytes = Vec::new();
        let mut file = file.take(MOST_BYTES);
        file.read_to_end(&mut bytes)
            .map_err(self.failed("read", path))?;
        Ok(Some(bytes))
    }

    /// Writes or replaces a file durably.
    ///
    /// Invariant: only one process writes here at a time, so the name beside is free or left over.
    pub fn write(&self, path: &str, bytes: &[u8]) -> Result<(), Failure> {
        let Some((folder, name)) = self.folder_of(path, Absent::Make)? else {
            return Err(self.link(path));
        };
        let mode = self.mode(&folder, name, path)?;
        let beside = format!(".{name}.gatewright-new");
        let written = || -> std::io::Result<()> {
            match rustix::fs::unlinkat(&folder, &beside, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(error) => return Err(error.into()),
            }
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let new = Mode::from_raw_mode(self.mode);
            let mut file = File::from(rustix::fs::openat(&folder, &beside, flags, new)?);
            if let Some(mode) = mode {
                rustix::fs::fchmod(&file, mode)?;
            }
            file.write_all(bytes)?;
            file.sync_all()?;
            rustix::fs::renameat(&folder, &beside, &folder, name)?;
            Ok(rustix::fs::fsync(&folder)?)
        };
        written().map_err(self.failed("write", path))
    }

    /// The permissions of an existing file, which stay.
    fn mode(&self, folder: &OwnedFd, name: &str, path: &str) -> Result<Option<Mode>, Failure> {
        match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile => {
                Ok(Some(Mode::from_raw_mode(stat.st_mode & 0o777)))
            }
            Ok(_) => Err(self.link(path)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(self.failed("look at", path)(error.into())),
        }
    }

    pub fn remove(&self, path: &str) -> Result<(), Failure> {
        let Some((folder, name)) = self.folder_of(path, Absent::Leave)? else {
            return Ok(());
        };
        match rustix::fs::unlinkat(&folder, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {
                rustix::fs::fsync(&folder).map_err(|error| self.failed("write", path)(error.into()))
            }
            Err(error) => Err(self.failed("remove", path)(error.into())),
        }
    }

    /// Removes an empty folder. Errors are ignored.
    pub fn remove_folder(&self, path: &str) {
        if let Ok(Some((folder, name))) = self.folder_of(path, Absent::Leave) {
            let _ = rustix::fs::unlinkat(&folder, name, AtFlags::REMOVEDIR);
        }
    }

    /// Is this path a symbolic link?
    pub fn is_link(&self, path: &str) -> bool {
        self.root.join(path).is_symlink()
    }

    /// The missing parent folders of this file, the outermost first.
    pub fn missing_folders(&self, path: &str) -> Vec<String> {
        let ends = path.match_indices('/').map(|(at, _)| &path[..at]);
        let missing = ends.filter(|folder| !self.root.join(folder).exists());
        missing.map(str::to_owned).collect()
    }

    /// The open folder of a file, and the file's name. Each part is opened by itself, so that nobody
    /// can put a link in its place in between.
    fn folder_of<'a>(
        &self,
        path: &'a str,
        absent: Absent,
    ) -> Result<Option<(OwnedFd, &'a str)>, Failure> {
        if absent == Absent::Make {
            std::fs::create_dir_all(&self.root).map_err(Failure::file("make", &self.root))?;
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut folder = match rustix::fs::openat(CWD, &self.root, flags, Mode::empty()) {
            Ok(folder) => folder,
            Err(Errno::NOENT) if absent == Absent::Leave => return Ok(None),
            Err(error) => return Err(Failure::file("open", &self.root)(error.into())),
        };
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        for part in folders.split('/').filter(|part| !part.is_empty()) {
            folder = match self.descend(&folder, part, path, absent)? {
                Some(folder) => folder,
                None => return Ok(None),
            };
        }
        Ok(Some((folder, name)))
    }

    fn descend(
        &self,
        folder: &OwnedFd,
        part: &str,
        path: &str,
        absent: Absent,
    ) -> Result<Option<OwnedFd>, Failure> {
        if absent == Absent::Make {
            match rustix::fs::mkdirat(folder, part, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(self.failed("make the folder of", path)(error.into())),
            }
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(folder, part, flags, Mode::empty()) {
            Ok(folder) => Ok(Some(folder)),
            Err(Errno::NOENT) => Ok(None),
            Err(Errno::LOOP | Errno::MLINK | Errno::NOTDIR) => Err(self.no_folder(part, path)),
            Err(error) => Err(self.failed("open the folder of", path)(error.into())),
        }
    }

    fn no_folder(&self, part: &str, path: &str) -> Failure {
        let message = format!(
            "cannot reach {}: {part} is a symbolic link or not a folder",
            self.shown(path)
        );
        Failure::refused(message).hint("replace it with a real folder")
    }

    fn link(&self, path: &str) -> Failure {
        let message = format!("{} is a symbolic link or not a file", self.shown(path));
        Failure::refused(message).hint("replace it with a real file")
    }

    fn shown(&self, path: &str) -> String {
        self.root.join(path).display().to_string()
    }

    fn failed(&self, doing: &'static str, path: &str) -> impl FnOnce(std::io::Error) -> Failure {
        let path = self.root.join(path);
        move |cause| Failure::file(doing, &path)(cause)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn base() -> (tempfile::TempDir, BaseFolder) {
        let folder = tempfile::tempdir().unwrap();
        let base = BaseFolder::new(folder.path().canonicalize().unwrap());
        (folder, base)
    }

    #[test]
    fn a_file_is_written_with_its_folders_and_keeps_its_permissions() {
        let (_folder, base) = base();
        let path = "a/b/c.json";
        assert_eq!(base.read(path).unwrap(), None);
        assert_eq!(base.missing_folders(path), ["a", "a/b"]);
        base.write(path, b"one").unwrap();
        assert_eq!(base.missing_folders(path), [""; 0]);
        let file = base.root().join(path);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        // A leftover file of a killed process does not matter.
        fs::write(base.root().join("a/b/.c.json.gatewright-new"), "half").unwrap();
        base.write(path, b"two").unwrap();
        assert_eq!(base.read(path).unwrap().as_deref(), Some(&b"two"[..]));
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o640
        );
        assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
        base.remove_folder("a/b");
        assert!(file.exists());
        base.remove(path).unwrap();
        base.remove(path).unwrap();
        base.remove_folder("a/b");
        assert!(!base.root().join("a/b").exists());
    }

    #[test]
    fn no_link_is_followed() {
        let (_folder, base) = base();
        let root = base.root();
        fs::create_dir(root.join("real")).unwrap();
        fs::write(root.join("real/x"), "x").unwrap();
        symlink("real", root.join("linked")).unwrap();
        symlink("real/x", root.join("x")).unwrap();
        symlink("nowhere", root.join("dangling")).unwrap();
        fs::create_dir(root.join("folder")).unwrap();
        for path in [
            "linked/x",
            "linked/new",
            "x",
            "dangling",
            "folder",
            "real/x/y",
        ] {
            assert!(base.read(path).is_err(), "{path}");
            assert!(base.write(path, b"y").is_err(), "{path}");
        }
        assert_eq!(fs::read_to_string(root.join("real/x")).unwrap(), "x");
        assert!(!root.join("nowhere").exists() && !root.join("real/new").exists());
    }
}
