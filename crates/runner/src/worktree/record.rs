//! Records of a worktree and its merge, in small files next to its folder.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use runtime::failure::Failure;
use runtime::state::write_durably;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::folder_removal::{is_folder, open_folder};
use super::name::SafeName;

/// How the names of spares begin.
const SPARE: &str = ".spare-";

/// A prepared worktree. It is written when the worktree is complete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WorktreeRecord {
    /// The caller's name for it.
    pub called: String,
    /// The commit with the content that the worker started with.
    pub base: String,
    /// Git's id of the worktree.
    pub id: String,
    /// The run's folder inside the worktree; empty at its top.
    pub inside: String,
    /// Paths that are copied even if git ignores them, from the worktree's top.
    pub carried: Vec<String>,
    /// The boot of the machine in which its files were written, until they are on the disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsynced: Option<String>,
}

/// A merge that has started. Its two commits define everything that it writes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MergeRecord {
    /// The commit that is merged.
    pub commit: String,
    /// The content of the run's worktree before the merge.
    pub before: String,
    /// The content after the merge.
    pub after: String,
    pub progress: MergeState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum MergeState {
    Writing,
    /// Somebody changed a file meanwhile: the written files are restored.
    Undoing,
    Merged,
}

/// The folder with the worktrees and records of one run.
#[derive(Clone, Debug)]
pub(super) struct Records {
    folder: PathBuf,
}

impl Records {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where a worktree lies.
    pub(super) fn worktree(&self, name: &SafeName) -> PathBuf {
        self.folder.join(name.as_str())
    }

    /// What is known of the files of a worktree.
    pub(super) fn stamps(&self, name: &SafeName) -> PathBuf {
        self.file(name, "objects")
    }

    /// The same as git wrote the files, before anybody worked on them.
    pub(super) fn written(&self, name: &SafeName) -> PathBuf {
        self.file(name, "written")
    }

    /// Git's index from that moment.
    pub(super) fn index(&self, name: &SafeName) -> PathBuf {
        self.file(name, "index")
    }

    /// Where a spare lies. No worktree has a dot in its name.
    pub(super) fn spare(&self, number: &str) -> PathBuf {
        self.folder.join(format!("{SPARE}{number}"))
    }

    /// The folder of a spare, if this entry is one.
    pub(super) fn spare_folder(&self, entry: &str) -> Option<PathBuf> {
        let number = entry.strip_prefix(SPARE)?;
        let folder = self.spare(number);
        is_folder(&folder).then_some(folder)
    }

    pub(super) fn worktree_record(
        &self,
        name: &SafeName,
    ) -> Result<Option<WorktreeRecord>, Failure> {
        read(&self.file(name, "json"))
    }

    pub(super) fn write_worktree_record(
        &self,
        name: &SafeName,
        record: &WorktreeRecord,
    ) -> Result<(), Failure> {
        write(&self.file(name, "json"), record)
    }

    pub(super) fn merge_record(&self, name: &SafeName) -> Result<Option<MergeRecord>, Failure> {
        read(&self.file(name, "merge.json"))
    }

    pub(super) fn write_merge_record(
        &self,
        name: &SafeName,
        merging: &MergeRecord,
    ) -> Result<(), Failure> {
        write(&self.file(name, "merge.json"), merging)
    }

    pub(super) fn remove_merge_record(&self, name: &SafeName) -> Result<(), Failure> {
        remove(&self.file(name, "merge.json"))
    }

    /// Removes all records of a worktree. The record of the worktree itself goes last.
    pub(super) fn forget(&self, name: &SafeName) -> Result<(), Failure> {
        self.remove_merge_record(name)?;
        for file in [self.stamps(name), self.written(name), self.index(name)] {
            remove(&file)?;
        }
        remove(&self.file(name, "json"))
    }

    /// All worktrees with a record, sorted by name.
    pub(super) fn names(&self) -> Result<Vec<SafeName>, Failure> {
        let names = self.entries()?.into_iter().filter_map(|entry| {
            let stem = entry.strip_suffix(".json")?;
            (!stem.contains('.')).then(|| SafeName::of(stem))
        });
        Ok(names.collect())
    }

    /// The names of everything in the folder, sorted.
    pub(super) fn entries(&self) -> Result<Vec<String>, Failure> {
        let listed = match open_folder(&self.folder).and_then(|folder| folder.names()) {
            Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            listed => listed.map_err(Failure::file("read", &self.folder))?,
        };
        let names = listed.into_iter();
        let names = names.filter_map(|name| String::from_utf8(name).ok());
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        Ok(names)
    }

    fn file(&self, name: &SafeName, kind: &str) -> PathBuf {
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
        .map_err(|cause| Failure::bug(format!("cannot encode a record ({cause})")))?;
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
        let name = SafeName::of("one");
        let record = WorktreeRecord {
            called: "One \"x\"".to_owned(),
            base: "b1".to_owned(),
            id: "w1".to_owned(),
            inside: String::new(),
            carried: vec!["a".to_owned(), "b/c".to_owned()],
            unsynced: None,
        };
        records.write_worktree_record(&name, &record).unwrap();
        assert_eq!(
            fs::read_to_string(records.file(&name, "json")).unwrap(),
            r#"{"called":"One \"x\"","base":"b1","id":"w1","inside":"","carried":["a","b/c"]}"#
        );
        assert_eq!(records.worktree_record(&name).unwrap(), Some(record));
        for (progress, word) in [
            (MergeState::Writing, "writing"),
            (MergeState::Undoing, "undoing"),
            (MergeState::Merged, "merged"),
        ] {
            let merging = MergeRecord {
                commit: "c1".to_owned(),
                before: "t1".to_owned(),
                after: "t2".to_owned(),
                progress,
            };
            records.write_merge_record(&name, &merging).unwrap();
            assert_eq!(
                fs::read_to_string(records.file(&name, "merge.json")).unwrap(),
                format!(r#"{{"commit":"c1","before":"t1","after":"t2","progress":"{word}"}}"#)
            );
            assert_eq!(records.merge_record(&name).unwrap(), Some(merging));
        }
    }

    #[test]
    fn a_record_that_lacks_something_is_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let records = Records::new(folder.path().to_owned());
        let name = SafeName::of("one");
        for text in ["", "{}", r#"{"commit":"c","before":"t","after":"t"}"#] {
            write_durably(&records.file(&name, "merge.json"), text).unwrap();
            assert!(records.merge_record(&name).is_err(), "{text}");
        }
        let unknown = r#"{"commit":"c","before":"t","after":"t","progress":"later"}"#;
        write_durably(&records.file(&name, "merge.json"), unknown).unwrap();
        assert!(records.merge_record(&name).is_err());
        // A later version may say more.
        let more = r#"{"commit":"c","before":"t","after":"t","progress":"merged","more":1}"#;
        write_durably(&records.file(&name, "merge.json"), more).unwrap();
        assert!(records.merge_record(&name).is_ok());
    }
}
