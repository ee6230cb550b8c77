//! Reads the memory: straight from its text, because every end of an agent does, and a tree of values in
//! between takes several times as long.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::rc::Rc;

use engine::Time;
use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::{FileMark, Marks, ReadPosition};

/// The part that every look needs.
#[derive(Debug, Default)]
pub(super) struct Short {
    pub records: BTreeMap<String, ReadPosition>,
    pub processes: BTreeSet<String>,
    pub program: Option<String>,
    /// The marks of files, where they stood in this part.
    pub files: String,
}

/// What the first line says. Of one that we did not write so, what can be understood.
pub(super) fn short(line: &[u8]) -> Short {
    let short = serde_json::from_slice(line);
    short.unwrap_or_else(|_| from_values(&serde_json::from_slice(line).unwrap_or_default()))
}

/// The marks of files in this text, as far as they can be understood.
pub(super) fn files(text: &str) -> Marks {
    let marks: Result<BTreeMap<String, FileMark>, _> = serde_json::from_str(text);
    match marks {
        Ok(marks) => {
            let marks = marks.into_iter();
            marks.map(|(path, mark)| (path, Rc::new(mark))).collect()
        }
        Err(_) => files_from_values(&serde_json::from_str(text).unwrap_or_default()),
    }
}

impl<'de> Deserialize<'de> for Short {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(ShortVisitor)
    }
}

struct ShortVisitor;

impl<'de> Visitor<'de> for ShortVisitor {
    type Value = Short;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("what witnesses know")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<Short, M::Error> {
        let mut short = Short::default();
        while let Some(name) = members.next_key()? {
            match name {
                "records" => short.records = records(&members.next_value()?),
                "processes" => short.processes = members.next_value()?,
                "program" => short.program = members.next_value()?,
                "files" => short.files = members.next_value::<Value>()?.to_string(),
                _ => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        Ok(short)
    }
}

impl<'de> Deserialize<'de> for FileMark {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(MarkVisitor)
    }
}

struct MarkVisitor;

impl<'de> Visitor<'de> for MarkVisitor {
    type Value = FileMark;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a file as it was")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<FileMark, M::Error> {
        let (mut stamp, mut content, mut about) = (None, None, None);
        while let Some(name) = members.next_key()? {
            match name {
                "stamp" => stamp = Some(members.next_value()?),
                "content" => content = Some(members.next_value()?),
                "about" => about = Some(members.next_value()?),
                _ => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        Ok(FileMark {
            stamp: stamp.ok_or_else(|| M::Error::missing_field("stamp"))?,
            content: content.ok_or_else(|| M::Error::missing_field("content"))?,
            about: about.ok_or_else(|| M::Error::missing_field("about"))?,
        })
    }
}

/// The same of a line in which something is not as we write it: the rest of it still counts.
fn from_values(read: &Value) -> Short {
    let processes = read["processes"].as_array().into_iter().flatten();
    let processes = processes.filter_map(|value| value.as_str().map(str::to_owned));
    Short {
        records: records(&read["records"]),
        processes: processes.collect(),
        program: read["program"].as_str().map(str::to_owned),
        files: read["files"].to_string(),
    }
}

fn files_from_values(read: &Value) -> Marks {
    let files = object(read).filter_map(|(path, value)| {
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        let mark = FileMark {
            stamp: text("stamp")?,
            content: text("content")?,
            about: text("about")?,
        };
        Some((path.clone(), Rc::new(mark)))
    });
    files.collect()
}

fn records(value: &Value) -> BTreeMap<String, ReadPosition> {
    let records = object(value).map(|(path, value)| (path.clone(), place(value)));
    records.collect()
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

fn object(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}
