//! The manifest: one line a file, sorted, so that the same tree has the same bytes everywhere.

use std::collections::BTreeMap;

use engine::Hash;

use crate::escape::escape;

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
    pub(super) fn new(kind: EntryKind, hash: Hash, path: Vec<u8>) -> Self {
        Self {
            path: escaped(path),
            kind,
            hash,
        }
    }
}

/// Nearly every path is its own text.
fn escaped(path: Vec<u8>) -> String {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') && *byte != b'\\';
    if !path.iter().all(is_plain) {
        return escape(&path);
    }
    String::from_utf8(path).unwrap_or_else(|error| escape(error.as_bytes()))
}

/// What a line has besides its path, at most.
const FIXED: usize = 75;

pub(super) fn write(mut lines: Vec<ManifestLine>) -> Vec<u8> {
    lines.sort();
    lines.dedup();
    let paths: usize = lines.iter().map(|line| line.path.len()).sum();
    let mut manifest = Vec::with_capacity(HEADER.len() + paths + lines.len() * FIXED);
    manifest.extend_from_slice(HEADER.as_bytes());
    for ManifestLine { path, kind, hash } in lines {
        manifest.push(b'\n');
        manifest.extend_from_slice(kind.word().as_bytes());
        manifest.push(b' ');
        manifest.extend_from_slice(&digits(&hash));
        manifest.push(b' ');
        manifest.extend_from_slice(path.as_bytes());
    }
    manifest.push(b'\n');
    manifest
}

/// The hash in hexadecimal digits: a large tree has very many of them.
fn digits(hash: &Hash) -> [u8; 64] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    std::array::from_fn(|at| {
        let byte = hash.0[at / 2];
        DIGITS[usize::from(if at % 2 == 0 { byte >> 4 } else { byte & 15 })]
    })
}

/// The paths that differ between two manifests, sorted; `None` if one of them is not a manifest.
pub fn changed(old: &[u8], new: &[u8]) -> Option<Vec<String>> {
    let (old, new) = (read(old)?, read(new)?);
    let (mut old, mut new) = (old.as_slice(), new.as_slice());
    let mut paths = Vec::new();
    // Both are sorted by path, so one pass over them is enough.
    while let Some(path) = first_path(old, new) {
        let (of_old, of_new) = (count_of(old, path), count_of(new, path));
        if old[..of_old] != new[..of_new] {
            paths.push(String::from(path));
        }
        (old, new) = (&old[of_old..], &new[of_new..]);
    }
    Some(paths)
}

/// A line of a manifest, as far as a text can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeFile {
    /// An ordinary file, with the hash of its content.
    Text(Hash),
    /// A link, another repository, ignore rules or something else without lines.
    Other,
}

/// The files of a manifest by their escaped paths; `None` if it is not a manifest.
pub fn files_of(manifest: &[u8]) -> Option<BTreeMap<&str, Vec<TreeFile>>> {
    let file = |line: &str| {
        let (kind, hash) = line.split_once(' ')?;
        let is_text = [EntryKind::File, EntryKind::Program].map(EntryKind::word);
        if is_text.contains(&kind) {
            Hash::parse(hash).map(TreeFile::Text)
        } else {
            Some(TreeFile::Other)
        }
    };
    let mut files: BTreeMap<&str, Vec<TreeFile>> = BTreeMap::new();
    for line in read(manifest)? {
        files.entry(line.path).or_default().push(file(line.about)?);
    }
    Some(files)
}

fn first_path<'m>(old: &[Line<'m>], new: &[Line<'m>]) -> Option<&'m str> {
    let paths = [old.first(), new.first()].into_iter().flatten();
    paths.map(|line| line.path).min()
}

/// How many lines at the beginning have this path.
fn count_of(lines: &[Line<'_>], path: &str) -> usize {
    lines.iter().take_while(|line| line.path == path).count()
}

/// A line of a manifest as it is written: the order of the fields is the order of the lines.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Line<'m> {
    path: &'m str,
    /// Its kind and its hash.
    about: &'m str,
}

fn read(manifest: &[u8]) -> Option<Vec<Line<'_>>> {
    let mut lines = std::str::from_utf8(manifest).ok()?.lines();
    if lines.next() != Some(HEADER) {
        return None;
    }
    let line = |line: &'_ str| {
        let kind = line.find(' ')?;
        let about = kind + 1 + line.get(kind + 1..)?.find(' ')?;
        Some((about, about + 1))
    };
    let lines = lines.map(|text| {
        let (about, path) = line(text)?;
        Some(Line {
            path: text.get(path..)?,
            about: text.get(..about)?,
        })
    });
    let mut lines: Vec<Line<'_>> = lines.collect::<Option<_>>()?;
    lines.sort_unstable();
    Some(lines)
}
