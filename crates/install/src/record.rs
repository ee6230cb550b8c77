//! The record of an installation in a folder, with the original files, so that they can be restored.

use std::fs;
use std::path::{Path, PathBuf};

use runtime::failure::Failure;
use runtime::state::{self, State};
use serde::{Deserialize, Serialize};

use super::disk::BaseFolder;
use super::marked_section::MarkStyle;

const FOLDER: &str = "installs";
const RECORD: &str = "record.json";

/// The version of the format.
const VERSION: u32 = 1;

/// What was installed in one folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstallRecord {
    pub root: String,
    /// The project's key; `None` for a person's own settings.
    pub project: Option<String>,
    pub files: Vec<InstalledFile>,
    /// The folders that we created, the outermost first.
    pub folders: Vec<String>,
    /// The rules that we added to what the settings allow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<String>,
}

/// A file that we changed or created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstalledFile {
    pub path: String,
    pub kind: FileKind,
    /// The hash of the original content; `None` if the file did not exist.
    pub before: Option<String>,
    /// The hash of the content that we wrote.
    pub after: String,
}

/// How to remove our part of a file that somebody has changed since.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileKind {
    /// Settings of the host.
    Settings,
    /// A file that we created. If it has changed, it belongs to the person.
    Made,
    /// A person's text file with our section between marks.
    #[serde(untagged)]
    Marked(MarkStyle),
}

impl InstallRecord {
    pub fn file(&self, path: &str) -> Option<&InstalledFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Did we write this file, and is it unchanged?
    pub fn has_unchanged(&self, path: &str, bytes: &[u8]) -> bool {
        let hash = hash(bytes);
        self.file(path).is_some_and(|file| file.after == hash)
    }

    pub fn put(&mut self, kept: InstalledFile) {
        match self.files.iter_mut().find(|file| file.path == kept.path) {
            Some(file) => *file = kept,
            None => self.files.push(kept),
        }
    }
}

pub fn hash(bytes: &[u8]) -> String {
    evidence::hash(bytes).to_string()
}

/// The state folder with the record of one installation.
pub struct RecordFolder {
    base: BaseFolder,
}

impl RecordFolder {
    pub fn of(state: &State, root: &Path) -> Self {
        let mut name = hash(root.as_os_str().as_encoded_bytes());
        name.truncate(32);
        Self {
            base: BaseFolder::private(state.folder().join(FOLDER).join(name)),
        }
    }

    pub fn read(&self) -> Result<Option<InstallRecord>, Failure> {
        match self.base.read(RECORD)? {
            None => Ok(None),
            Some(bytes) => match serde_json::from_slice(&bytes).ok() {
                Some(record) => Ok(Some(record)),
                None => Err(damaged(self.base.root())),
            },
        }
    }

    /// Saves the original content of a file under its hash.
    pub fn keep(&self, bytes: &[u8]) -> Result<String, Failure> {
        let hash = hash(bytes);
        self.make()?;
        if self.original(&hash).is_none() {
            self.base.write(&hash, bytes)?;
        }
        Ok(hash)
    }

    /// The original content of a file, if it is still there and intact.
    pub fn original(&self, name: &str) -> Option<Vec<u8>> {
        let bytes = self.base.read(name).ok().flatten();
        bytes.filter(|bytes| hash(bytes) == name)
    }

    pub fn write(&self, record: &InstallRecord) -> Result<(), Failure> {
        self.make()?;
        let version = VERSION;
        let written = serde_json::to_value(VersionedRecord { version, record })
            .map_err(|cause| Failure::bug(format!("a record cannot be written ({cause})")))?;
        let text = views::json_text(&written);
        self.base.write(RECORD, text.as_bytes())
    }

