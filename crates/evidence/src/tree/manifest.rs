//! The manifest: one line a file, sorted, so that the same tree has the same bytes everywhere.

use std::collections::BTreeMap;

use engine::Hash;

use crate::escape::{escape, push_hexadecimal};

const HEADER: &str = "gatewright tree 1";

/// What a line describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum EntryKind {
    File,
    /// An executable file.
    Program,
    /// A symbolic link; its hash is that of its target.
    Link,
    /// A tracked nested repository; its hash is that of the commit's name.
    Commit,
    /// Ignore rules outside of the tree.
    Rules,
    /// Neither a file nor a link, such as a pipe.
    Other,
}

impl EntryKind {
    fn word(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Program => "program",
            Self::Link => "link",
            Self::Commit => "commit",
            Self::Rules => "rules",
            Self::Other => "other",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ManifestLine {
    pub path: String,
    pub kind: EntryKind,
    pub hash: Hash,
}

impl ManifestLine {
    pub(super) fn new(kind: EntryKind, hash: Hash, path: &[u8]) -> Self {
        Self {
            path: escape(path),
            kind,
            hash,
        }
    }
}

pub(super) fn write(mut lines: Vec<ManifestLine>) -> Vec<u8> {
    lines.sort();
    lines.dedup();
    let mut manifest = format!("{HEADER}\n");
    for ManifestLine { path, kind, hash } in lines {
        manifest.push_str(kind.word());
        manifest.push(' ');
        push_hexadecimal(&mut manifest, &hash.0);
        manifest.push(' ');
        manifest.push_str(&path);
        manifest.push('\n');
    }
    manifest.into_bytes()
}

/// The paths that differ between two manifests, sorted; `None` if one of them is not a manifest.
pub fn changed(old: &[u8], new: &[u8]) -> Option<Vec<String>> {
    let (old, new) = (read(old)?, read(new)?);
    let differs = |path: &&&str| old.get(**path) != new.get(**path);
    let mut paths: Vec<&str> = old
        .keys()
        .chain(new.keys())
        .filter(differs)
        .copied()
        .collect();
    paths.sort_unstable();
    paths.dedup();
    Some(paths.into_iter().map(String::from).collect())
}

/// For each path, its kinds and hashes in the manifest.
fn read(manifest: &[u8]) -> Option<BTreeMap<&str, Vec<&str>>> {
    let mut lines = std::str::from_utf8(manifest).ok()?.lines();
    if lines.next() != Some(HEADER) {
        return None;
    }
    let mut files: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in lines {
        let (kind, rest) = line.split_once(' ')?;
        let (hash, path) = rest.split_once(' ')?;
        files
            .entry(path)
            .or_default()
            .push(&line[..kind.len() + 1 + hash.len()]);
    }
    Some(files)
}
