//! The stat cache: the hashes of files that have not changed since they were read.
//!
//! The cache is optional: a damaged or unwritable one only costs time. The change time is part of
//! the key because no program can set it back.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use engine::Hash;
use rustix::fs::Stat;

use super::escape;

const HEADER: &str = "gatewright stat cache 1";

/// A file that changed less long before the look may change again with the same times.
const RACY_NANOSECONDS: i128 = 2_000_000_000;

/// The part of a file's status that changes with its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StatKey {
    size: i128,
    modified: i128,
    changed: i128,
    inode: u64,
    device: u64,
}

impl StatKey {
    pub(super) fn of(stat: &Stat) -> Self {
        let nanoseconds = |seconds: i128, rest: i128| seconds * 1_000_000_000 + rest;
        Self {
            size: i128::from(stat.st_size),
            modified: nanoseconds(i128::from(stat.st_mtime), i128::from(stat.st_mtime_nsec)),
            changed: nanoseconds(i128::from(stat.st_ctime), i128::from(stat.st_ctime_nsec)),
            inode: stat.st_ino,
            device: stat.st_dev,
        }
    }

    fn is_racy(&self, now: i128) -> bool {
        self.modified.max(self.changed) > now - RACY_NANOSECONDS
    }
}

/// The known hashes, and the current ones that can be trusted next time.
pub(super) struct Cache {
    path: Option<PathBuf>,
    now: i128,
    known: BTreeMap<String, (StatKey, Hash)>,
    next: BTreeMap<String, (StatKey, Hash)>,
}

impl Cache {
    pub(super) fn load(folder: Option<&Path>, root: &Path) -> Self {
        let name = |folder: &Path| {
            let root = crate::hash(root.as_os_str().as_encoded_bytes()).to_string();
            folder.join(format!("tree-{}", &root[..32]))
        };
        let path = folder.map(name);
        let known = path
            .as_ref()
            .and_then(|path| std::fs::read_to_string(path).ok());
        let known = known.and_then(|text| parse(&text)).unwrap_or_default();
        Self {
            path,
            now: now(),
            known,
            next: BTreeMap::new(),
        }
    }

    pub(super) fn get(&mut self, path: &[u8], stat_key: &StatKey) -> Option<Hash> {
        let path = escape(path);
        let (known, hash) = self.known.get(&path)?;
        if known != stat_key {
            return None;
        }
        let hash = *hash;
        self.next.insert(path, (*stat_key, hash));
        Some(hash)
    }

    pub(super) fn put(&mut self, path: &[u8], stat_key: StatKey, hash: Hash) -> Hash {
        if self.path.is_some() && !stat_key.is_racy(self.now) {
            self.next.insert(escape(path), (stat_key, hash));
        }
        hash
    }

    pub(super) fn save(&self) {
        if let Some(path) = self.path.as_ref().filter(|_| self.next != self.known) {
            // An unwritable cache only makes the next time slower.
            let _ = write(path, &self.next);
        }
    }
}

/// Written to a temporary file and renamed: a reader sees the old one or the new one.
fn write(path: &Path, files: &BTreeMap<String, (StatKey, Hash)>) -> std::io::Result<()> {
    let mut text = format!("{HEADER}\n");
    for (path, (stat_key, hash)) in files {
        let StatKey {
            size,
            modified,
            changed,
            inode,
            device,
        } = stat_key;
        let _ = writeln!(
            text,
            "{hash} {size} {modified} {changed} {inode} {device} {path}"
        );
    }
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path)?;
    Ok(())
}

fn parse(text: &str) -> Option<BTreeMap<String, (StatKey, Hash)>> {
    let mut lines = text.lines();
    if lines.next() != Some(HEADER) {
        return None;
    }
    lines.map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<(String, (StatKey, Hash))> {
    let mut fields = line.splitn(7, ' ');
    let hash = Hash::parse(fields.next()?)?;
    let stat_key = StatKey {
        size: fields.next()?.parse().ok()?,
        modified: fields.next()?.parse().ok()?,
        changed: fields.next()?.parse().ok()?,
        inode: fields.next()?.parse().ok()?,
        device: fields.next()?.parse().ok()?,
    };
    Some((fields.next()?.to_owned(), (stat_key, hash)))
}

fn now() -> i128 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i128::try_from(since.as_nanos()).unwrap_or(i128::MAX)
}
