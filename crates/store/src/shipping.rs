//! Shipping: the journal of a run is copied to a place that others look after, line by line.

use engine::{Hash, RunId};

use crate::chain::Tip;
use crate::error::Error;
use crate::files::Files;
use crate::line::Line;
use crate::stored::RunSummary;

/// The copies of one machine's journals.
///
/// A user who may only add can do all of this but `hashes`.
pub trait JournalCopies {
    /// Tells which run the next lines are about.
    fn announce(&self, announcement: &Announcement<'_>) -> Result<(), Error>;
    /// Adds a content that the next lines name. The same content again changes nothing.
    fn put_content(&self, bytes: &[u8]) -> Result<(), Error>;
    /// Adds lines that follow each other. The same lines again change nothing.
    fn add(&self, run: &RunId, lines: &[Line]) -> Result<Receipt, Error>;
    /// How far the copies of these runs are, one for each.
    fn states(&self, runs: &[RunId]) -> Result<Vec<CopyState>, Error>;
    /// The hashes of all lines of a copy, from the first on.
    fn hashes(&self, run: &RunId) -> Result<Vec<Hash>, Error>;
    /// Tells that this machine is there.
    fn sign(&self) -> Result<(), Error>;
    /// Tells how a run stands whose lines are there: for people who look, and no proof.
    fn tell(&self, run: &RunSummary) -> Result<(), Error>;
}

/// A guarded run of another machine, as that machine says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShippedSummary {
    /// The id and the name of the machine.
    pub machine: String,
    pub name: String,
    /// How long nothing was heard of it, in milliseconds.
    pub silent_ms: u64,
    /// Its project is that of the machine, after the machine's name.
    pub summary: RunSummary,
}

/// A run whose lines follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announcement<'a> {
    pub run: &'a RunId,
    /// Where the run is on its machine.
    pub project: &'a str,
    pub files: &'a Files,
}

/// What became of added lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Receipt {
    Stored,
    /// The run was not announced.
    Unknown,
    /// Nothing was stored: the copy ends before the first of these lines, with this one.
    Gap {
        last: u64,
    },
    /// Nothing was stored: the copy has another line with this number.
    Differs {
        at: u64,
    },
    /// Nothing was stored: another machine goes on with the run.
    Adopted(Adoption),
}

/// Another machine goes on with a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adoption {
    /// The name of the machine.
    pub by: String,
    pub person: String,
    /// The last entry that it took over.
    pub entry: u64,
}

/// How far the copy of a run is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyState {
    pub run: RunId,
    /// `None` if nothing was shipped.
    pub tip: Option<Tip>,
    pub adoption: Option<Adoption>,
}
