//! Writes a view into the project: atomically, and never through a symbolic link.

use std::cell::RefCell;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use engine::Readers;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::beneath::{self, Folder, Refused};
use crate::error::Error;
use crate::file_stamp::FileStamp;
use crate::path::InsidePath;

/// The folder of a project in which views are written. It keeps the folder of the last file open: views
/// mostly lie side by side.
pub struct ViewFolder {
    root: PathBuf,
    last: RefCell<Option<(String, Rc<Folder>)>>,
}

impl ViewFolder {
    /// The canonical root of a project.
    pub fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            last: RefCell::new(None),
        }
    }

    /// Replaces a file and makes its folders. Returns the stamp of the new file.
    ///
    /// Nothing is synced: a view can be rendered again.
    pub fn replace(
        &self,
        path: &InsidePath,
        bytes: &[u8],
        readers: Readers,
    ) -> Result<FileStamp, Error> {
        let write = || {
            let (folder, name) = self.folder_of(path, Way::Made)?;
            folder.replace(name, bytes, readers)?;
            folder
                .stat(name.as_bytes())
                .map(|stat| FileStamp::of(&stat))
        };
        write().map_err(|refused| unwritable(path, refused))
    }

    /// Appends to a file that still has this stamp; `None` if it has another one.
    pub fn append(
        &self,
        path: &InsidePath,
        bytes: &[u8],
        file_stamp: FileStamp,
    ) -> Result<Option<FileStamp>, Error> {
        let write = || {
            let (folder, name) = self.folder_of(path, Way::Found)?;
            let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let opened = rustix::fs::openat(folder.descriptor(), name, flags, Mode::empty());
            let opened = opened.map_err(|error| match error {
                Errno::NOENT => Refused::Absent,
                other => Refused::Io(other.into()),
            });
            let mut file = File::from(opened?);
            if FileStamp::of_file(&file)? != file_stamp {
                return Ok(None);
            }
            file.write_all(bytes).map_err(Refused::Io)?;
            FileStamp::of_file(&file).map(Some)
        };
        match write() {
            Err(Refused::Absent) => Ok(None),
            other => other.map_err(|refused| unwritable(path, refused)),
        }
    }

    /// The stamp of a view's file; `None` if there is none.
    pub fn stamp(&self, path: &InsidePath) -> Result<Option<FileStamp>, Error> {
        let look = || {
            let (folder, name) = self.folder_of(path, Way::Found)?;
            folder
                .stat(name.as_bytes())
                .map(|stat| FileStamp::of(&stat))
        };
        match look() {
            Ok(file_stamp) => Ok(Some(file_stamp)),
            Err(Refused::Absent) => Ok(None),
            Err(refused) => Err(unwritable(path, refused)),
        }
    }

    /// The current bytes of a view, to compare with what was written; `None` if they cannot be read.
    pub fn read(&self, path: &InsidePath) -> Option<Vec<u8>> {
        let (mut file, _) = crate::beneath::open_file(&self.root, path.parts()).ok()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    fn folder_of<'p>(
        &self,
        path: &'p InsidePath,
        way: Way,
    ) -> Result<(Rc<Folder>, &'p str), Refused> {
        let (above, name) = path
            .as_str()
            .rsplit_once('/')
            .unwrap_or(("", path.as_str()));
        let last = self.last.borrow().clone();
        if let Some((_, folder)) = last.filter(|(known, _)| known == above) {
            return Ok((folder, name));
        }
        let root = Folder::open(&self.root).map_err(Refused::Io)?;
        let folder = match way {
            _ if above.is_empty() => root,
            Way::Found => root.descend_path(above.as_bytes())?,
            Way::Made => match root.descend_path(above.as_bytes()) {
                Err(Refused::Absent) => root.descend_or_make(above)?,
                found => found?,
            },
        };
        let folder = Rc::new(folder);
        self.last
            .replace(Some((above.to_owned(), Rc::clone(&folder))));
        Ok((folder, name))
    }
}

/// Makes the folders of a path, if they are missing.
#[derive(Clone, Copy)]
enum Way {
    Found,
    Made,
}

fn unwritable(path: &InsidePath, refused: Refused) -> Error {
    Error::Unwritable {
        path: path.as_str().to_owned(),
        reason: reason(refused),
    }
}

