//! Lists trees and compares two of them.

use runtime::failure::Failure;

use super::disk::{FileKind, TreeItem, is_ours};
use super::scratch::Scratch;

/// A path at which two trees differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    pub path: Vec<u8>,
    pub old: Option<TreeItem>,
    pub new: Option<TreeItem>,
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

/// An entry of a commit's tree, of whatever kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TreeEntry {
    pub path: Vec<u8>,
    pub mode: String,
    pub object: String,
}

/// All entries of a commit except folders.
pub(super) fn entries(scratch: &Scratch<'_>, commit: &str) -> Result<Vec<TreeEntry>, Failure> {
    let output = scratch.ask(&["ls-tree", "-r", "-z", "--full-tree", commit])?;
    let lines = output
        .split(|byte| *byte == 0)
        .filter(|line| !line.is_empty());
    let read = lines.map(|line| {
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        let head = std::str::from_utf8(&line[..tab]).ok()?;
        let mut words = head.split(' ');
        Some(TreeEntry {
            path: line[tab + 1..].to_vec(),
            mode: words.next()?.to_owned(),
            object: words.nth(1)?.to_owned(),
        })
    });
    let read: Option<Vec<TreeEntry>> = read.collect();
    read.ok_or_else(unexpected_tree)
}

/// All files of a commit of ours.
pub(super) fn items(
    scratch: &Scratch<'_>,
    commit: &str,
) -> Result<Vec<(Vec<u8>, TreeItem)>, Failure> {
    let read = entries(scratch, commit)?.into_iter().map(|entry| {
        let TreeEntry { path, mode, object } = entry;
        let item = item(&mode, &object)??;
        is_ours(&path).then_some((path, item))
    });
    let read: Option<Vec<(Vec<u8>, TreeItem)>> = read.collect();
    read.ok_or_else(unexpected_tree)
}

/// Our trees contain only files and links; other entries are not ours.
fn item(mode: &str, object: &str) -> Option<Option<TreeItem>> {
    let kind = match mode {
        "000000" => return Some(None),
        "100644" => FileKind::File,
        "100755" => FileKind::Program,
        "120000" => FileKind::Link,
        _ => return None,
    };
    let object = object.to_owned();
    Some(Some(TreeItem { kind, object }))
}

fn unexpected_tree() -> Failure {
    Failure::environment("a tree of gatewright contains unexpected entries")
        .hint("check the repository with `git fsck`")
}
