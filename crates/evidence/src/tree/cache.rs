//! The stat cache: the hashes of files that have not changed since they were read.
//!
//! The cache is optional: a damaged or unwritable one only costs time. The change time is part of
//! the key because no program can set it back.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use engine::Hash;
use rustix::fs::Stat;

const HEADER: &[u8] = b"gatewright stat cache 3\n";

/// A file that changed less long before the look may change again with the same times.
const RACY_NANOSECONDS: i64 = 2_000_000_000;

/// The part of a file's status that changes with its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StatKey {
    size: i64,
    modified: i64,
    changed: i64,
    inode: u64,
    device: u64,
}

impl StatKey {
    /// As stored.
    const LENGTH: usize = 5 * size_of::<u64>();

    pub(super) fn of(stat: &Stat) -> Self {
        let nanoseconds = |seconds: i128, rest: i128| {
            let all = seconds * 1_000_000_000 + rest;
            i64::try_from(all).unwrap_or(i64::MAX)
        };
        Self {
            size: i64::try_from(i128::from(stat.st_size)).unwrap_or(i64::MAX),
            modified: nanoseconds(i128::from(stat.st_mtime), i128::from(stat.st_mtime_nsec)),
            changed: nanoseconds(i128::from(stat.st_ctime), i128::from(stat.st_ctime_nsec)),
            inode: stat.st_ino,
            device: stat.st_dev,
        }
    }

    /// When a program last changed the file, by the clock of its disk.
    pub(super) fn changed(&self) -> i64 {
        self.changed
    }

    pub(super) fn device(&self) -> u64 {
        self.device
    }

    fn is_racy(&self, settled: i64) -> bool {
        self.modified.max(self.changed) >= settled
    }

    fn bytes(&self) -> [u8; Self::LENGTH] {
        let Self {
            size,
            modified,
            changed,
            inode,
            device,
        } = *self;
        let times = [size, modified, changed].map(i64::cast_unsigned);
        let numbers = [times[0], times[1], times[2], inode, device];
        let mut bytes = [0; Self::LENGTH];
        for (place, number) in bytes.chunks_exact_mut(size_of::<u64>()).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }
}

/// A file as it was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadFile {
    pub stat_key: StatKey,
    pub hash: Hash,
    /// Was its hash in the cache?
    pub was_known: bool,
}

/// What the last look found, as far as a later one can find the same without reading anything again.
///
/// Invariant: every file of that tree is in the cache, and so is every link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LastLook {
    /// The hash of all that decides which files count.
    pub rules: Hash,
    pub tree: Hash,
}

impl LastLook {
    /// As stored.
    const LENGTH: usize = 2 * size_of::<Hash>();

    fn bytes(look: Option<&Self>) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        if let Some(Self { rules, tree }) = look {
            let (first, second) = bytes.split_at_mut(size_of::<Hash>());
            first.copy_from_slice(&rules.0);
            second.copy_from_slice(&tree.0);
        }
        bytes
    }

    /// Zeros are none.
    fn read(bytes: &[u8]) -> Option<Self> {
        let (rules, tree) = bytes.split_at_checked(size_of::<Hash>())?;
        let hash = |bytes: &[u8]| bytes.try_into().ok().map(Hash);
        let look = Self {
            rules: hash(rules)?,
            tree: hash(tree)?,
        };
        (look.tree != Hash([0; 32])).then_some(look)
    }
}

/// What is known of the files of a tree, in the order of their paths.
pub(super) struct Cache {
    path: Option<PathBuf>,
    /// A file with a time from this moment on may change again with the same times.
    settled: i64,
    bytes: Vec<u8>,
    /// Where the entry of each file begins.
    entries: Vec<usize>,
    pub(super) last: Option<LastLook>,
}

/// Where the first entry begins.
const FIRST: usize = HEADER.len() + LastLook::LENGTH;

/// The length of a path, a stat key and a hash.
const FIXED: usize = size_of::<u32>() + StatKey::LENGTH + size_of::<Hash>();

impl Cache {
    /// The cache of this root in this folder.
    pub(super) fn load(folder: Option<&Path>, root: &Path) -> Self {
        let name = |folder: &Path| {
            let root = crate::hash(root.as_os_str().as_encoded_bytes()).to_string();
            folder.join(format!("tree-{}", &root[..32]))
        };
        Self::at(folder.map(name))
    }

    /// The cache in this file.
    pub(super) fn at(path: Option<PathBuf>) -> Self {
        let read = path.as_ref().and_then(|path| std::fs::read(path).ok());
        let bytes = read.unwrap_or_default();
        let entries = entries(&bytes);
        let last = bytes.get(HEADER.len()..FIRST).and_then(LastLook::read);
        Self {
            path,
            settled: now().saturating_sub(RACY_NANOSECONDS),
            last: last.filter(|_| entries.is_some()),
            entries: entries.unwrap_or_default(),
            bytes,
        }
    }

