//! The tree that evidence is bound to: every file that counts, with the hash of its content.
//!
//! With git these are the tracked and the unignored files, also of nested repositories; without
//! git, all files of the folder. `.git`, views and declared artifacts do not count, nor do untracked
//! files that tools or checks left behind. Ignore rules outside of the tree do: a change of them
//! changes the tree.

mod cache;
mod listing;
mod litter;
mod made;
mod manifest;

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

use engine::{Hash, Meaning, Source};
use rustix::fs::FileType;
use sha2::{Digest, Sha256};

use crate::beneath::{self, Folder, Refused};
use crate::content::hash;
use crate::error::Error;
use crate::look_context::LookContext;
use crate::path::PathShape;
use crate::project::Project;

pub use crate::escape::escape;
use cache::{Cache, StatKey};
use listing::{Listed, Listing, Standing};
use litter::Litter;
pub(crate) use made::around;
pub use manifest::changed;
use manifest::{EntryKind, ManifestLine};

/// A tree's manifest and its hash, which is the tree's hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    pub hash: Hash,
    pub manifest: Vec<u8>,
}

/// Reads the tree of the project as it is now.
pub fn read(looking: &LookContext<'_>) -> Result<Tree, Error> {
    Snapshot::take(looking).map(|snapshot| Tree::of(snapshot.lines))
}

impl Tree {
    fn of(lines: Vec<ManifestLine>) -> Self {
        let manifest = manifest::write(lines);
        Self {
            hash: hash(&manifest),
            manifest,
        }
    }
}

/// The lines of a tree, and which of their files git does not track.
pub(crate) struct Snapshot {
    lines: Vec<ManifestLine>,
    untracked: BTreeSet<String>,
}

impl Snapshot {
    pub(crate) fn take(looking: &LookContext<'_>) -> Result<Self, Error> {
        let left_out = Excluded::of(looking);
        let project = looking.project;
        let mut cache = Cache::load(looking.cache, &project.root);
        let Listing {
            mut files,
            mut lines,
        } = listing::list(project)?;
        for path in named(looking) {
            let below = listing::below(&project.root, path)?;
            files.extend(listing::all(below, Standing::Named));
        }
        files.extend(litter::run_by_checks(looking));
        listing::sort(&mut files);
        let litter = Litter::of(&files, &looking.pipeline.definition().litter);
        let mut reader = Reader::new(&project.root)?;
        let mut untracked = BTreeSet::new();
        let counts = |file: &&Listed| !left_out.covers(&file.path) && !litter.covers(file);
        for file in files.iter().filter(counts) {
            let Some(line) = reader.line(&file.path, &mut cache)? else {
                continue;
            };
            if !file.standing.is_source() {
                if made::is_as_left(&line, looking.run) {
                    continue;
                }
                untracked.insert(line.path.clone());
            }
            lines.push(line);
        }
        cache.save();
        Ok(Self { lines, untracked })
    }
}

/// The run's task file counts even if git ignores it: an agent may write ignore rules.
fn named<'a>(looking: &LookContext<'a>) -> impl Iterator<Item = &'a str> + use<'a> {
    let params = looking.pipeline.definition().params.iter();
    let paths = params.filter(|(_, param)| param.meaning == Meaning::Path);
    let run = looking.run;
    paths.filter_map(|(name, _)| run.params.get(name).map(String::as_str))
}

/// The paths of the files that git tracks or does not ignore, also of nested repositories; sorted.
/// Deleted tracked files are included; the caches of tools are not.
pub fn files(project: &Project) -> Result<Vec<Vec<u8>>, Error> {
    let files = listing::list(project)?.files.into_iter();
    let counts = |file: &Listed| file.standing.is_source() || !litter::is_cache(&file.path);
    Ok(files.filter(counts).map(|file| file.path).collect())
}

/// The paths that do not count: views and artifacts of any run or step.
struct Excluded(Vec<PathShape>);

impl Excluded {
    fn of(looking: &LookContext<'_>) -> Self {
        let definition = looking.pipeline.definition();
        let views = definition.views.iter().map(|view| view.path.as_str());
        let artifacts =
            definition
                .artifacts
                .values()
                .filter_map(|artifact| match &artifact.source {
                    Source::File(path) => Some(path.as_str()),
                    Source::Reply | Source::Answers => None,
                });
        let shape = |path| PathShape::of(path, definition, looking.run);
        Self(views.chain(artifacts).filter_map(shape).collect())
    }

    fn covers(&self, path: &[u8]) -> bool {
        let Ok(path) = std::str::from_utf8(path) else {
            return false;
        };
        self.0.iter().any(|shape| shape.covers(path))
    }
}

/// Reads files below a root. The list is sorted, so consecutive files mostly share a folder.
struct Reader {
    root: Folder,
    open: Option<(Vec<u8>, Option<Folder>)>,
}

impl Reader {
    fn new(root: &Path) -> Result<Self, Error> {
        let unreadable = |cause| Error::Unreadable {
            path: root.display().to_string(),
            cause,
        };
        Ok(Self {
            root: Folder::open(root).map_err(unreadable)?,
            open: None,
        })
    }

    /// The line of one file; `None` if it is gone: a deleted file has no line.
    fn line(&mut self, path: &[u8], cache: &mut Cache) -> Result<Option<ManifestLine>, Error> {
        match self.look(path, cache) {
            Ok(line) => Ok(Some(line)),
            // Behind a link, or a file in place of a folder, is nothing of the project.
            Err(Refused::Absent | Refused::Link(_) | Refused::NotAFolder(_)) => Ok(None),
            Err(Refused::NotAFile(what)) => Ok(Some(ManifestLine::new(
                EntryKind::Other,
                hash(what.as_bytes()),
                path,
            ))),
            Err(Refused::Io(cause)) => Err(Error::Unreadable {
                path: escape(path),
                cause,
            }),
        }
    }

    fn look(&mut self, path: &[u8], cache: &mut Cache) -> Result<ManifestLine, Refused> {
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
                Ok(ManifestLine::new(EntryKind::Link, hash(&target), path))
            }
            FileType::RegularFile => {
                let kind = if stat.st_mode & 0o100 == 0 {
                    EntryKind::File
                } else {
                    EntryKind::Program
                };
                let stat_key = StatKey::of(&stat);
                let content = match cache.get(path, &stat_key) {
                    Some(content) => content,
                    None => cache.put(path, stat_key, content_hash(folder, name)?),
                };
                Ok(ManifestLine::new(kind, content, path))
            }
            other => Err(Refused::NotAFile(beneath::description(other))),
        }
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
