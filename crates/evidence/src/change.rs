//! The change since a run began: the paths that differ, and how many lines were added and removed.
//!
//! The base is the manifest of the tree at the start and the commit of that time. Old lines come from that
//! commit, and count only if they have the hash of the manifest: nobody can rewrite them since.

mod commits;
mod lines;
mod old_text;
mod picture;
mod products;
mod texts;

use std::collections::BTreeMap;
use std::io::Read;

use engine::{Change, ChangeNeed, Hash, LineCount};

use crate::beneath;
use crate::content::{Content, hash};
use crate::error::Error;
use crate::git::Git;
use crate::look_context::LookContext;
use crate::repository::Repository;
use crate::tree::{self, Tree, TreeFile};
pub use commits::commit_change;
use old_text::OldTexts;
pub use picture::{PictureChange, TreePicture};
pub use texts::{ChangedText, ChangedTexts, Side, Since, changed_texts};

const HEADER: &str = "gatewright base 1";

/// A file that is larger than this is not counted in lines.
const LARGEST: u64 = 4 * 1024 * 1024;

/// Why a change cannot be measured.
type Unseen = String;

/// The base of later changes: the tree, and the commit that it stands on. There is none without git.
pub(crate) fn base(looking: &LookContext<'_>) -> Option<Content> {
    let repository = looking.project.repository.as_ref()?;
    let git = Git::find().ok()?;
    let commit = git.head(&looking.project.root, &repository.git_dir).ok()?;
    let tree = tree::read(looking).ok()?;
    let commit = commit.unwrap_or_default();
    let head = format!("{HEADER}\n{commit}\n");
    Some(Content::of([head.as_bytes(), &tree.manifest].concat()))
}

/// Measures the change. Whatever goes wrong is part of the evidence.
pub(crate) fn measure(
    need: &ChangeNeed,
    looking: &LookContext<'_>,
    tree: Result<&Tree, &Error>,
) -> Change {
    match seen(need, looking, tree) {
        Ok(change) => change,
        Err(reason) => Change::Unseen { reason },
    }
}

fn seen(
    need: &ChangeNeed,
    looking: &LookContext<'_>,
    tree: Result<&Tree, &Error>,
) -> Result<Change, Unseen> {
    let repository = looking.project.repository.as_ref();
    let repository = repository.ok_or("this folder is not a git repository")?;
    let base = need
        .base
        .ok_or("the tree was not recorded when the run began")?;
    let tree = tree.map_err(|error| format!("the files cannot be read: {error}"))?;
    let base = looking.contents.content(&base);
    let base = base.ok_or("the tree that was recorded when the run began is lost")?;
    let (commit, manifest) = split(&base).ok_or("the recorded tree cannot be read")?;
    let unreadable = || Unseen::from("a list of files cannot be read");
    let paths = tree::changed(manifest, &tree.manifest).ok_or_else(unreadable)?;
    if !need.lines || paths.len() > Change::MOST_PATHS {
        return Ok(Change::of(paths, LineCount::Unasked));
    }
    let old = tree::files_of(manifest).ok_or_else(unreadable)?;
    let new = tree::files_of(&tree.manifest).ok_or_else(unreadable)?;
    let counter = Counter {
        looking,
        repository,
        commit,
        old: &old,
        new: &new,
    };
    let lines = match counter.count(&paths) {
        Ok(lines) => LineCount::Counted(lines),
        Err(reason) => LineCount::Unseen(reason),
    };
    Ok(Change::of(paths, lines))
}

/// The commit and the manifest of a base.
fn split(base: &[u8]) -> Option<(&str, &[u8])> {
    let rest = base.strip_prefix(HEADER.as_bytes())?.strip_prefix(b"\n")?;
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let commit = std::str::from_utf8(&rest[..end]).ok()?;
    Some((commit, &rest[end + 1..]))
}

/// Counts lines of files that differ between two manifests.
struct Counter<'a> {
    looking: &'a LookContext<'a>,
    repository: &'a Repository,
    commit: &'a str,
    old: &'a BTreeMap<&'a str, Vec<TreeFile>>,
    new: &'a BTreeMap<&'a str, Vec<TreeFile>>,
}

impl Counter<'_> {
    fn count(&self, paths: &[String]) -> Result<u32, Unseen> {
        let mut texts = OldTexts::open(&self.looking.project.root, self.repository)?;
        let mut lines = 0_u32;
        for path in paths {
            let old = match text_hash(self.old, path)? {
                Some(expected) => texts.read(self.commit, path, &expected)?,
                None => Vec::new(),
            };
            let new = match text_hash(self.new, path)? {
                Some(_) => self.new_text(path)?,
                None => Vec::new(),
            };
            let changed = lines::distance(&old, &new);
            let changed = changed.ok_or_else(|| format!("too many lines of {path} changed"))?;
            lines = lines.saturating_add(changed);
        }
        Ok(lines)
    }

    fn new_text(&self, path: &str) -> Result<Vec<u8>, Unseen> {
        let unreadable = || format!("{path} cannot be read");
        let root = &self.looking.project.root;
        let (file, _) = beneath::open_file(root, path.split('/')).map_err(|_| unreadable())?;
        let mut bytes = Vec::new();
        let read = file.take(LARGEST + 1).read_to_end(&mut bytes);
        read.map_err(|_| unreadable())?;
        text(path, bytes)
    }
}

/// The hash of the file of this path; nothing where there is none.
fn text_hash(files: &BTreeMap<&str, Vec<TreeFile>>, path: &str) -> Result<Option<Hash>, Unseen> {
    match files.get(path).map(Vec::as_slice) {
        None => Ok(None),
        // An escaped name is not the name on the disk.
        Some([TreeFile::Text(hash)]) if !path.contains('\\') => Ok(Some(*hash)),
        Some(_) => Err(format!("{path} is not an ordinary file")),
    }
}

/// The bytes of a text. What is not a text has no lines.
fn text(path: &str, bytes: Vec<u8>) -> Result<Vec<u8>, Unseen> {
    let is_large = u64::try_from(bytes.len()).is_ok_and(|length| length > LARGEST);
    if is_large || bytes.contains(&0) {
        return Err(format!("{path} is not a text that can be counted"));
    }
    Ok(bytes)
}

/// Are these the bytes of that hash?
fn is_content(bytes: &[u8], expected: &Hash) -> bool {
    hash(bytes) == *expected
}
