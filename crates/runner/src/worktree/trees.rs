//! Lists trees and compares two of them.

use evidence::tree::{ObjectKind, TreeObject};
use runtime::failure::Failure;

use super::disk::is_ours;
use super::scratch::Scratch;

/// A path at which two trees differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    pub path: Vec<u8>,
    pub old: Option<TreeObject>,
    pub new: Option<TreeObject>,
}

impl Difference {
    /// The opposite change.
    pub(super) fn reversed(self) -> Self {
        Self {
            path: self.path,
            old: self.new,
            new: self.old,
        }
    }
}

/// The differences of two commits, in the order in which they can be written.
pub(super) fn differences(
    scratch: &Scratch<'_>,
    first: &str,
    second: &str,
) -> Result<Vec<Difference>, Failure> {
    let words = [
        "diff-tree",
        "-r",
        "-z",
        "--raw",
        "--no-renames",
        "--no-abbrev",
    ];
    let output = scratch.ask(&[words.as_slice(), &[first, second]].concat())?;
    let fields: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
    let read = fields.chunks_exact(2).map(|pair| {
        let head = std::str::from_utf8(pair[0]).ok()?.strip_prefix(':')?;
        let words: Vec<&str> = head.split(' ').collect();
        let [old_mode, new_mode, old, new, _] = words[..] else {
            return None;
        };
        Some(Difference {
            path: Some(pair[1]).filter(|path| is_ours(path))?.to_vec(),
            old: item(old_mode, old)?,
            new: item(new_mode, new)?,
        })
    });
    let read: Option<Vec<Difference>> = read.collect();
    let mut read = read.ok_or_else(unexpected_tree)?;
    sort_for_writing(&mut read);
    Ok(read)
}

/// Removals come first: a folder may block a file, or a file a folder.
pub(super) fn sort_for_writing(differences: &mut [Difference]) {
    differences.sort_by(|left, right| match (&left.new, &right.new) {
        (None, None) => right.path.cmp(&left.path),
        (left_new, right_new) => left_new
            .is_some()
            .cmp(&right_new.is_some())
            .then_with(|| left.path.cmp(&right.path)),
    });
}

/// The files of a commit, sorted by their paths.
pub(super) type Items = [(Vec<u8>, TreeObject)];

/// What git says of a commit's tree.
pub(super) struct TreeListing(Vec<u8>);

/// An entry of a commit's tree, of whatever kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TreeEntry<'a> {
    pub path: &'a [u8],
    pub mode: &'a str,
    pub object: &'a str,
}

impl TreeListing {
    pub(super) fn of(scratch: &Scratch<'_>, commit: &str) -> Result<Self, Failure> {
        let output = scratch.ask(&["ls-tree", "-r", "-z", "--full-tree", commit]);
        output.map(Self)
    }

    /// A tree without files.
    pub(super) fn empty() -> Self {
        Self(Vec::new())
    }

    /// All entries except folders, sorted by their paths.
    pub(super) fn entries(&self) -> Result<Vec<TreeEntry<'_>>, Failure> {
        let lines = self.0.split(|byte| *byte == 0);
        let lines = lines.filter(|line| !line.is_empty());
        let read = lines.map(|line| {
            let tab = line.iter().position(|byte| *byte == b'\t')?;
            let mut words = std::str::from_utf8(&line[..tab]).ok()?.split(' ');
            Some(TreeEntry {
                path: &line[tab + 1..],
                mode: words.next()?,
                object: words.nth(1)?,
            })
        });
        let read: Option<Vec<TreeEntry<'_>>> = read.collect();
        let mut read = read.ok_or_else(unexpected_tree)?;
        read.sort_unstable_by_key(|entry| entry.path);
        Ok(read)
    }

    /// All files of a commit of ours.
    pub(super) fn items(&self) -> Result<Vec<(Vec<u8>, TreeObject)>, Failure> {
        let read = self.entries()?.into_iter().map(|entry| {
            let item = item(entry.mode, entry.object)??;
            is_ours(entry.path).then(|| (entry.path.to_vec(), item))
        });
        let read: Option<Vec<(Vec<u8>, TreeObject)>> = read.collect();
        read.ok_or_else(unexpected_tree)
    }
}

/// Our trees contain only files and links; other entries are not ours.
fn item(mode: &str, object: &str) -> Option<Option<TreeObject>> {
    let kind = match mode {
        "000000" => return Some(None),
        "100644" => ObjectKind::File,
        "100755" => ObjectKind::Program,
        "120000" => ObjectKind::Link,
        _ => return None,
    };
    let name = object.to_owned();
    Some(Some(TreeObject { kind, name }))
}

fn unexpected_tree() -> Failure {
    Failure::environment("a tree of gatewright contains unexpected entries")
        .hint("check the repository with `git fsck`")
}
