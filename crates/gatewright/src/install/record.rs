//! What was installed below a folder: the files as they were before, so that they can come back.

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use runtime::failure::Failure;
use runtime::state::State;
use serde::{Deserialize, Serialize};

use super::disk::Base;
use super::marked::Marks;

const FOLDER: &str = "installs";
const RECORD: &str = "record.json";

/// The version of the format.
const VERSION: u32 = 1;

/// What was done below one folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub root: String,
    /// The project's identity; none for a person's own settings.
    pub project: Option<String>,
    pub files: Vec<Kept>,
    /// The folders that were made, the outermost first.
    pub folders: Vec<String>,
}

/// A file that was changed or made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    pub path: String,
    pub kind: Kind,
    /// The hash of what it held before; none if it was not there.
    pub before: Option<String>,
    /// The hash of what it held when we had written it.
    pub after: String,
}

/// How our part of a file is taken out, when somebody has changed it since.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Settings of the host.
    Settings,
    /// A file of ours: it is as we made it, or it is somebody's.
    Made,
    /// A text of the person's with a part of ours between marks. The marks have names of their own.
    #[serde(untagged)]
    Marked(Marks),
}

impl Record {
    pub fn file(&self, path: &str) -> Option<&Kept> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Is this file ours, and as we left it?
    pub fn has_unchanged(&self, path: &str, bytes: &[u8]) -> bool {
        let hash = hash(bytes);
        self.file(path).is_some_and(|file| file.after == hash)
    }

    pub fn put(&mut self, kept: Kept) {
        match self.files.iter_mut().find(|file| file.path == kept.path) {
            Some(file) => *file = kept,
            None => self.files.push(kept),
        }
    }
}

pub fn hash(bytes: &[u8]) -> String {
    evidence::hash(bytes).to_string()
}

/// Where the record of one folder lies.
pub struct Shelf {
    base: Base,
}

impl Shelf {
    pub fn of(state: &State, root: &Path) -> Self {
        let mut name = hash(root.as_os_str().as_encoded_bytes());
        name.truncate(32);
        Self {
            base: Base::private(state.folder().join(FOLDER).join(name)),
        }
    }

    pub fn read(&self) -> Result<Option<Record>, Failure> {
        match self.base.read(RECORD)? {
            None => Ok(None),
            Some(bytes) => match serde_json::from_slice(&bytes).ok() {
                Some(record) => Ok(Some(record)),
                None => Err(damaged(self.base.root())),
            },
        }
    }

    /// Keeps what a file held, by its hash.
    pub fn keep(&self, bytes: &[u8]) -> Result<String, Failure> {
        let hash = hash(bytes);
        self.make()?;
        if self.original(&hash).is_none() {
            self.base.write(&hash, bytes)?;
        }
        Ok(hash)
    }

    /// What a file held before, if it is still known and whole.
    pub fn original(&self, name: &str) -> Option<Vec<u8>> {
        let bytes = self.base.read(name).ok().flatten();
        bytes.filter(|bytes| hash(bytes) == name)
    }

    pub fn write(&self, record: &Record) -> Result<(), Failure> {
        self.make()?;
        let version = VERSION;
        let written = serde_json::to_value(Written { version, record })
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
        let made = fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder);
        made.map_err(Failure::file("make", folder))
    }
}

/// Every record of the state folder that can be read.
pub fn all(state: &State) -> Vec<Record> {
    let listed = fs::read_dir(state.folder().join(FOLDER))
        .into_iter()
        .flatten();
    let shelves = listed.filter_map(Result::ok).map(|entry| Shelf {
        base: Base::private(entry.path()),
    });
    shelves
        .filter_map(|shelf| shelf.read().ok().flatten())
        .collect()
}

fn damaged(folder: &Path) -> Failure {
    let path: PathBuf = folder.join(RECORD);
    Failure::outside(format!("{} is damaged", path.display()))
        .hint("remove it; `uninit` can then remove the hooks, but not restore the files")
}

/// A record as its file holds it.
#[derive(Serialize)]
struct Written<'a> {
    version: u32,
    #[serde(flatten)]
    record: &'a Record,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_back_with_the_files_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().join("state"));
        let shelf = Shelf::of(&state, Path::new("/a"));
        assert_eq!(shelf.read().unwrap(), None);
        let before = shelf.keep(b"\xff old").unwrap();
        let kinds = [
            Kind::Settings,
            Kind::Marked(Marks::Hash),
            Kind::Marked(Marks::Markup),
            Kind::Made,
        ];
        let mut record = Record {
            root: "/a".to_owned(),
            project: Some("/a/.git".to_owned()),
            ..Record::default()
        };
        for (number, kind) in kinds.into_iter().enumerate() {
            record.put(Kept {
                path: format!("f{number}"),
                kind,
                before: (number > 0).then(|| before.clone()),
                after: hash(b"new"),
            });
        }
        shelf.write(&record).unwrap();
        assert_eq!(shelf.read().unwrap().as_ref(), Some(&record));
        assert_eq!(all(&state), [record.clone()]);
        assert_eq!(Shelf::of(&state, Path::new("/b")).read().unwrap(), None);
        assert_eq!(shelf.original(&before).as_deref(), Some(&b"\xff old"[..]));
        assert!(record.has_unchanged("f1", b"new") && !record.has_unchanged("f1", b"other"));
        shelf.clear().unwrap();
        assert_eq!(shelf.read().unwrap(), None);
        assert_eq!(all(&state), []);
    }

    #[test]
    fn a_record_is_written_and_read_in_the_bytes_of_earlier_versions() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().join("state"));
        let shelf = Shelf::of(&state, Path::new("/a"));
        let file = |path: &str, kind, before: Option<&str>| Kept {
            path: path.to_owned(),
            kind,
            before: before.map(str::to_owned),
            after: "h2".to_owned(),
        };
        let record = Record {
            root: "/a".to_owned(),
            project: None,
            files: vec![
                file("s", Kind::Settings, Some("h1")),
                file("i", Kind::Marked(Marks::Hash), None),
                file("m", Kind::Marked(Marks::Markup), None),
                file("n", Kind::Made, None),
            ],
            folders: vec!["f".to_owned()],
        };
        shelf.write(&record).unwrap();
        let bytes = fs::read_to_string(shelf.base.root().join(RECORD)).unwrap();
        assert_eq!(bytes, WRITTEN);
        assert_eq!(shelf.read().unwrap(), Some(record));
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
        let shelf = Shelf::of(&state, Path::new("/a"));
        shelf.write(&Record::default()).unwrap();
        for text in ["", "{}", "[", "{\"root\": 3}"] {
            fs::write(shelf.base.root().join(RECORD), text).unwrap();
            assert!(shelf.read().is_err(), "{text}");
        }
    }
}
