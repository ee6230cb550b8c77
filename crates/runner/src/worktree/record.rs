//! What is remembered of a worktree and of its merge, in small files beside its folder.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use runtime::failure::Failure;
use runtime::state::write_durably;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::name::Name;

/// A worktree that was prepared. It is written when the worktree is whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beginning {
    /// As the caller calls it.
    pub called: String,
    /// The commit that holds what the worker began with.
    pub base: String,
    /// By which id git knows the worktree.
    pub id: String,
    /// Where the run works inside the worktree; empty at its top.
    pub inside: String,
    /// Paths that are carried though git may ignore them, from the worktree's top.
    pub carried: Vec<String>,
}

/// A merge that has begun. All that it writes can be told from its two commits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Merging {
    /// The commit that is merged.
    pub commit: String,
    /// What the run's worktree held.
    pub before: String,
    /// What it is to hold.
    pub after: String,
    pub progress: Progress,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Progress {
    Writing,
    /// Somebody changed a file meanwhile: what was written is taken back.
    Undoing,
    Merged,
}

/// The folder with the worktrees of one run, and what is remembered of them.
#[derive(Clone, Debug)]
pub struct Records {
    folder: PathBuf,
}

impl Records {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where a worktree lies.
    pub fn worktree(&self, name: &Name) -> PathBuf {
        self.folder.join(name.as_str())
    }

    pub fn beginning(&self, name: &Name) -> Result<Option<Beginning>, Failure> {
        read(&self.file(name, "json"))
    }

    pub fn keep_beginning(&self, name: &Name, beginning: &Beginning) -> Result<(), Failure> {
        write(&self.file(name, "json"), beginning)
    }

    pub fn merging(&self, name: &Name) -> Result<Option<Merging>, Failure> {
        read(&self.file(name, "merge.json"))
    }

    pub fn keep_merging(&self, name: &Name, merging: &Merging) -> Result<(), Failure> {
        write(&self.file(name, "merge.json"), merging)
    }

    pub fn forget_merging(&self, name: &Name) -> Result<(), Failure> {
        remove(&self.file(name, "merge.json"))
    }

    /// Forgets all of a worktree. The record of the worktree itself goes last.
    pub fn forget(&self, name: &Name) -> Result<(), Failure> {
        self.forget_merging(name)?;
        remove(&self.file(name, "json"))
    }

    /// Every worktree of which there is a record, in the order of their names.
    pub fn names(&self) -> Result<Vec<Name>, Failure> {
        let names = self.entries()?.into_iter().filter_map(|entry| {
            let stem = entry.strip_suffix(".json")?;
            (!stem.contains('.')).then(|| Name::of(stem))
        });
        Ok(names.collect())
    }

    /// The names of everything in the folder, sorted.
    pub fn entries(&self) -> Result<Vec<String>, Failure> {
        let listed = match fs::read_dir(&self.folder) {
            Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            listed => listed.map_err(Failure::file("read", &self.folder))?,
        };
        let names = listed
            .filter_map(Result::ok)
            .filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        Ok(names)
    }

    fn file(&self, name: &Name, kind: &str) -> PathBuf {
        self.folder.join(format!("{}.{kind}", name.as_str()))
    }
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, Failure> {
    match fs::read(path) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(Failure::file("read", path)(cause)),
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|_| damaged(path)),
    }
}

fn write(path: &Path, record: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string(record)
        .map_err(|cause| Failure::bug(format!("a record cannot be written ({cause})")))?;
    write_durably(path, &text).map_err(Failure::file("write to", path))
}

fn remove(path: &Path) -> Result<(), Failure> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != ErrorKind::NotFound => {
            Err(Failure::file("remove", path)(cause))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

fn damaged(path: &Path) -> Failure {
    Failure::store(format!("cannot read {}", path.display()))
        .hint("the work is kept under refs/gatewright; `git for-each-ref refs/gatewright` lists it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_written_and_read_in_the_bytes_of_earlier_versions() {
        let folder = tempfile::tempdir().unwrap();
        let records = Records::new(folder.path().to_owned());
        let name = Name::of("one");
        let beginning = Beginning {
            called: "One \"x\"".to_owned(),
            base: "b1".to_owned(),
            id: "w1".to_owned(),
            inside: String::new(),
            carried: vec!["a".to_owned(), "b/c".to_owned()],
        };
        records.keep_beginning(&name, &beginning).unwrap();
        assert_eq!(
            fs::read_to_string(records.file(&name, "json")).unwrap(),
            r#"{"called":"One \"x\"","base":"b1","id":"w1","inside":"","carried":["a","b/c"]}"#
        );
        assert_eq!(records.beginning(&name).unwrap(), Some(beginning));
        for (progress, word) in [
            (Progress::Writing, "writing"),
            (Progress::Undoing, "undoing"),
            (Progress::Merged, "merged"),
        ] {
            let merging = Merging {
                commit: "c1".to_owned(),
                before: "t1".to_owned(),
                after: "t2".to_owned(),
                progress,
            };
            records.keep_merging(&name, &merging).unwrap();
            assert_eq!(
                fs::read_to_string(records.file(&name, "merge.json")).unwrap(),
                format!(r#"{{"commit":"c1","before":"t1","after":"t2","progress":"{word}"}}"#)
            );
            assert_eq!(records.merging(&name).unwrap(), Some(merging));
        }
    }

    #[test]
    fn a_record_that_lacks_something_is_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let records = Records::new(folder.path().to_owned());
        let name = Name::of("one");
        for text in ["", "{}", r#"{"commit":"c","before":"t","after":"t"}"#] {
            write_durably(&records.file(&name, "merge.json"), text).unwrap();
            assert!(records.merging(&name).is_err(), "{text}");
        }
        let unknown = r#"{"commit":"c","before":"t","after":"t","progress":"later"}"#;
        write_durably(&records.file(&name, "merge.json"), unknown).unwrap();
        assert!(records.merging(&name).is_err());
        // A later version may say more.
        let more = r#"{"commit":"c","before":"t","after":"t","progress":"merged","more":1}"#;
        write_durably(&records.file(&name, "merge.json"), more).unwrap();
        assert!(records.merging(&name).is_ok());
    }
}
