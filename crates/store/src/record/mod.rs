//! Stored bytes: the only place that knows how entries, runs and definitions are encoded.
//!
//! Entries are JSON lines that must stay readable for ever. States and compiled definitions are
//! caches in a compact binary form, which are recreated if their format differs.

mod binary;
mod cache;
mod checksum;
mod definition;
mod entry;
mod host;
mod json;
mod listing;
mod names;
mod plain;
mod run;
mod stage;
mod summary;
#[cfg(test)]
mod tests;

use std::fmt;

use engine::{Entry, Hash};
use serde_json::Value;

use binary::Input;
pub(crate) use cache::no_cache;
pub use cache::{
    Cached, RunOrigin, compiled_from_bytes, compiled_to_bytes, state_from_bytes, state_to_bytes,
};
pub(crate) use summary::{driver_from_word, driver_to_word, status_from_words, status_to_words};

/// A value that can be encoded and decoded, in both formats.
trait Record: Sized {
    fn to_json(&self, out: &mut String);
    fn from_json(value: Value) -> Result<Self, Unreadable>;
    fn to_bytes(&self, out: &mut Vec<u8>);
    fn from_bytes(input: &mut Input<'_>) -> Result<Self, Unreadable>;

    /// Passes every free text and every hash inside to the visitor.
    fn visit(&mut self, visitor: &mut dyn Visitor);

    /// The default value of a missing JSON field, if it has one. A field with this value is not
    /// written, so that later versions can add fields to old lines.
    fn left_out() -> Option<Self> {
        None
    }

    fn is_left_out(&self) -> bool {
        false
    }
}

/// Visits the values inside a record.
trait Visitor {
    fn text(&mut self, _text: &mut String) {}
    fn hash(&mut self, _hash: Hash) {}
}

/// Why stored bytes are unreadable, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    place: Vec<String>,
    reason: String,
}

impl Unreadable {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self {
            place: Vec::new(),
            reason: reason.into(),
        }
    }

    /// The same error, with the name of the outer field.
    fn inside(mut self, field: &str) -> Self {
        self.place.insert(0, field.to_owned());
        self
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place.as_slice() {
            [] => write!(f, "{}", self.reason),
            place => write!(f, "`{}`: {}", place.join("."), self.reason),
        }
    }
}

impl std::error::Error for Unreadable {}

/// One line of a journal, as it is hashed and stored.
pub fn entry_to_json(entry: &Entry) -> String {
    let mut line = String::with_capacity(256);
    entry.to_json(&mut line);
    line
}

/// Reads one line of a journal. Anything unknown to this version is an error.
pub fn entry_from_json(line: &str) -> Result<Entry, Unreadable> {
    let value = serde_json::from_str(line)
        .map_err(|error| Unreadable::new(format!("not JSON: {error}")))?;
    Entry::from_json(value)
}

/// Every hash in the entry: contents, trees and its definition.
pub fn hashes(entry: &Entry) -> Vec<Hash> {
    struct HashCollector(Vec<Hash>);
    impl Visitor for HashCollector {
        fn hash(&mut self, hash: Hash) {
            self.0.push(hash);
        }
    }
    let mut collector = HashCollector(Vec::new());
    entry.clone().visit(&mut collector);
    collector.0.sort_unstable();
    collector.0.dedup();
    collector.0
}

/// Changes every free text of the entry, and collects every hash in it.
pub(crate) fn map_texts(entry: &mut Entry, named: &mut Vec<Hash>, change: impl FnMut(&mut String)) {
    struct TextChanger<'n, F>(F, &'n mut Vec<Hash>);
    impl<F: FnMut(&mut String)> Visitor for TextChanger<'_, F> {
        fn text(&mut self, text: &mut String) {
            (self.0)(text);
        }

        fn hash(&mut self, hash: Hash) {
            self.1.push(hash);
        }
    }
    entry.visit(&mut TextChanger(change, named));
}
