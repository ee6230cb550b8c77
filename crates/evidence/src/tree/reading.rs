//! Reads the files of a tree: the status of each, and the content of those that the cache does not know.

use std::io::{self, Read};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use engine::Hash;
use rustix::fs::FileType;

use super::cache::{Cache, LastLook, ReadFile, StatKey, Unsaved};
use super::listing::Listed;
use super::manifest::EntryKind;
use super::naming::Naming;
use crate::beneath::{self, Folder, Refused};
use crate::content::hash;
use crate::error::Error;
use crate::escape::escape;

/// How many files are worth a thread.
const MANY: usize = 10_000;

/// How many files a thread takes at once.
const PART: usize = 2_000;

/// How often a file is read that changes its length meanwhile.
const MOST_READS: usize = 3;

/// More threads than these wait for each other.
const MOST_THREADS: usize = 8;

/// What is at a path.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found {
    /// A file or a link.
    File(EntryKind, ReadFile),
    /// A folder, a pipe or a device.
    Other(EntryKind, Hash),
    /// A deleted file has no line.
    Gone,
}

/// The files of the last look, looked at again before anybody knows whether they still count.
pub(super) struct AheadOfList {
    cache: Cache,
    naming: Naming,
    /// What is at each path of the cache; nothing if one of them could not be read.
    found: Vec<Found>,
}

impl AheadOfList {
    /// For a caller that reads no file.
    pub(super) fn nothing() -> Self {
        Self {
            cache: Cache::none(),
            naming: Naming::Content,
            found: Vec::new(),
        }
    }

    /// Looks at few files.
    fn look(root: &Path, cache: Cache, naming: Naming) -> Self {
        // A file that cannot be read now is read again when it is known to count.
        let found = in_threads(root, &cache.files(), (&cache, naming), 1);
        let found = found.unwrap_or_default();
        Self {
            cache,
            naming,
            found,
        }
    }

    pub(super) fn cursor(&self) -> Cursor<'_> {
        Cursor {
            ahead: self,
            next: 0,
        }
    }

    /// Is everything as it was at this look, without any file that must be read?
    pub(super) fn is_as_at(&self, look: &LastLook) -> bool {
        let is_known = |found: &Found| match found {
            Found::File(_, file) => file.was_known,
            Found::Other(..) | Found::Gone => false,
        };
        self.cache.last == Some(*look)
            && self.found.len() == self.cache.count()
            && self.found.iter().all(is_known)
    }

    /// What is at each of these paths, which are sorted.
    pub(super) fn read(&self, root: &Path, files: &[Listed]) -> Result<Vec<Found>, Error> {
        let mut cursor = self.cursor();
        let known = files.iter().map(|file| cursor.find(&file.path));
        let known: Vec<Option<Found>> = known.collect();
        let paths = files.iter().map(|file| file.path.as_slice());
        let rest = paths.zip(&known);
        let rest = rest.filter(|(_, known)| known.is_none());
        let rest: Vec<&[u8]> = rest.map(|(path, _)| path).collect();
        let how = (&self.cache, self.naming);
        let mut read = in_threads(root, &rest, how, processors())?.into_iter();
        let found = known.into_iter();
        let found = found.filter_map(|known| known.or_else(|| read.next()));
        Ok(found.collect())
    }

    /// What was found there is known the next time.
    pub(super) fn unsaved(&self, files: &[Listed], found: &[Found]) -> Unsaved<'_> {
        let paths = files.iter().map(|file| file.path.as_slice());
        unsaved(&self.cache, paths.zip(found))
    }
}

fn unsaved<'c, 'f>(
    cache: &'c Cache,
    found: impl Iterator<Item = (&'f [u8], &'f Found)> + Clone,
) -> Unsaved<'c> {
    cache.unsaved(found.filter_map(|(path, found)| match found {
        Found::File(_, file) => Some((path, file)),
        Found::Other(..) | Found::Gone => None,
    }))
}

/// What is at each of these paths, which are sorted.
pub(super) fn named(
    root: &Path,
    files: &[&[u8]],
    cache: &Cache,
    naming: Naming,
) -> Result<Vec<Found>, Error> {
    let found = in_threads(root, files, (cache, naming), processors())?;
    unsaved(cache, files.iter().copied().zip(&found)).save(None);
    Ok(found)
}

/// A look ahead that may still be going on.
pub(super) enum LookingAhead {
    Done(AheadOfList),
    /// Threads look at many files while somebody reads what git lists.
    Working(Arc<SharedLook>, Vec<JoinHandle<()>>),
}

