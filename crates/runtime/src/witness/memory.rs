//! How far each witness was read, in a file beside the store. Without it everything is read again.

mod reading;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use engine::{Process, Time};
use evidence::small_file;
use serde_json::{Map, Value, json};

use crate::state;

/// More calls than this are not waited for at once.
const MOST_OPEN: usize = 1000;

pub(super) struct Memory {
    path: PathBuf,
    /// What the file holds.
    read: Known,
    known: Known,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// By the path of the record.
    pub records: BTreeMap<String, ReadPosition>,
    /// By the path of the file.
    pub files: BTreeMap<String, Rc<FileMark>>,
    /// The processes that are known, by number and start time.
    processes: BTreeSet<String>,
    /// The numbers of processes that were found outside of the session, sorted.
    pub others: Vec<u32>,
}

impl Deref for Memory {
    type Target = Known;

    fn deref(&self) -> &Known {
        &self.known
    }
}

impl DerefMut for Memory {
    fn deref_mut(&mut self) -> &mut Known {
        &mut self.known
    }
}

/// A file as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileMark {
    /// Its size, times and number: a file with the same ones was not touched.
    pub stamp: String,
    /// The hash of what it holds, where it was read.
    pub content: String,
    /// What it is to the run; nothing for what is of no interest.
    pub about: String,
}

impl FileMark {
    /// Is it the same file, or does it hold the same?
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.stamp == other.stamp || (self.content == other.content && !self.content.is_empty())
    }
}

/// How far a record was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReadPosition {
    pub offset: u64,
    /// The latest call in it.
    pub through: Time,
    /// Calls without a result: the tool, and when it was called.
    pub open: BTreeMap<String, (String, Time)>,
}

impl Default for ReadPosition {
    fn default() -> Self {
        Self {
            offset: 0,
            through: Time(0),
            open: BTreeMap::new(),
        }
    }
}

pub(super) fn make(folder: &Path) -> io::Result<()> {
    state::make_folder(folder)
}

impl Memory {
    pub(super) fn read(folder: &Path) -> Self {
        let path = folder.join("memory.json");
        let read = small_file::read(&path).unwrap_or_default();
        let known = reading::known(&read);
        Self {
            read: known.clone(),
            known,
            path,
        }
    }

    /// Was this process not known before?
    pub(super) fn learn(&mut self, process: &Process) -> bool {
        let Process { id, started } = process;
        self.processes.insert(format!("{id}-{started}"))
    }

    /// Saves what has changed. A failure costs only time: the same is read again.
    pub(super) fn write(&self) {
        if self.known == self.read {
            return;
        }
        let records = self.records.iter();
        let records: Map<String, Value> = records
            .map(|(path, place)| (path.clone(), place_json(place)))
            .collect();
        let files = self.files.iter();
        let files: Map<String, Value> = files
            .map(|(path, mark)| (path.clone(), mark_json(mark)))
            .collect();
        let others: Vec<String> = self.others.iter().map(u32::to_string).collect();
        let value = json!({
            "records": records,
            "files": files,
            "processes": self.processes,
            "others": others.join(" "),
        });
        let _ = state::write_quickly(&self.path, &value.to_string());
    }
}

fn mark_json(mark: &FileMark) -> Value {
    let FileMark {
        stamp,
        content,
        about,
    } = mark;
    json!({ "stamp": stamp, "content": content, "about": about })
}

fn place_json(place: &ReadPosition) -> Value {
    let open = place.open.iter().take(MOST_OPEN);
    let open: Map<String, Value> = open
        .map(|(call, (tool, at))| (call.clone(), json!({ "tool": tool, "at": at.0 })))
        .collect();
    json!({ "offset": place.offset, "through": place.through.0, "open": open })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_was_read_is_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let mut memory = Memory::read(folder.path());
        assert!(memory.records.is_empty());
        let place = ReadPosition {
            offset: 7,
            through: Time(5),
            open: BTreeMap::from([("t1".to_owned(), ("Bash".to_owned(), Time(5)))]),
        };
        memory.records.insert("/a".to_owned(), place);
        memory.others.extend([1, 22, 333]);
        memory.learn(&Process { id: 7, started: 8 });
        let mark = FileMark {
            stamp: "1-2".to_owned(),
            content: "c".to_owned(),
            about: "a \"file\"".to_owned(),
        };
        memory.files.insert("/\u{e9}\n".to_owned(), Rc::new(mark));
        memory.write();
        assert_eq!(*Memory::read(folder.path()), *memory);
        // Of a file that somebody changed, what is still as we write it counts.
        let path = folder.path().join("memory.json");
        let text = fs::read_to_string(&path).unwrap();
        let with_another = text.replace(r#""files":{"#, r#""files":{"/b":{"stamp":7},"#);
        assert_ne!(with_another, text);
        fs::write(&path, with_another).unwrap();
        assert_eq!(*Memory::read(folder.path()), *memory);
        for text in ["", "{", "[]", r#"{"records":7}"#, r#"{"records":{"/a":7}}"#] {
            fs::write(folder.path().join("memory.json"), text).unwrap();
            let records = Memory::read(folder.path()).records.clone();
            assert!(
                records
                    .values()
                    .all(|place| *place == ReadPosition::default())
            );
        }
    }
}
