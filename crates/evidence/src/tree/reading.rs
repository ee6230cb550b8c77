//! Reads the files of a tree: the status of each, and the content of those that the cache does not know.

use std::io::Read;
use std::num::NonZero;
use std::path::Path;
use std::thread::{self, JoinHandle};

use engine::Hash;
use rustix::fs::FileType;
use sha2::{Digest, Sha256};

use super::cache::{Cache, ReadFile, StatKey};
use super::listing::Listed;
use super::manifest::EntryKind;
use crate::beneath::{self, Folder, Refused};
use crate::content::hash;
use crate::error::Error;
use crate::escape::escape;

/// So many files are worth a thread.
const MANY: usize = 10_000;

/// More threads than these wait for each other.
const MOST_THREADS: usize = 8;

/// What is at a path.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found {
    File(EntryKind, ReadFile),
    /// A link, a folder, a pipe or a device.
    Other(EntryKind, Hash),
    /// A deleted file has no line.
    Gone,
}

/// The files of the last look, looked at again before anybody knows whether they still count.
pub(super) struct AheadOfList {
    cache: Cache,
    /// What is at each path of the cache; nothing if one of them could not be read.
    found: Vec<Found>,
}

impl AheadOfList {
    /// For a caller that reads no file.
    pub(super) fn nothing() -> Self {
        Self {
            cache: Cache::none(),
            found: Vec::new(),
        }
    }

    /// While git lists the files, nearly all of which were there the last time. Git needs a processor, too.
    fn look(root: &Path, cache: Cache) -> Self {
        let files: Vec<&[u8]> = cache.files().collect();
        // A file that cannot be read now is read again when it is known to count.
        let found = in_threads(root, &files, &cache, processors().saturating_sub(1));
        let found = found.unwrap_or_default();
        Self { cache, found }
    }

    pub(super) fn cursor(&self) -> Cursor<'_> {
        Cursor {
            ahead: self,
            next: 0,
        }
    }

    /// What is at each of these paths, which are sorted. What is there now is known the next time.
    pub(super) fn read(&self, root: &Path, files: &[Listed]) -> Result<Vec<Found>, Error> {
        let mut cursor = self.cursor();
        let known = files.iter().map(|file| cursor.find(&file.path));
        let known: Vec<Option<Found>> = known.collect();
        let paths = files.iter().map(|file| file.path.as_slice());
        let rest = paths.clone().zip(&known);
        let rest = rest.filter(|(_, known)| known.is_none());
        let rest: Vec<&[u8]> = rest.map(|(path, _)| path).collect();
        let mut read = in_threads(root, &rest, &self.cache, processors())?.into_iter();
        let found = known.into_iter();
        let found = found.filter_map(|known| known.or_else(|| read.next()));
        let found: Vec<Found> = found.collect();
        let regular = paths.zip(&found).filter_map(|(path, found)| match found {
            Found::File(_, file) => Some((path, file)),
            Found::Other(..) | Found::Gone => None,
        });
        self.cache.save(regular);
        Ok(found)
    }
}

/// A look ahead that may still be going on.
pub(super) enum LookingAhead {
    Done(AheadOfList),
    /// A thread looks at many files while somebody reads what git lists.
    Working(JoinHandle<AheadOfList>),
}

impl LookingAhead {
    pub(super) fn begin(root: &Path, cache: Cache) -> Self {
        if cache.files().count() < MANY {
            return Self::Done(AheadOfList::look(root, cache));
        }
        let root = root.to_owned();
        Self::Working(thread::spawn(move || AheadOfList::look(&root, cache)))
    }

    pub(super) fn finish(self) -> AheadOfList {
        match self {
            Self::Done(ahead) => ahead,
            Self::Working(thread) => {
                let joined = thread.join();
                joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
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
        let AheadOfList { cache, found } = self.ahead;
        self.next = cache.place(path, self.next);
        let is_there = cache.path_at(self.next) == Some(path);
        found.get(self.next).filter(|_| is_there).copied()
    }
}

fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// What is at each of these paths, which are sorted.
fn in_threads(
    root: &Path,
    files: &[&[u8]],
    cache: &Cache,
    most: usize,
) -> Result<Vec<Found>, Error> {
    let threads = (files.len() / MANY).clamp(1, most.clamp(1, MOST_THREADS));
    let part = files.len().div_ceil(threads).max(1);
    let mut parts = files.chunks(part);
    let Some(first) = parts.next() else {
        return Ok(Vec::new());
    };
    let read = |files: &[&[u8]]| Reader::new(root, cache)?.all(files);
    thread::scope(|scope| {
        let others: Vec<_> = parts
            .map(|files| scope.spawn(move || read(files)))
            .collect();
        let mut found = read(first)?;
        for other in others {
            let other = other.join();
            found.extend(other.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok(found)
    })
}

/// Reads files below a root. The list is sorted, so consecutive files mostly share a folder.
struct Reader<'c> {
    root: Folder,
    open: Option<(Vec<u8>, Option<Folder>)>,
    cache: &'c Cache,
    /// Where in the cache the next file may be.
    next: usize,
}

impl<'c> Reader<'c> {
    fn new(root: &Path, cache: &'c Cache) -> Result<Self, Error> {
        let unreadable = |cause| Error::Unreadable {
            path: root.display().to_string(),
            cause,
        };
        Ok(Self {
            root: Folder::open(root).map_err(unreadable)?,
            open: None,
            cache,
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
        let (folder, name) = match path.iter().rposition(|byte| *byte == b'/') {
            Some(slash) => (&path[..slash], &path[slash + 1..]),
            None => (&path[..0], path),
        };
        let Some(folder) = self.folder(folder)? else {
            return Err(Refused::Absent);
        };
        let stat = folder.stat(name)?;
        match beneath::kind(&stat) {
            FileType::Symlink => {
                let target = folder.link(name).map_err(Refused::Io)?;
                Ok(Found::Other(EntryKind::Link, hash(&target)))
            }
            FileType::RegularFile => {
                let kind = if stat.st_mode & 0o100 == 0 {
                    EntryKind::File
                } else {
                    EntryKind::Program
                };
                let stat_key = StatKey::of(&stat);
                self.content(path, name, stat_key)
                    .map(|file| Found::File(kind, file))
            }
            other => Err(Refused::NotAFile(beneath::description(other))),
        }
    }

    /// The content of a file in the open folder.
    fn content(
        &mut self,
        path: &[u8],
        name: &[u8],
        stat_key: StatKey,
    ) -> Result<ReadFile, Refused> {
        self.next = self.cache.place(path, self.next);
        let known = self.cache.hash_at(self.next, path, &stat_key);
        let hash = match known {
            Some(hash) => hash,
            None => {
                let open = self.open.as_ref().filter(|_| name.len() < path.len());
                let folder = open.and_then(|(_, folder)| folder.as_ref());
                content_hash(folder.unwrap_or(&self.root), name)?
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

/// The hash of a file's content, read in pieces: a huge file costs time, not memory.
fn content_hash(folder: &Folder, name: &[u8]) -> Result<Hash, Refused> {
    let (mut file, _) = folder.file(name)?;
    let mut digest = Sha256::new();
    let mut piece = vec![0; 64 * 1024];
    loop {
        match file.read(&mut piece).map_err(Refused::Io)? {
            0 => return Ok(Hash(digest.finalize().into())),
            length => digest.update(&piece[..length]),
        }
    }
}
