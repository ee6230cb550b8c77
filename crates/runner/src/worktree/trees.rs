//! Lists trees and compares two of them.

use std::sync::{Arc, Mutex, PoisonError};

use evidence::tree::{ObjectKind, TreeObject};
use runtime::failure::Failure;

use super::disk::is_ours;
use super::git::{Repository, start, with_input};
use super::scratch::Scratch;

/// A path at which two trees differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    pub path: Vec<u8>,
    pub old: Option<TreeObject>,
    pub new: Option<TreeObject>,
}

impl Difference {
    /// A line of a listing, for what is there now.
    fn write_line(&self, output: &mut Vec<u8>) {
        if let Some(new) = &self.new {
            let entry = TreeEntry {
                path: &self.path,
                mode: new.kind.mode(),
                object: &new.name,
            };
            entry.write_line(output);
        }
    }

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
    let output = scratch.ask(&[RAW.as_slice(), &[first, second]].concat())?;
    let read = raw_lines(&output).map(|line| {
        let RawLine { path, old, new } = line?;
        Some(Difference {
            path: Some(path).filter(|path| is_ours(path))?.to_vec(),
            old: item(old.0, old.1)?,
            new: item(new.0, new.1)?,
        })
    });
    let read: Option<Vec<Difference>> = read.collect();
    let mut read = read.ok_or_else(unexpected_tree)?;
    sort_for_writing(&mut read);
    Ok(read)
}

/// Lists the differences of two commits, as `raw_lines` reads them.
const RAW: [&str; 6] = [
    "diff-tree",
    "-r",
    "-z",
    "--raw",
    "--no-renames",
    "--no-abbrev",
];

/// A line of this list: a path, with the mode and the object of both sides.
struct RawLine<'a> {
    path: &'a [u8],
    old: (&'a str, &'a str),
    new: (&'a str, &'a str),
}

/// The lines, each with its path behind a zero; nothing in place of one that git does not write.
fn raw_lines(output: &[u8]) -> impl Iterator<Item = Option<RawLine<'_>>> {
    let mut fields = output.split(|byte| *byte == 0);
    std::iter::from_fn(move || Some((fields.next()?, fields.next()?))).map(|(head, path)| {
        let head = std::str::from_utf8(head).ok()?.strip_prefix(':')?;
        let mut words = head.split(' ');
        let (old, new) = (words.next()?, words.next()?);
        Some(RawLine {
            path,
            old: (old, words.next()?),
            new: (new, words.next()?),
        })
    })
}

impl Repository {
    /// Are all objects there that this commit has and its first parent has not? Refs kept those of the parent
    /// all the time, and there may be very many.
    pub(super) fn is_whole(&self, commit: &str) -> Result<bool, Failure> {
        let mut command = self.command(&self.here());
        command.args(RAW).args([
            "--no-commit-id",
            "--root",
            "--diff-merges=first-parent",
            commit,
        ]);
        let output = start(&mut command)?;
        let lines: Option<Vec<RawLine<'_>>> = raw_lines(&output.stdout).collect();
        let Some(lines) = lines.filter(|_| output.status.success()) else {
            return Ok(false);
        };
        let new = lines.iter().map(|line| line.new);
        let new = new.filter(|(mode, _)| !matches!(*mode, "000000" | "160000"));
        let objects: Vec<&str> = new.map(|(_, object)| object).collect();
        if objects.is_empty() {
            return Ok(true);
        }
        let mut command = self.command(&self.here());
        command.args(["cat-file", "--batch-check=%(objecttype)"]);
        let kinds = with_input(&mut command, objects.join("\n").as_bytes())?;
        let kinds = String::from_utf8_lossy(&kinds);
        Ok(kinds.lines().all(|kind| kind == "blob"))
    }
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
#[derive(Clone)]
pub(super) struct TreeListing(Arc<Vec<u8>>);

/// The listings of commits that this process needs again soon, with the newest at the end. A commit never
/// changes, so what git said of one stays true.
static KEPT: Mutex<Vec<(String, TreeListing)>> = Mutex::new(Vec::new());

/// A step begins with one and leaves another. They are large.
const MOST_KEPT: usize = 2;

/// An entry of a commit's tree, of whatever kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TreeEntry<'a> {
    pub path: &'a [u8],
    pub mode: &'a str,
    pub object: &'a str,
}

impl TreeEntry<'_> {
    fn write_line(&self, output: &mut Vec<u8>) {
        // The person's own commits may have submodules.
        let kind: &[u8] = match self.mode {
            "160000" => b" commit ",
            _ => b" blob ",
        };
        for part in [self.mode.as_bytes(), kind, self.object.as_bytes()] {
            output.extend_from_slice(part);
        }
        output.push(b'\t');
        output.extend_from_slice(self.path);
        output.push(0);
    }
}

impl TreeListing {
    /// After a failure git is asked again: objects of the commit may be missing.
    pub(super) fn of(scratch: &Scratch<'_>, commit: &str) -> Result<Self, Failure> {
        if let Some(kept) = Self::kept(commit).filter(|_| scratch.is_first_try) {
            return Ok(kept);
        }
        let output = scratch.ask(&["ls-tree", "-r", "-z", "--full-tree", commit])?;
        let listing = Self(Arc::new(output));
        listing.keep(commit);
        Ok(listing)
    }

    /// A tree without files.
    pub(super) fn empty() -> Self {
        Self(Arc::default())
    }

    fn kept(commit: &str) -> Option<Self> {
        let kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().find(|(of, _)| of == commit);
        found.map(|(_, listing)| listing.clone())
    }

    /// Spares git the listing of this commit, which has these files.
    pub(super) fn keep(&self, commit: &str) {
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(of, _)| of != commit);
        let first = (kept.len() + 1).saturating_sub(MOST_KEPT);
        kept.drain(..first);
        kept.push((commit.to_owned(), self.clone()));
    }

    /// The same for a commit that differs from a kept one in this.
    pub(super) fn keep_changed(before: &str, after: &str, differences: &[Difference]) {
        let Some(before) = Self::kept(before) else {
            return;
        };
        if let Ok(after_listing) = before.with(differences) {
            after_listing.keep(after);
        }
    }

    /// Nobody needs them for now.
    pub(super) fn forget_kept() {
        KEPT.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The listing of a commit that differs from this one in this.
    pub(super) fn with(&self, differences: &[Difference]) -> Result<Self, Failure> {
        let mut differences: Vec<&Difference> = differences.iter().collect();
        differences.sort_unstable_by(|left, right| left.path.cmp(&right.path));
        let mut differences = differences.into_iter().peekable();
        let mut output = Vec::with_capacity(self.0.len());
        for entry in self.entries()? {
            while let Some(new) = differences.next_if(|new| new.path.as_slice() < entry.path) {
                new.write_line(&mut output);
            }
            match differences.next_if(|new| new.path == entry.path) {
                Some(new) => new.write_line(&mut output),
                None => entry.write_line(&mut output),
            }
        }
        for new in differences {
            new.write_line(&mut output);
        }
        Ok(Self(Arc::new(output)))
    }

    #[cfg(test)]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
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
