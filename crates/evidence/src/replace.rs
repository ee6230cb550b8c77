//! Writing a view into the project: whole or not at all, and never through a symbolic link.

use std::fs::File;
use std::io::Write;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::beneath::{Folder, Refused};
use crate::error::Error;
use crate::path::InsidePath;
use crate::project::Project;

/// Puts a file there, in place of what lay there before. Folders on the way are made.
///
/// Nothing is synced: a view can be rendered again.
pub fn replace(project: &Project, path: &InsidePath, bytes: &[u8]) -> Result<(), Error> {
    write(project, path, bytes).map_err(|refused| Error::Unwritable {
        path: path.as_str().to_owned(),
        reason: reason(refused),
    })
}

fn write(project: &Project, path: &InsidePath, bytes: &[u8]) -> Result<(), Refused> {
    let mut folder = Folder::open(&project.root).map_err(Refused::Io)?;
    let parts: Vec<&str> = path.parts().collect();
    let Some((name, folders)) = parts.split_last() else {
        return Err(Refused::Absent);
    };
    for part in folders {
        folder = folder.descend_or_make(part.as_bytes())?;
    }
    folder.replace(name, bytes)
}

impl Folder {
    fn descend_or_make(&self, name: &[u8]) -> Result<Self, Refused> {
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

    /// Writes beside the place and moves it there, so that a reader sees the old file or the new one.
    fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), Refused> {
        match self.file(name.as_bytes()) {
            Ok(_) | Err(Refused::Absent) => {}
            Err(refused) => return Err(refused),
        }
        let beside = format!(".{name}.{}.new", std::process::id());
        let written = self.write_new(&beside, bytes).and_then(|()| {
            rustix::fs::renameat(self.descriptor(), &beside, self.descriptor(), name)
                .map_err(|error| Refused::Io(error.into()))
        });
        if written.is_err() {
            // What is half written must not stay; if even this fails, the first error says why.
            let _ = rustix::fs::unlinkat(self.descriptor(), &beside, AtFlags::empty());
        }
        written
    }

    fn write_new(&self, name: &str, bytes: &[u8]) -> Result<(), Refused> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o666);
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
        Refused::NotAFile(what) => format!("{what} lies there"),
        Refused::Io(error) => error.to_string(),
    }
}
