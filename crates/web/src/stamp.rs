//! The stamp of the store: it changes when anybody writes, and when the store goes.

use std::os::unix::fs::MetadataExt as _;

use engine::Time;
use runtime::context::Context;

/// Longer than a tick of any file system's clock that we run on.
const SETTLED_MS: i64 = 1_000;

/// The store and its write-ahead log, as the file system tells them apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp(Vec<FileStamp>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct FileStamp {
    inode: u64,
    length: u64,
    written: (i64, i64),
}

impl Stamp {
    /// Was the last write long enough ago that the next one has another time?
    pub(crate) fn is_settled(&self, now: Time) -> bool {
        let settled = |file: &FileStamp| {
            let (seconds, nanoseconds) = file.written;
            let written = seconds * 1_000 + nanoseconds / 1_000_000;
            let now = i64::try_from(now.0).unwrap_or(i64::MAX);
            written + SETTLED_MS < now
        };
        self.0.iter().all(settled)
    }
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