    /// Forgets the folder. The record goes first: without it the rest means nothing.
    pub fn clear(&self) -> Result<(), Failure> {
        self.base.remove(RECORD)?;
        match fs::remove_dir_all(self.base.root()) {
            Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
                Err(Failure::file("remove", self.base.root())(cause))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn make(&self) -> Result<(), Failure> {
        let folder = self.base.root();
        let made = state::make_folder(folder);
        made.map_err(Failure::file("make", folder))
    }
}

/// Every record of the state folder that can be read.
pub fn all(state: &State) -> Vec<InstallRecord> {
    let listed = fs::read_dir(state.folder().join(FOLDER))
        .into_iter()
        .flatten();
    let shelves = listed.filter_map(Result::ok).map(|entry| RecordFolder {
        base: BaseFolder::private(entry.path()),
    });
    shelves
        .filter_map(|folder| folder.read().ok().flatten())
        .collect()
}

fn damaged(folder: &Path) -> Failure {
    let path: PathBuf = folder.join(RECORD);
    Failure::environment(format!("{} is damaged", path.display()))
        .hint("remove it; `uninit` can then remove the hooks, but not restore the files")
}

/// A record as its file holds it.
#[derive(Serialize)]
struct VersionedRecord<'a> {
    version: u32,
    #[serde(flatten)]
    record: &'a InstallRecord,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_back_with_the_files_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().join("state"));
        let folder = RecordFolder::of(&state, Path::new("/a"));
        assert_eq!(folder.read().unwrap(), None);
        let before = folder.keep(b"\xff old").unwrap();
        let kinds = [
            FileKind::Settings,
            FileKind::Marked(MarkStyle::Hash),
            FileKind::Marked(MarkStyle::Markup),
            FileKind::Made,
        ];
        let mut record = InstallRecord {
            root: "/a".to_owned(),
            project: Some("/a/.git".to_owned()),
            ..InstallRecord::default()
        };
        for (number, kind) in kinds.into_iter().enumerate() {
            record.put(InstalledFile {
                path: format!("f{number}"),
                kind,
                before: (number > 0).then(|| before.clone()),
                after: hash(b"new"),
            });
        }
        folder.write(&record).unwrap();
        assert_eq!(folder.read().unwrap().as_ref(), Some(&record));
        assert_eq!(all(&state), [record.clone()]);
        assert_eq!(
            RecordFolder::of(&state, Path::new("/b")).read().unwrap(),
            None
        );
        assert_eq!(folder.original(&before).as_deref(), Some(&b"\xff old"[..]));
        assert!(record.has_unchanged("f1", b"new") && !record.has_unchanged("f1", b"other"));
        folder.clear().unwrap();
        assert_eq!(folder.read().unwrap(), None);
        assert_eq!(all(&state), []);
    }

    #[test]
    fn a_record_is_written_and_read_in_the_bytes_of_earlier_versions() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().join("state"));
        let folder = RecordFolder::of(&state, Path::new("/a"));
        let file = |path: &str, kind, before: Option<&str>| InstalledFile {
            path: path.to_owned(),
            kind,
            before: before.map(str::to_owned),
            after: "h2".to_owned(),
        };
        let record = InstallRecord {
            root: "/a".to_owned(),
            project: None,
            files: vec![
                file("s", FileKind::Settings, Some("h1")),
                file("i", FileKind::Marked(MarkStyle::Hash), None),
                file("m", FileKind::Marked(MarkStyle::Markup), None),
                file("n", FileKind::Made, None),
            ],
            allowed: Vec::new(),
            folders: vec!["f".to_owned()],
        };
        folder.write(&record).unwrap();
        let bytes = fs::read_to_string(folder.base.root().join(RECORD)).unwrap();
        assert_eq!(bytes, WRITTEN);
        assert_eq!(folder.read().unwrap(), Some(record));
    }

    const WRITTEN: &str = r#"{
  "version": 1,
  "root": "/a",
  "project": null,
  "files": [
    {
      "path": "s",
      "kind": "settings",
      "before": "h1",
      "after": "h2"
    },
    {
      "path": "i",
      "kind": "hash marks",
      "before": null,
      "after": "h2"
    },
    {
      "path": "m",
      "kind": "markup marks",
      "before": null,
      "after": "h2"
    },
    {
      "path": "n",
      "kind": "made",
      "before": null,
      "after": "h2"
    }
  ],
  "folders": [
    "f"
  ]
}
"#;

    #[test]
    fn a_damaged_record_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().join("state"));
        let folder = RecordFolder::of(&state, Path::new("/a"));
        folder.write(&InstallRecord::default()).unwrap();
        for text in ["", "{}", "[", "{\"root\": 3}"] {
            fs::write(folder.base.root().join(RECORD), text).unwrap();
            assert!(folder.read().is_err(), "{text}");
        }
    }
}
