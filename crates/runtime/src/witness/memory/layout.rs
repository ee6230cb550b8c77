//! How the memory stands in its file. Most looks need little of it, so each part can be found without reading the
//! others: a line of JSON, the marks of files as another, their glance as a third, and the processes as numbers.

use std::cell::OnceCell;
use std::path::PathBuf;

use evidence::process::ListedProcess;
use serde_json::{Map, Value, json};

use super::reading::{self, Short};
use super::{Changed, FileMark, KnownFiles, Memory, ReadPosition};

/// More calls than this are not waited for at once.
const MOST_OPEN: usize = 1000;

/// The bytes of a process: its id, and the number of its entry.
const ID: usize = size_of::<u32>();
const PROCESS: usize = ID + size_of::<u64>();

/// The memory in these bytes, and how many of them stand before the processes, where they are as we write them.
pub(super) fn read(path: PathBuf, bytes: &[u8]) -> (Memory, Option<usize>) {
    let mut lines = bytes.splitn(4, |byte| *byte == b'\n');
    let first = lines.next().unwrap_or_default();
    let Short {
        records,
        processes,
        program,
        files,
    } = reading::short(first);
    let parts = (lines.next(), lines.next(), lines.next());
    let ((marks, glance, others), length) = match parts {
        (Some(marks), Some(glance), Some(others)) => {
            ((marks, glance, others), Some(bytes.len() - others.len()))
        }
        // It was written before there were parts, or not to its end.
        (marks, ..) => (
            (
                marks.unwrap_or(files.as_bytes()),
                [].as_slice(),
                [].as_slice(),
            ),
            None,
        ),
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let files = KnownFiles {
        glance: text(glance),
        program,
        text: text(marks),
        marks: OnceCell::new(),
    };
    let memory = Memory {
        path,
        file: None,
        records,
        processes,
        files,
        others: listed(others),
        changed: Changed::Nothing,
    };
    (memory, length)
}

pub(super) fn bytes(memory: &Memory) -> Vec<u8> {
    let records = memory.records.iter();
    let records: Map<String, Value> = records
        .map(|(path, place)| (path.clone(), place_json(place)))
        .collect();
    let files = memory.files().iter();
    let files: Map<String, Value> = files
        .map(|(path, mark)| (path.clone(), mark_json(mark)))
        .collect();
    let short = json!({
        "records": records,
        "processes": memory.processes,
        "program": memory.files.program,
    });
    let glance = &memory.files.glance;
    let text = format!("{short}\n{}\n{glance}\n", Value::Object(files));
    [text.into_bytes(), others(&memory.others)].concat()
}

pub(super) fn others(others: &[ListedProcess]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(others.len() * PROCESS);
    for ListedProcess { id, entry } in others {
        bytes.extend_from_slice(&id.to_le_bytes());
        bytes.extend_from_slice(&entry.to_le_bytes());
    }
    bytes
}

fn listed(bytes: &[u8]) -> Vec<ListedProcess> {
    let numbers = bytes.chunks_exact(PROCESS).filter_map(|process| {
        let (id, entry) = process.split_first_chunk::<ID>()?;
        Some(ListedProcess {
            id: u32::from_le_bytes(*id),
            entry: u64::from_le_bytes(entry.try_into().ok()?),
        })
    });
    let mut listed: Vec<ListedProcess> = numbers.collect();
    if !listed.is_sorted() {
        listed.sort_unstable();
    }
    listed
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