/// Many files, at which several threads look: each takes the next part that nobody has taken.
pub(super) struct SharedLook {
    root: PathBuf,
    cache: Cache,
    naming: Naming,
    next: AtomicUsize,
    found: Mutex<Vec<(usize, Vec<Found>)>>,
}

impl SharedLook {
    /// Looks until nothing is left. Where a file cannot be read now, its part is read again later.
    fn work(&self) {
        let Ok(mut reader) = Reader::new(&self.root, &self.cache, self.naming) else {
            return;
        };
        loop {
            let first = self.next.fetch_add(PART, Ordering::Relaxed);
            let files = self.cache.files_from(first, PART);
            if files.is_empty() {
                return;
            }
            if let Ok(found) = reader.all(&files) {
                let mut all = self.found.lock().unwrap_or_else(PoisonError::into_inner);
                all.push((first, found));
            }
        }
    }

    fn finish(self) -> AheadOfList {
        let found = self.found.into_inner();
        let mut parts = found.unwrap_or_else(PoisonError::into_inner);
        parts.sort_unstable_by_key(|(first, _)| *first);
        let mut found = Vec::with_capacity(self.cache.count());
        found.extend(parts.into_iter().flat_map(|(_, part)| part));
        // Each stands for the path at its place: with a part missing, nothing is known.
        if found.len() != self.cache.count() {
            found.clear();
        }
        AheadOfList {
            cache: self.cache,
            naming: self.naming,
            found,
        }
    }
}

impl LookingAhead {
    pub(super) fn begin(root: &Path, cache: Cache, naming: Naming) -> Self {
        if cache.count() < MANY {
            return Self::Done(AheadOfList::look(root, cache, naming));
        }
        let shared = Arc::new(SharedLook {
            root: root.to_owned(),
            cache,
            naming,
            next: AtomicUsize::new(0),
            found: Mutex::default(),
        });
        // Git needs a processor, too.
        let threads = processors().saturating_sub(1).clamp(1, MOST_THREADS);
        let work = || {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.work())
        };
        let threads = (0..threads).map(|_| work()).collect();
        Self::Working(shared, threads)
    }

    /// Helps with what is left.
    pub(super) fn finish(self) -> AheadOfList {
        match self {
            Self::Done(ahead) => ahead,
            Self::Working(shared, threads) => {
                shared.work();
                for thread in threads {
                    let joined = thread.join();
                    joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                }
                let shared = Arc::into_inner(shared);
                shared.map_or_else(AheadOfList::nothing, SharedLook::finish)
            }
        }
    }
}

/// A place among the files of the last look, which moves on with the paths that are asked for.
pub(super) struct Cursor<'a> {
    ahead: &'a AheadOfList,
    next: usize,
}

impl Cursor<'_> {
    pub(super) fn is_file(&mut self, path: &[u8]) -> bool {
        matches!(self.find(path), Some(Found::File(..)))
    }

    /// Paths in their order are found fastest.
    fn find(&mut self, path: &[u8]) -> Option<Found> {
        let AheadOfList { cache, found, .. } = self.ahead;
        self.next = cache.place(path, self.next);
        let is_there = cache.path_at(self.next) == Some(path);
        found.get(self.next).filter(|_| is_there).copied()
    }
}

pub(super) fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// What is at each of these paths, which are sorted.
fn in_threads(
    root: &Path,
    files: &[&[u8]],
    (cache, naming): (&Cache, Naming),
    most: usize,
) -> Result<Vec<Found>, Error> {
    let read = |files: &[&[u8]]| Reader::new(root, cache, naming)?.all(files);
    let parts = in_parts(files, most, read).into_iter();
    let parts = parts.collect::<Result<Vec<Vec<Found>>, Error>>()?;
    Ok(parts.concat())
}

