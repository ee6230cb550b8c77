//! Records of trust: one file each in the state folder, named by the hash of what is trusted.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use engine::{Hash, Time, Who};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Subject;
use super::scripts::PinnedFile;
use crate::failure::Failure;
use crate::state::{self, State};

const FOLDER: &str = "trust";

/// What somebody trusted, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustRecord {
    /// The name of its file.
    #[serde(skip, default = "unnamed")]
    pub hash: Hash,
    pub path: String,
    #[serde(with = "crate::serde_names")]
    pub at: Time,
    pub by: String,
    /// All files, with their hashes.
    pub pieces: Vec<PinnedFile>,
    /// The texts of the definition's own files, to show later changes.
    pub texts: BTreeMap<String, String>,
}

/// Is this trusted? The record says who trusted it, and names every file with its hash: what `--list`
/// does not show is not trusted.
pub fn is_trusted(state: &State, subject: &Subject) -> bool {
    let path = file(state, subject.hash());
    let is_file = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_file());
    let record = is_file.then(|| read(&path)).flatten();
    record.is_some_and(|record| {
        record.path == shown(&subject.path) && record.pieces == pieces(subject)
    })
}

/// Records this trust and removes earlier trust in the same path: an earlier version must be
/// trusted again. It is durable when this returns.
pub fn keep(state: &State, subject: &Subject, at: Time, by: &Who) -> Result<TrustRecord, Failure> {
    let record = TrustRecord {
        hash: subject.hash(),
        path: shown(&subject.path),
        at,
        by: by.name(),
        pieces: pieces(subject),
        texts: texts(subject),
    };
    let path = file(state, record.hash);
    state::write_durably(&path, &views::json_text(&json!(record)))
        .map_err(Failure::file("write", &path))?;
    let earlier = of_path(state, &subject.path);
    for earlier in earlier.iter().filter(|earlier| earlier.hash != record.hash) {
        forget(state, earlier)?;
    }
    Ok(record)
}

/// Removes the trust.
pub fn forget(state: &State, record: &TrustRecord) -> Result<(), Failure> {
    let path = file(state, record.hash);
    fs::remove_file(&path).map_err(Failure::file("remove", &path))
}

/// All records, the oldest first. Unreadable files trust nothing.
pub fn all(state: &State) -> Vec<TrustRecord> {
    let listed = fs::read_dir(state.folder().join(FOLDER))
        .into_iter()
        .flatten();
    let files = listed.filter_map(Result::ok).map(|entry| entry.path());
    let mut records: Vec<TrustRecord> = files.filter_map(|path| read(&path)).collect();
    records.sort_by_key(|record| (record.at, record.hash));
    records
}

/// The records of this path, the latest last.
pub fn of_path(state: &State, path: &Path) -> Vec<TrustRecord> {
    let path = shown(path);
    let mut records = all(state);
    records.retain(|record| record.path == path);
    records
}

/// All files of a subject, by unique paths: those of the project start with `./`.
pub fn pieces(subject: &Subject) -> Vec<PinnedFile> {
    let files = subject.files.iter();
    let files = files.map(|(path, bytes)| PinnedFile::of(path, bytes));
    let others = subject.scripts.iter().chain(&subject.settings);
    let others = others.map(|piece| PinnedFile {
        path: format!("./{}", piece.path),
        ..piece.clone()
    });
    files.chain(others).collect()
}

fn texts(subject: &Subject) -> BTreeMap<String, String> {
    let files = subject.files.iter();
    let texts = files.filter_map(|(path, bytes)| {
        let text = std::str::from_utf8(bytes).ok()?;
        Some((path.to_owned(), text.to_owned()))
    });
    texts.collect()
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn file(state: &State, hash: Hash) -> PathBuf {
    state.folder().join(FOLDER).join(hash.to_string())
}

fn read(path: &Path) -> Option<TrustRecord> {
    let hash = Hash::parse(path.file_name()?.to_str()?)?;
    let record = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    Some(TrustRecord { hash, ..record })
}

/// Until `read` has the name of the file.
fn unnamed() -> Hash {
    Hash([0; 32])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_bytes_are_read_and_written_as_they_always_were() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let subject = Subject {
            path: "/a/p.toml".into(),
            files: store::Files::single("p.toml", b"x"),
            scripts: Vec::new(),
            settings: None,
        };
        let record = keep(&state, &subject, Time(7), &Who::Engine).unwrap();
        let path = file(&state, record.hash);
        let (name, piece) = (Who::Engine.name(), evidence::hash(b"x"));
        let stored = format!(
            "{{\n  \"path\": \"/a/p.toml\",\n  \"at\": 7,\n  \"by\": \"{name}\",\n  \"pieces\": [\n    {{\n      \"path\": \"p.toml\",\n      \"bytes\": 1,\n      \"hash\": \"{piece}\"\n    }}\n  ],\n  \"texts\": {{\n    \"p.toml\": \"x\"\n  }}\n}}\n"
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), stored);
        assert_eq!(read(&path), Some(record));
        fs::write(&path, stored.replacen('{', "{\"more\": 1,", 1)).unwrap();
        assert!(is_trusted(&state, &subject));
        for (old, new) in [
            ("\"at\"", "\"on\""),
            (piece.to_string().as_str(), "ab"),
            ("\"bytes\": 1", "\"bytes\": \"1\""),
            ("}\n", ""),
        ] {
            fs::write(&path, stored.replace(old, new)).unwrap();
            assert_eq!(read(&path), None, "{new}");
            assert!(!is_trusted(&state, &subject), "{new}");
        }
    }
}
