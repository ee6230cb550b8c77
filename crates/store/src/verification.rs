//! Verification: recomputes a run, and locates differences.
//!
//! The chain is tamper-evident, no more: somebody who rewrites journal, state and head file
//! together leaves no trace here.

use std::fmt;

use engine::Run;

use crate::chain::Tip;

/// The result for one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verification {
    /// How many entries the journal has.
    pub entries: u64,
    pub intact: bool,
    /// In the order of the journal.
    pub faults: Vec<Fault>,
    /// The head file covers the entries up to this number; 0 if it covers none.
    pub anchored: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The entry at which it shows.
    pub number: u64,
    pub kind: FaultKind,
    pub detail: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    Altered,
    Removed,
    Reordered,
    /// The journal is shorter than it once was.
    Truncated,
    /// The journal does not end, or did not pass, where a head says.
    HeadMismatch,
    /// The stored state differs from the journal.
    StateMismatch,
    /// No rule of the pipeline gives this entry.
    Unfounded,
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Altered => "altered",
            Self::Removed => "removed",
            Self::Reordered => "reordered",
            Self::Truncated => "truncated",
            Self::HeadMismatch => "head mismatch",
            Self::StateMismatch => "state mismatch",
            Self::Unfounded => "unfounded",
        })
    }
}

/// The content of the head file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// It was never written, or not completely.
    Absent,
    Unreadable,
    At(Tip),
}

/// What is stored about a run besides its journal.
pub struct Snapshot {
    pub tip: Tip,
    /// The state, or why it cannot be read; `None` if another version of the program wrote it.
    pub state: Option<Result<Run, String>>,
}

/// A run of which only the head file is left.
pub(crate) fn vanished(anchored: u64) -> Verification {
    let detail = match anchored {
        0 => "the whole run is gone, and its head file cannot be read".to_owned(),
        _ => format!("the whole run is gone; it once had {anchored} entries"),
    };
    let fault = Fault {
        number: 1,
        kind: FaultKind::Truncated,
        detail,
    };
    Verification {
        entries: 0,
        intact: false,
        faults: vec![fault],
        anchored: 0,
    }
}
