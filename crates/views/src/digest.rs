//! The digest of a run's journal: what views show of it, folded entry by entry.
//!
//! It is kept between two renderings, so that a view costs what has happened since the last one and not
//! the whole history.

mod cached_text;
mod item;
mod state_rows;
mod update;

use std::collections::BTreeMap;

use engine::{Entry, Pipeline, SessionId, StageName, Time, ViewFormat};

use crate::fact::AgentNames;
pub(crate) use item::{Item, ItemKind};
pub(crate) use state_rows::StateRows;

/// How many items of each list are kept; the journal has all.
const MOST_ITEMS: usize = 200;

/// How many of the stages that a run came through are kept.
const MOST_VISITED: usize = 50;

/// What is remembered of the entries so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalDigest {
    /// The last entry that was read.
    pub version: u64,
    place: Option<StageName>,
    /// Who is working.
    names: AgentNames,
    pub sessions: Vec<SessionId>,
    /// Nothing has happened since a person reset the run.
    pub was_reset: bool,
    /// The stages before the current one, the latest last; none twice in a row.
    pub visited: Vec<StageName>,
    /// When the run first came to a stage by its shown name, since it was last reset.
    pub reached: BTreeMap<String, Time>,
    /// The verdicts of stages, by their shown name.
    pub verdicts: BTreeMap<String, Verdict>,
    /// What led from stage to stage, each item as a line, where a view shows it.
    pub history: Vec<String>,
    /// The same with all that people look for, where a view shows it.
    pub log: Vec<String>,
    /// The history as `pipeline-state` shows it, where there is such a view.
    pub(crate) state_rows: StateRows,
    pub(crate) replies: KeptReplies,
}

/// What agents said last, as `pipeline-state` shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeptReplies {
    /// Which replies these are, where there are any.
    pub of: Option<u64>,
    pub text: String,
}

/// The verdicts of one stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Did the latest one pass?
    pub passed: bool,
    /// Failed ones since a person last continued the run.
    pub failed: u32,
}

impl JournalDigest {
    /// Reads what has happened since: whole decisions, in order. Returns the new lines of the log.
    pub fn update(&mut self, pipeline: &Pipeline, entries: &[(u64, &Entry)]) -> String {
        update::update(self, pipeline, entries)
    }
}

/// Does a view of this format show the history? A template that only mentions the word counts.
fn shows_history(format: &ViewFormat) -> bool {
    match format {
        ViewFormat::Template(template) => template.text.contains("history"),
        _ => false,
    }
}

fn shows_log(format: &ViewFormat) -> bool {
    match format {
        ViewFormat::AnsibleState => true,
        ViewFormat::Template(template) => template.text.contains("log"),
        _ => false,
    }
}
