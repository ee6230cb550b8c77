//! The tree that evidence is bound to: every file that counts, with the hash of its content.
//!
//! With git these are the tracked and the unignored files, also of nested repositories, and those that were
//! tracked when the run began; without git, all files of the folder. `.git`, views and declared artifacts do not count, nor do untracked
//! files that tools or checks left behind. Ignore rules outside of the tree do: a change of them
//! changes the tree. So do files outside that a link leads to.

mod cache;
mod former;
mod listing;
mod litter;
mod made_by_check;
mod manifest;
mod naming;
mod objects;
mod outside_links;
mod reading;

use std::collections::BTreeSet;

use engine::{Hash, Meaning, Run, Source};
use sha2::{Digest as _, Sha256};

use crate::content::hash;
use crate::error::Error;
use crate::git::path_of;
use crate::look_context::LookContext;
use crate::path::PathShape;
use crate::project::Project;

pub use crate::escape::escape;
use cache::{Cache, LastLook};
use listing::{Begun, Listed, Listing, Standing};
use litter::Litter;
pub use litter::is_cache;
pub(crate) use made_by_check::around;
use manifest::{EntryKind, ManifestLine};
pub use manifest::{TreeFile, changed, files_of};
use naming::Naming;
pub use objects::{
    ListedObjects, ObjectFormat, ObjectKind, ObjectStamps, TreeObject, UnchangedFile, WrittenFile,
};
use outside_links::OutsideLinks;
use reading::{AheadOfList, Found, LookingAhead};

/// A tree's manifest and its hash, which is the tree's hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    pub hash: Hash,
    pub manifest: Vec<u8>,
}

/// Reads the tree of the project as it is now.
pub fn read(looking: &LookContext<'_>) -> Result<Tree, Error> {
    let begun = BegunLook::begin(looking)?;
    begun.read(looking)
}