    /// The same for a caller who knows the moment before which no file can change any more.
    pub(super) fn settled_before(self, settled: i64) -> Self {
        Self { settled, ..self }
    }

    /// It knows nothing and saves nothing.
    pub(super) fn none() -> Self {
        Self {
            path: None,
            settled: 0,
            bytes: Vec::new(),
            entries: Vec::new(),
            last: None,
        }
    }

    /// The place of the first file that is not before this path. It is found fastest if it is at or
    /// behind `from`, where a caller asks for paths in their order.
    pub(super) fn place(&self, path: &[u8], from: usize) -> usize {
        let is_before = |entry: &usize| self.file(*entry) < path;
        let last = from.checked_sub(1).and_then(|last| self.entries.get(last));
        if last.is_none_or(|last| !is_before(last)) {
            return self.entries.partition_point(is_before);
        }
        let rest = self.entries.get(from..).unwrap_or_default();
        from + rest.iter().take_while(|entry| is_before(entry)).count()
    }

    pub(super) fn path_at(&self, place: usize) -> Option<&[u8]> {
        self.entries.get(place).map(|entry| self.file(*entry))
    }

    /// The hash of this file, if it is at this place and has the same status as before.
    pub(super) fn hash_at(&self, place: usize, path: &[u8], stat_key: &StatKey) -> Option<Hash> {
        let entry = *self.entries.get(place)?;
        let key = entry + size_of::<u32>();
        let is_same =
            self.file(entry) == path && self.part(key, StatKey::LENGTH) == stat_key.bytes();
        let hash = self.part(key + StatKey::LENGTH, size_of::<Hash>());
        hash.try_into().ok().map(Hash).filter(|_| is_same)
    }

    /// What can be trusted the next time: files in the order of their paths.
    pub(super) fn unsaved<'f>(
        &self,
        files: impl Iterator<Item = (&'f [u8], &'f ReadFile)> + Clone,
    ) -> Unsaved<'_> {
        let can_be_trusted =
            |file: &ReadFile| file.was_known || !file.stat_key.is_racy(self.settled);
        let all = files.clone().count();
        let files = files.filter(|(_, file)| can_be_trusted(file));
        let trusted = files.clone().count();
        let is_new = files.clone().any(|(_, file)| !file.was_known);
        let is_other = is_new || trusted != self.entries.len();
        let is_saved = self.path.is_some();
        Unsaved {
            cache: self,
            bytes: (is_other && is_saved).then(|| bytes(files)),
            is_whole: trusted == all,
        }
    }

    /// How many files it knows.
    pub(super) fn count(&self) -> usize {
        self.entries.len()
    }

    /// The paths that it knows, in their order.
    pub(super) fn files(&self) -> Vec<&[u8]> {
        self.files_from(0, self.entries.len())
    }

    /// This many of them, from this one on.
    pub(super) fn files_from(&self, first: usize, most: usize) -> Vec<&[u8]> {
        let entries = self.entries.iter().skip(first).take(most);
        entries.map(|entry| self.file(*entry)).collect()
    }

    fn part(&self, from: usize, length: usize) -> &[u8] {
        self.bytes.get(from..from + length).unwrap_or_default()
    }

    fn file(&self, entry: usize) -> &[u8] {
        let length = length(&self.bytes, entry).unwrap_or_default();
        self.part(entry + FIXED, length)
    }
}

/// What a look has learned.
pub(super) struct Unsaved<'c> {
    cache: &'c Cache,
    /// What the file must hold, unless it holds it.
    bytes: Option<Vec<u8>>,
    /// No file may change again unseen.
    is_whole: bool,
}

impl Unsaved<'_> {
    /// Saves it, and the look if these are all of its files.
    pub(super) fn save(self, look: Option<LastLook>) {
        let look = look.filter(|_| self.is_whole);
        let mut bytes = match self.bytes {
            Some(bytes) => bytes,
            // What was known of the last look stays true with the same files.
            None if look.is_none() || look == self.cache.last => return,
            None => self.cache.bytes.clone(),
        };
        if let (Some(path), Some(place)) = (&self.cache.path, bytes.get_mut(HEADER.len()..FIRST)) {
            place.copy_from_slice(&LastLook::bytes(look.as_ref()));
            // An unwritable cache only makes the next time slower.
            let _ = write(path, &bytes);
        }
    }
}

