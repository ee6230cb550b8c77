//! The manifest: one line a file, sorted, so that the same tree has the same bytes everywhere.

use std::collections::BTreeMap;

use engine::Hash;

const HEADER: &str = "gatewright tree 1";

/// What a line speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    File,
    /// A file that may be executed.
    Program,
    /// A symbolic link; its hash is that of the path it holds.
    Link,
    /// A nested repository that the outer one tracks; its hash is that of the commit's name.
    Commit,
    /// Ignore rules that lie outside the tree.
    Rules,
    /// Neither file nor link: a pipe, say.
    Other,
}

impl Kind {
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
pub struct Line {
    path: String,
    kind: Kind,
    hash: Hash,
}

impl Line {
    pub fn new(kind: Kind, hash: Hash, path: &[u8]) -> Self {
        Self {
            path: escape(path),
            kind,
            hash,
        }
    }
}

pub fn write(mut lines: Vec<Line>) -> Vec<u8> {
    lines.sort();
    lines.dedup();
    let mut manifest = format!("{HEADER}\n");
    for Line { path, kind, hash } in lines {
        manifest.push_str(kind.word());
        manifest.push(' ');
        push_hexadecimal(&mut manifest, &hash.0);
        manifest.push(' ');
        manifest.push_str(&path);
        manifest.push('\n');
    }
    manifest.into_bytes()
}

/// The paths in which two manifests differ, sorted; `None` if one of them is no manifest.
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

/// For each path, its kinds and hashes as they stand there.
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

/// A path as text, without loss: what is not UTF-8, and control characters and backslashes, as `\xNN`.
pub fn escape(path: &[u8]) -> String {
    let mut escaped = String::new();
    for chunk in path.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\\' => escaped.push_str("\\\\"),
                control if control.is_control() => {
                    let mut bytes = [0; 4];
                    push_bytes(&mut escaped, control.encode_utf8(&mut bytes).as_bytes());
                }
                other => escaped.push(other),
            }
        }
        push_bytes(&mut escaped, chunk.invalid());
    }
    escaped
}

fn push_bytes(escaped: &mut String, bytes: &[u8]) {
    for byte in bytes {
        escaped.push_str("\\x");
        push_hexadecimal(escaped, &[*byte]);
    }
}

/// Like `{:02x}` for each byte, which is too slow for every file of a big tree.
fn push_hexadecimal(text: &mut String, bytes: &[u8]) {
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or('?');
    text.extend(
        bytes
            .iter()
            .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]),
    );
}