/// Does the same with all parts of a long list, each in a thread.
pub(super) fn in_parts<T: Sync, R: Send>(
    items: &[T],
    most: usize,
    work: impl Fn(&[T]) -> R + Sync,
) -> Vec<R> {
    let threads = (items.len() / MANY).clamp(1, most.clamp(1, MOST_THREADS));
    let part = items.len().div_ceil(threads).max(1);
    let mut parts = items.chunks(part);
    let Some(first) = parts.next() else {
        return Vec::new();
    };
    let work = &work;
    thread::scope(|scope| {
        let others: Vec<_> = parts
            .map(|items| scope.spawn(move || work(items)))
            .collect();
        let mut done = vec![work(first)];
        for other in others {
            let other = other.join();
            done.push(other.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        done
    })
}

/// Reads files below a root. The list is sorted, so consecutive files mostly share a folder.
struct Reader<'c> {
    root: Folder,
    open: Option<(Vec<u8>, Option<Folder>)>,
    cache: &'c Cache,
    naming: Naming,
    /// Where in the cache the next file may be.
    next: usize,
}

impl<'c> Reader<'c> {
    fn new(root: &Path, cache: &'c Cache, naming: Naming) -> Result<Self, Error> {
        let unreadable = |cause| Error::Unreadable {
            path: root.display().to_string(),
            cause,
        };
        Ok(Self {
            root: Folder::open(root).map_err(unreadable)?,
            open: None,
            cache,
            naming,
            next: 0,
        })
    }

    fn all(&mut self, files: &[&[u8]]) -> Result<Vec<Found>, Error> {
        files.iter().map(|path| self.found(path)).collect()
    }

    fn found(&mut self, path: &[u8]) -> Result<Found, Error> {
        match self.look(path) {
            Ok(found) => Ok(found),
            // Behind a link, or a file in place of a folder, is nothing of the project.
            Err(Refused::Absent | Refused::Link(_) | Refused::NotAFolder(_)) => Ok(Found::Gone),
            Err(Refused::NotAFile(what)) => {
                Ok(Found::Other(EntryKind::Other, hash(what.as_bytes())))
            }
            Err(Refused::Io(cause)) => Err(Error::Unreadable {
                path: escape(path),
                cause,
            }),
        }
    }

    fn look(&mut self, path: &[u8]) -> Result<Found, Refused> {
        let (folder, name) = beneath::split(path);
        let Some(folder) = self.folder(folder)? else {
            return Err(Refused::Absent);
        };
        let stat = folder.stat(name)?;
        match beneath::kind(&stat) {
            FileType::Symlink => self
                .content(path, name, StatKey::of(&stat), link_hash)
                .map(|link| Found::File(EntryKind::Link, link)),
            FileType::RegularFile => {
                let kind = if stat.st_mode & 0o100 == 0 {
                    EntryKind::File
                } else {
                    EntryKind::Program
                };
                self.content(path, name, StatKey::of(&stat), content_hash)
                    .map(|file| Found::File(kind, file))
            }
            other => Err(Refused::NotAFile(beneath::description(other))),
        }
    }

    /// The content of a file or link in the open folder.
    fn content(
        &mut self,
        path: &[u8],
        name: &[u8],
        stat_key: StatKey,
        read: fn(&Folder, &[u8], Naming) -> Result<Hash, Refused>,
    ) -> Result<ReadFile, Refused> {
        self.next = self.cache.place(path, self.next);
        let known = self.cache.hash_at(self.next, path, &stat_key);
        let hash = match known {
            Some(hash) => hash,
            None => {
                let open = self.open.as_ref().filter(|_| name.len() < path.len());
                let folder = open.and_then(|(_, folder)| folder.as_ref());
                read(folder.unwrap_or(&self.root), name, self.naming)?
            }
        };
        Ok(ReadFile {
            stat_key,
            hash,
            was_known: known.is_some(),
        })
    }

    /// The open folder of this path; `None` if it does not exist without following a link.
    fn folder(&mut self, path: &[u8]) -> Result<Option<&Folder>, Refused> {
        if path.is_empty() {
            return Ok(Some(&self.root));
        }
        if self.open.as_ref().is_none_or(|(open, _)| open != path) {
            let folder = match self.root.descend_path(path) {
                Ok(folder) => Some(folder),
                Err(Refused::Io(cause)) => return Err(Refused::Io(cause)),
                Err(_) => None,
            };
            self.open = Some((path.to_vec(), folder));
        }
        Ok(self.open.as_ref().and_then(|(_, folder)| folder.as_ref()))
    }
}

/// The hash of a link's target.
fn link_hash(folder: &Folder, name: &[u8], naming: Naming) -> Result<Hash, Refused> {
    let target = folder.link(name).map_err(Refused::Io)?;
    Ok(naming.of(&target))
}

/// The hash of a file's content, read in pieces: a huge file costs time, not memory.
fn content_hash(folder: &Folder, name: &[u8], naming: Naming) -> Result<Hash, Refused> {
    let mut piece = vec![0; 64 * 1024];
    for _ in 0..MOST_READS {
        let (mut file, stat) = folder.file(name)?;
        let length = u64::try_from(stat.st_size).unwrap_or_default();
        let mut digest = naming.begin(length);
        let mut read = 0;
        loop {
            match file.read(&mut piece).map_err(Refused::Io)? {
                0 => break,
                part => {
                    digest.add(&piece[..part]);
                    read += part as u64;
                }
            }
        }
        if read == length || !naming.has_length() {
            return Ok(digest.end());
        }
    }
    Err(Refused::Io(io::Error::other("its length keeps changing")))
}