/// The same, unless it is this tree.
pub fn read_unless(looking: &LookContext<'_>, known: &Hash) -> Result<Option<Tree>, Error> {
    let begun = BegunLook::begin(looking)?;
    if begun.is_as_at_last_look(known) {
        return Ok(None);
    }
    let tree = begun.read(looking)?;
    Ok((tree.hash != *known).then_some(tree))
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

/// The beginning of a look: git has listed the files, and we have compared those of the last look.
struct BegunLook {
    begun: Begun,
    ahead: AheadOfList,
    /// The files that count whatever git says.
    named: Vec<Listed>,
    /// The hash of all that decides which files count; nothing where one listing does not say it.
    rules: Option<Hash>,
}

impl BegunLook {
    fn begin(looking: &LookContext<'_>) -> Result<Self, Error> {
        let project = looking.project;
        let mut former = Vec::new();
        let (begun, ahead) = Begun::begin(project, || {
            let cache = Cache::load(looking.cache, &project.root);
            let ahead = LookingAhead::begin(&project.root, cache, Naming::Content);
            former = former::list(project, looking.run);
            ahead
        })?;
        let mut named = litter::run_by_checks(looking);
        named.extend(former);
        for path in self::named(looking) {
            let below = listing::below(&project.root, path)?;
            named.extend(listing::all(below, Standing::Named));
        }
        let mut digest = Sha256::new();
        let says_all = begun.add_to(&mut digest);
        add_rules(&mut digest, &named, looking);
        Ok(Self {
            begun,
            ahead: ahead.finish(),
            named,
            rules: says_all.then(|| Hash(digest.finalize().into())),
        })
    }

    /// Was the last look at this tree, and is everything as it was then? Every file is in the cache with its
    /// stamp, and the same files count.
    fn is_as_at_last_look(&self, tree: &Hash) -> bool {
        let tree = *tree;
        let look = self.rules.map(|rules| LastLook { rules, tree });
        look.is_some_and(|look| self.ahead.is_as_at(&look))
    }

    fn read(self, looking: &LookContext<'_>) -> Result<Tree, Error> {
        self.take(looking, |snapshot| {
            let tree = Tree::of(snapshot.lines);
            let hash = tree.hash;
            (tree, Some(hash))
        })
    }

    /// Reads everything. `make` makes something of it and says which tree it is, if it knows.
    fn take<T>(
        self,
        looking: &LookContext<'_>,
        make: impl FnOnce(Snapshot) -> (T, Option<Hash>),
    ) -> Result<T, Error> {
        let listing = self.begun.finish(&self.ahead)?;
        let Listing {
            mut files,
            lines,
            is_nested,
        } = listing;
        files.extend(self.named);
        listing::sort(&mut files);
        let files = counted(files, looking);
        let found = self.ahead.read(&looking.project.root, &files)?;
        let is_file = |found: &Found| matches!(found, Found::File(..));
        let mut is_whole = !is_nested && found.iter().all(is_file);
        let unsaved = self.ahead.unsaved(&files, &found);
        let mut outside = OutsideLinks::new(&looking.project.root);
        let mut snapshot = Snapshot {
            lines,
            untracked: BTreeSet::new(),
        };
        for (file, found) in files.into_iter().zip(found) {
            let led_out = outside.hash_of(&file, &found);
            snapshot.add(file, found, led_out, looking.run);
        }
        is_whole &= !outside.met;
        let (made, tree) = make(snapshot);
        let look = self.rules.zip(tree).filter(|_| is_whole);
        unsaved.save(look.map(|(rules, tree)| LastLook { rules, tree }));
        Ok(made)
    }
}

/// All that decides which of the listed files count, besides what git says.
fn add_rules(digest: &mut Sha256, named: &[Listed], looking: &LookContext<'_>) {
    let litter = &looking.pipeline.definition().litter;
    let left_out = Excluded::of(looking);
    let rules = (named, left_out, litter, &looking.run.made);
    digest.update(format!("{rules:?}"));
}

impl Snapshot {
    pub(crate) fn take(looking: &LookContext<'_>) -> Result<Self, Error> {
        BegunLook::begin(looking)?.take(looking, |snapshot| (snapshot, None))
    }

    fn add(&mut self, file: Listed, found: Found, led_out: Option<Hash>, run: &Run) {
        let (kind, hash) = match (found, led_out) {
            (_, Some(hash)) => (EntryKind::Link, hash),
            (Found::File(kind, file), None) => (kind, file.hash),
            (Found::Other(kind, hash), None) => (kind, hash),
            (Found::Gone, None) => return,
        };
        let line = ManifestLine::new(kind, hash, file.path);
        if !file.standing.is_source() {
            if made_by_check::is_as_left(&line, run) {
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
    let files = sources(listing::list(project)?);
    Ok(files.into_iter().map(|file| file.path).collect())
}

/// May a file at this path count? Views, artifacts and caches of tools do not.
pub(crate) fn counting(looking: &LookContext<'_>) -> impl Fn(&str) -> bool + use<> {
    let left_out = Excluded::of(looking);
    move |path| !left_out.covers(path.as_bytes()) && !litter::is_cache(path.as_bytes())
}

/// Those of these paths that count, sorted, as people read them. A file that is gone counts if it would count
/// as an untracked one; one that is there and that git ignores does not.
pub fn which_count(
    looking: &LookContext<'_>,
    paths: &[Vec<u8>],
) -> Result<BTreeSet<String>, Error> {
    if paths.is_empty() {
        return Ok(BTreeSet::new());
    }
    let mut files = listing::list(looking.project)?.files;
    let root = &looking.project.root;
    let is_gone = |path: &&Vec<u8>| {
        let there = root.join(path_of(path)).symlink_metadata();
        // A folder is another thing at its place.
        there.map_or(true, |there| there.is_dir())
    };
    let gone = paths.iter().filter(is_gone).cloned().collect();
    let untracked = Standing::Untracked { repository: 0 };
    files.extend(listing::all(gone, untracked));
    // One that git tracks stays so: the first of two is kept.
    listing::sort(&mut files);
    let asked: BTreeSet<&[u8]> = paths.iter().map(Vec::as_slice).collect();
    let counted = counted(files, looking).into_iter();
    let counted = counted.filter(|file| asked.contains(file.path.as_slice()));
    Ok(counted.map(|file| escape(&file.path)).collect())
}

/// All but the caches of tools.
fn sources(listing: Listing) -> Vec<Listed> {
    let mut files = listing.files;
    files.retain(|file| file.standing.is_source() || !litter::is_cache(&file.path));
    files
}

/// The paths that do not count: views and artifacts of any run or step.
#[derive(Debug)]
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