/// Without a look.
fn bytes<'f>(files: impl Iterator<Item = (&'f [u8], &'f ReadFile)>) -> Vec<u8> {
    let mut bytes = HEADER.to_vec();
    bytes.extend_from_slice(&LastLook::bytes(None));
    for (path, file) in files {
        if let Ok(length) = u32::try_from(path.len()) {
            bytes.extend_from_slice(&length.to_le_bytes());
            bytes.extend_from_slice(&file.stat_key.bytes());
            bytes.extend_from_slice(&file.hash.0);
            bytes.extend_from_slice(path);
        }
    }
    bytes
}

/// Where each entry begins; `None` if the bytes are not a cache.
fn entries(bytes: &[u8]) -> Option<Vec<usize>> {
    bytes.strip_prefix(HEADER)?;
    let mut entries = Vec::new();
    let mut at = FIRST;
    while at < bytes.len() {
        entries.push(at);
        at = at.checked_add(FIXED)?.checked_add(length(bytes, at)?)?;
    }
    (at == bytes.len()).then_some(entries)
}

/// The length of the path of this entry.
fn length(bytes: &[u8], entry: usize) -> Option<usize> {
    let length = bytes.get(entry..entry + size_of::<u32>())?;
    let length = u32::from_le_bytes(length.try_into().ok()?);
    usize::try_from(length).ok()
}

/// Written to a temporary file and renamed: a reader sees the old one or the new one.
fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}

fn now() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u64) -> StatKey {
        StatKey {
            size: 1,
            modified: 2,
            changed: 3,
            inode: number,
            device: 5,
        }
    }

    fn file(number: u8, was_known: bool) -> ReadFile {
        ReadFile {
            stat_key: key(number.into()),
            hash: Hash([number; 32]),
            was_known,
        }
    }

    fn known(cache: &Cache, path: &[u8], stat_key: &StatKey) -> Option<Hash> {
        cache.hash_at(cache.place(path, 0), path, stat_key)
    }

    #[test]
    fn what_was_saved_is_known_from_any_place_on() {
        let (folder, root) = (tempfile::tempdir().unwrap(), Path::new("/p"));
        let load = || Cache::load(Some(folder.path()), root);
        let files = [
            ("a", file(1, false)),
            ("b/c", file(2, false)),
            ("d", file(3, true)),
        ];
        let saved = files.iter().map(|(path, file)| (path.as_bytes(), file));
        load().unsaved(saved).save(None);
        let cache = load();
        for (at, (from, _)) in files.iter().enumerate() {
            let mut place = cache.place(from.as_bytes(), 0);
            for (path, file) in &files[at..] {
                place = cache.place(path.as_bytes(), place);
                let hash = cache.hash_at(place, path.as_bytes(), &file.stat_key);
                assert_eq!(hash, Some(file.hash), "{path}");
            }
        }
        assert_eq!(known(&cache, b"a", &key(9)), None, "another status");
        assert_eq!(known(&cache, b"b", &key(2)), None, "no such file");
        for from in 0..5 {
            let place = |path: &[u8]| cache.place(path, from);
            let places = [place(b""), place(b"b/c"), place(b"c"), place(b"e")];
            assert_eq!(places, [0, 1, 2, 3], "from {from}");
        }
    }

    #[test]
    fn a_file_that_may_change_again_unseen_is_not_saved() {
        let (folder, root) = (tempfile::tempdir().unwrap(), Path::new("/p"));
        let cache = Cache::load(Some(folder.path()), root);
        let young = StatKey {
            changed: cache.settled,
            ..key(1)
        };
        for was_known in [false, true] {
            let file = ReadFile {
                stat_key: young,
                was_known,
                ..file(1, was_known)
            };
            cache.unsaved([(&b"a"[..], &file)].into_iter()).save(None);
            let again = Cache::load(Some(folder.path()), root);
            let known = known(&again, b"a", &young);
            assert_eq!(known.is_some(), was_known);
        }
    }

    #[test]
    fn a_damaged_cache_knows_nothing_or_the_same() {
        let (folder, root) = (tempfile::tempdir().unwrap(), Path::new("/p"));
        let cache = Cache::load(Some(folder.path()), root);
        let path = cache.path.clone().unwrap();
        cache
            .unsaved([(&b"a"[..], &file(1, true))].into_iter())
            .save(None);
        let whole = std::fs::read(&path).unwrap();
        for length in 0..whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            let cut = Cache::load(Some(folder.path()), root);
            assert_eq!(known(&cut, b"a", &key(1)), None, "{length}");
        }
        std::fs::write(&path, [HEADER, &[0xff; 144]].concat()).unwrap();
        let nonsense = Cache::load(Some(folder.path()), root);
        assert_eq!(known(&nonsense, b"a", &key(1)), None);
    }
}
