//! The stamp of the store: it changes when anybody writes, and when the store goes.

use std::os::unix::fs::MetadataExt as _;

use runtime::context::Context;

/// The store and its write-ahead log, as the file system tells them apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp(Vec<FileStamp>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct FileStamp {
    inode: u64,
    length: u64,
    written: (i64, i64),
}

/// The stamp now. What cannot be read has none.
pub(crate) fn of(context: &Context) -> Stamp {
    let Ok(state) = context.state() else {
        return Stamp::default();
    };
    let files = ["store.db", "store.db-wal"].map(|name| state.folder().join(name));
    let found = files.iter().filter_map(|file| std::fs::metadata(file).ok());
    let stamps = found.map(|file| FileStamp {
        inode: file.ino(),
        length: file.len(),
        written: (file.mtime(), file.mtime_nsec()),
    });
    Stamp(stamps.collect())
}
