//! Reads the memory: straight from its text, because every end of an agent does, and a tree of values in
//! between takes several times as long.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use engine::Time;
use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::{FileMark, Known, ReadPosition};

/// What a file says. Of one that we did not write so, what can be understood.
pub(super) fn known(bytes: &[u8]) -> Known {
    let known = serde_json::from_slice(bytes);
    known.unwrap_or_else(|_| from_values(&serde_json::from_slice(bytes).unwrap_or_default()))
}

impl<'de> Deserialize<'de> for Known {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(KnownVisitor)
    }
}

struct KnownVisitor;

impl<'de> Visitor<'de> for KnownVisitor {
    type Value = Known;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("what witnesses know")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<Known, M::Error> {
        let mut known = Known::default();
        while let Some(name) = members.next_key()? {
            match name {
                "records" => known.records = records(&members.next_value()?),
                "files" => known.files = files(members.next_value()?),
                "processes" => known.processes = members.next_value()?,
                "others" => known.others = numbers(members.next_value()?),
                _ => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        Ok(known)
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

fn files(read: BTreeMap<String, FileMark>) -> BTreeMap<String, Rc<FileMark>> {
    let files = read.into_iter();
    files.map(|(path, mark)| (path, Rc::new(mark))).collect()
}

/// Numbers in one text: a list of so many values would take longer to read than all else.
fn numbers(text: &str) -> Vec<u32> {
    let words = text.as_bytes().split(|byte| *byte == b' ');
    words.filter_map(evidence::process::number).collect()
}

/// The same of a file in which something is not as we write it: the rest of it still counts.
fn from_values(read: &Value) -> Known {
    let files = object(&read["files"]).filter_map(|(path, value)| {
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        let mark = FileMark {
            stamp: text("stamp")?,
            content: text("content")?,
            about: text("about")?,
        };
        Some((path.clone(), Rc::new(mark)))
    });
    let processes = read["processes"].as_array().into_iter().flatten();
    let processes = processes.filter_map(|value| value.as_str().map(str::to_owned));
    Known {
        records: records(&read["records"]),
        files: files.collect(),
        processes: processes.collect(),
        others: numbers(read["others"].as_str().unwrap_or_default()),
    }
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
