//! The stamp of a file: its status on disk, which changes whenever somebody changes the file.

use std::fs::File;

use rustix::fs::Stat;

use crate::beneath::Refused;

/// Any change of the file, or another file in its place, changes this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStamp {
    inode: u64,
    size: i128,
    modified: i128,
    changed: i128,
}

impl FileStamp {
    pub(crate) fn of(stat: &Stat) -> Self {
        let nanoseconds = |seconds: i128, rest: i128| seconds * 1_000_000_000 + rest;
        Self {
            inode: stat.st_ino,
            size: i128::from(stat.st_size),
            modified: nanoseconds(i128::from(stat.st_mtime), i128::from(stat.st_mtime_nsec)),
            changed: nanoseconds(i128::from(stat.st_ctime), i128::from(stat.st_ctime_nsec)),
        }
    }

    pub(crate) fn of_file(file: &File) -> Result<Self, Refused> {
        let stat = rustix::fs::fstat(file).map_err(|error| Refused::Io(error.into()))?;
        Ok(Self::of(&stat))
    }

    /// As stored.
    pub fn text(&self) -> String {
        let Self {
            inode,
            size,
            modified,
            changed,
        } = self;
        format!("{inode} {size} {modified} {changed}")
    }

    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split(' ');
        let mark = Self {
            inode: numbers.next()?.parse().ok()?,
            size: numbers.next()?.parse().ok()?,
            modified: numbers.next()?.parse().ok()?,
            changed: numbers.next()?.parse().ok()?,
        };
        numbers.next().is_none().then_some(mark)
    }
}
