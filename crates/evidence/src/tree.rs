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
mod reading;

use std::collections::BTreeSet;

use engine::{Hash, Meaning, Run, Source};

use crate::content::hash;
use crate::error::Error;
use crate::look_context::LookContext;
use crate::path::PathShape;
use crate::project::Project;

pub use crate::escape::escape;
use cache::Cache;
use listing::{Listed, Listing, Standing};
use litter::Litter;
pub(crate) use made::around;
use manifest::ManifestLine;
pub use manifest::{TreeFile, changed, files_of};
use reading::{Found, LookingAhead};

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
        let project = looking.project;
        let (listing, ahead) = listing::list_while(project, || {
            LookingAhead::begin(&project.root, Cache::load(looking.cache, &project.root))
        })?;
        let Listing { mut files, lines } = listing;
        for path in named(looking) {
            let below = listing::below(&project.root, path)?;
            files.extend(listing::all(below, Standing::Named));
        }
        files.extend(litter::run_by_checks(looking));
        listing::sort(&mut files);
        let files = counted(files, looking);
        let found = ahead.read(&project.root, &files)?;
        let mut snapshot = Self {
            lines,
            untracked: BTreeSet::new(),
        };
        for (file, found) in files.into_iter().zip(found) {
            snapshot.add(file, found, looking.run);
        }
        Ok(snapshot)
    }

    fn add(&mut self, file: Listed, found: Found, run: &Run) {
        let (kind, hash) = match found {
            Found::File(kind, file) => (kind, file.hash),
            Found::Other(kind, hash) => (kind, hash),
            Found::Gone => return,
        };
        let line = ManifestLine::new(kind, hash, file.path);
        if !file.standing.is_source() {
            if made::is_as_left(&line, run) {
                return;
            }
            self.untracked.insert(line.path.clone());
        }
        self.lines.push(line);
    }
}

/// The files that count of these, which are sorted.
fn counted(mut files: Vec<Listed>, looking: &LookContext<'_>) -> Vec<Listed> {
    let left_out = Excluded::of(looking);
    let litter = Litter::of(&files, &looking.pipeline.definition().litter);
    let counts = |file: &Listed| !left_out.covers(&file.path) && !litter.covers(file);
    let counts: Vec<bool> = files.iter().map(counts).collect();
    let mut counts = counts.into_iter();
    files.retain(|_| counts.next().unwrap_or_default());
    files
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
