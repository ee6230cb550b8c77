//! The chronicle of a run: what the seeds' formats tell of its journal, folded entry by entry.
//!
//! It is kept between two renderings, so that a view costs what has happened since the last one and not
//! the whole history.

mod kept;
mod listener;
mod passage;

use std::collections::BTreeMap;

use engine::{Entry, Pipeline, SessionId, StageName, Time};

use crate::fact::Cast;
pub use passage::{By, Passage};

/// How many lines of each list are kept; the journal has all.
const MOST_LINES: usize = 200;

/// How many earlier states are kept.
const MOST_WORDS: usize = 8;

/// All that is remembered of the entries so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chronicle {
    /// The last entry that was heard.
    pub version: u64,
    place: Option<StageName>,
    /// Who is at work.
    cast: Cast,
    pub sessions: Vec<SessionId>,
    /// Nothing was done since a person set the run back.
    pub was_reset: bool,
    /// The states before this one by their words, the latest last; none twice in a row.
    pub words: Vec<String>,
    /// When the run first came to a stage by its shown name, since it was last set back.
    pub arrived: BTreeMap<String, Time>,
    pub validations: Validations,
    /// The history of agents, each item as a line of JSON, where a view shows it.
    pub history: Vec<String>,
    /// The way so far, line by line, where a view shows it.
    pub lines: Vec<String>,
}

/// What the validations said. Before the first one nothing has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validations {
    /// Failed ones since a person last let the run go on.
    pub failed: u32,
    pub passed: bool,
}

impl Default for Validations {
    fn default() -> Self {
        Self {
            failed: 0,
            passed: true,
        }
    }
}

impl Chronicle {
    /// Hears what has happened since: whole decisions, in order. Gives the lines that a log has of it.
    pub fn hear(&mut self, pipeline: &Pipeline, entries: &[(u64, &Entry)]) -> String {
        listener::hear(self, pipeline, entries)
    }
}