impl Folder {
    /// Descends part by part, and makes what is missing.
    fn descend_or_make(&self, path: &str) -> Result<Self, Refused> {
        let mut folder = self.descend_path(b"")?;
        for part in path.split('/').filter(|part| !part.is_empty()) {
            folder = folder.descend_or_make_one(part.as_bytes())?;
        }
        Ok(folder)
    }

    fn descend_or_make_one(&self, name: &[u8]) -> Result<Self, Refused> {
        match self.descend(name) {
            Err(Refused::Absent) => {}
            other => return other,
        }
        let mode = Mode::from_raw_mode(0o777);
        match rustix::fs::mkdirat(self.descriptor(), name, mode) {
            Ok(()) | Err(Errno::EXIST) => self.descend(name),
            Err(error) => Err(Refused::Io(error.into())),
        }
    }

    /// Writes a temporary file and renames it, so that a reader sees the old file or the new one.
    fn replace(&self, name: &str, bytes: &[u8], readers: Readers) -> Result<(), Refused> {
        match self.stat(name.as_bytes()) {
            Err(Refused::Absent) => {}
            Ok(stat) if beneath::kind(&stat) == FileType::RegularFile => {}
            Ok(stat) => return Err(beneath::not_a_file(&stat, name.as_bytes())),
            Err(refused) => return Err(refused),
        }
        let beside = format!(".{name}.{}.new", std::process::id());
        let written = self.write_new(&beside, bytes, readers).and_then(|()| {
            rustix::fs::renameat(self.descriptor(), &beside, self.descriptor(), name)
                .map_err(|error| Refused::Io(error.into()))
        });
        if written.is_err() {
            // Removes the temporary file; if that fails, too, the first error explains it.
            let _ = rustix::fs::unlinkat(self.descriptor(), &beside, AtFlags::empty());
        }
        written
    }

    fn write_new(&self, name: &str, bytes: &[u8], readers: Readers) -> Result<(), Refused> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(match readers {
            Readers::Owner => 0o600,
            Readers::All => 0o666,
        });
        let file = rustix::fs::openat(self.descriptor(), name, flags, mode)
            .map_err(|error| Refused::Io(error.into()))?;
        File::from(file).write_all(bytes).map_err(Refused::Io)
    }
}

fn reason(refused: Refused) -> String {
    match refused {
        Refused::Absent => String::from("its folder is gone"),
        Refused::Link(part) => format!("`{part}` is a symbolic link"),
        Refused::NotAFolder(part) => format!("`{part}` is not a folder"),
        Refused::NotAFile(what) => format!("{what} is in the way"),
        Refused::Io(error) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn place() -> (tempfile::TempDir, ViewFolder, InsidePath) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let views = ViewFolder::new(&root);
        let path = InsidePath::parse("shown/run.log").unwrap();
        (folder, views, path)
    }

    #[test]
    fn a_mark_tells_a_file_from_an_edited_a_replaced_and_a_removed_one() {
        let (folder, views, path) = place();
        let file = folder.path().join("shown/run.log");
        assert_eq!(views.stamp(&path).unwrap(), None);
        let first = views.replace(&path, b"one\n", Readers::Owner).unwrap();
        assert_eq!(views.stamp(&path).unwrap(), Some(first));
        assert_eq!(FileStamp::parse(&first.text()), Some(first));
        let text = fs::read(&file).unwrap();
        fs::remove_file(&file).unwrap();
        assert_eq!(views.stamp(&path).unwrap(), None);
        fs::write(&file, text).unwrap();
        assert_ne!(views.stamp(&path).unwrap(), Some(first));
        assert_eq!(views.read(&path).unwrap(), b"one\n");
    }

    #[test]
    fn only_the_file_that_was_left_is_lengthened() {
        let (folder, views, path) = place();
        let file = folder.path().join("shown/run.log");
        let first = views.replace(&path, b"one\n", Readers::Owner).unwrap();
        let second = views.append(&path, b"two\n", first).unwrap().unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"one\ntwo\n");
        assert_eq!(
            views.append(&path, b"x", first).unwrap(),
            None,
            "an old mark"
        );
        fs::write(&file, "else\n").unwrap();
        assert_eq!(views.append(&path, b"x", second).unwrap(), None);
        fs::remove_file(&file).unwrap();
        assert_eq!(views.append(&path, b"x", second).unwrap(), None);
        symlink(folder.path().join("elsewhere"), &file).unwrap();
        assert!(views.append(&path, b"x", second).is_err());
        assert!(!folder.path().join("elsewhere").exists());
    }
}
