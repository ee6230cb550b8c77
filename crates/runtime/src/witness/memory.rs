//! How far each witness was read, in a file beside the store. Without it everything is read again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::ops::{Deref, DerefMut};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

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
    pub files: BTreeMap<String, FileMark>,
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
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

impl Memory {
    pub(super) fn read(folder: &Path) -> Self {
        let path = folder.join("memory.json");
        let read = small_file::read(&path).ok();
        let read = read.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let read: Value = read.unwrap_or_default();
        let records = object(&read["records"]).map(|(path, value)| (path.clone(), place(value)));
        let files = object(&read["files"]).filter_map(|(path, value)| {
            let text = |name: &str| value[name].as_str().map(str::to_owned);
            let mark = FileMark {
                stamp: text("stamp")?,
                content: text("content")?,
                about: text("about")?,
            };
            Some((path.clone(), mark))
        });
        let known = Known {
            records: records.collect(),
            files: files.collect(),
            processes: texts(&read["processes"]).collect(),
            others: numbers(read["others"].as_str().unwrap_or_default()),
        };
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

fn object(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn texts(value: &Value) -> impl Iterator<Item = String> {
    let list = value.as_array().into_iter().flatten();
    list.filter_map(|value| value.as_str().map(str::to_owned))
}

/// Numbers in one text: a list of so many values would take longer to read than all else.
fn numbers(text: &str) -> Vec<u32> {
    text.split(' ')
        .filter_map(|word| word.parse().ok())
        .collect()
}

fn place(value: &Value) -> ReadPosition {
    let open = object(&value["open"]).filter_map(|(call, value)| {
        let tool = value["tool"].as_str()?.to_owned();
        Some((call.clone(), (tool, Time(value["at"].as_u64()?))))
    });
    ReadPosition {
        offset: value["offset"].as_u64().unwrap_or(0),
        through: Time(value["through"].as_u64().unwrap_or(0)),
        open: open.collect(),
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
        memory.write();
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
