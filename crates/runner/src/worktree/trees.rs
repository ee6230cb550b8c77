//! What trees hold, and how two of them differ, as git tells it.

use runtime::failure::Failure;

use super::disk::{Item, Kind, is_ours};
use super::git::Scratch;

/// A path at which two trees differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub path: Vec<u8>,
    pub old: Option<Item>,
    pub new: Option<Item>,
}

impl Difference {
    /// The same, looked at from the other side.
    pub fn reversed(self) -> Self {
        Self {
            path: self.path,
            old: self.new,
            new: self.old,
        }
    }
}

/// How the second commit differs from the first, in the order in which it can be written.
pub fn differences(
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
    let told = scratch.ask(&[words.as_slice(), &[first, second]].concat())?;
    let fields: Vec<&[u8]> = told.split(|byte| *byte == 0).collect();
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
    let mut read = read.ok_or_else(strange)?;
    put_in_order(&mut read);
    Ok(read)
}

/// What goes comes first: a folder may have to make room for a file, or a file for a folder.
pub fn put_in_order(differences: &mut [Difference]) {
    differences.sort_by(|left, right| match (&left.new, &right.new) {
        (None, None) => right.path.cmp(&left.path),
        (left_new, right_new) => left_new
            .is_some()
            .cmp(&right_new.is_some())
            .then_with(|| left.path.cmp(&right.path)),
    });
}

/// Everything that a commit holds.
pub fn items(scratch: &Scratch<'_>, commit: &str) -> Result<Vec<(Vec<u8>, Item)>, Failure> {
    let told = scratch.ask(&["ls-tree", "-r", "-z", "--full-tree", commit])?;
    let lines = told
        .split(|byte| *byte == 0)
        .filter(|line| !line.is_empty());
    let read = lines.map(|line| {
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        let head = std::str::from_utf8(&line[..tab]).ok()?;
        let mut words = head.split(' ');
        let (mode, object) = (words.next()?, words.nth(1)?);
        let path = Some(&line[tab + 1..]).filter(|path| is_ours(path))?;
        Some((path.to_vec(), item(mode, object)??))
    });
    let read: Option<Vec<(Vec<u8>, Item)>> = read.collect();
    read.ok_or_else(strange)
}

/// Only files and links are in our trees; anything else is not of our making.
fn item(mode: &str, object: &str) -> Option<Option<Item>> {
    let kind = match mode {
        "000000" => return Some(None),
        "100644" => Kind::File,
        "100755" => Kind::Program,
        "120000" => Kind::Link,
        _ => return None,
    };
    let object = object.to_owned();
    Some(Some(Item { kind, object }))
}

fn strange() -> Failure {
    Failure::outside("a tree of ours holds what we never put there")
        .hint("look at the repository with `git fsck`")
}
