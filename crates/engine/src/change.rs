//! The change of a run, as Gatewright measured it, and what a route made of it.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::names::{ParamName, StageName};
use crate::outcome::Outcome;

/// What has changed in the tree since the run began.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    Seen {
        files: u32,
        lines: LineCount,
        /// The paths that differ, sorted.
        paths: Vec<String>,
    },
    /// It could not be measured.
    Unseen { reason: String },
}

/// The lines that were added and removed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LineCount {
    Counted(u32),
    /// No rule asks for them.
    Unasked,
    Unseen(String),
}

impl Change {
    /// More changed paths than this are not listed: the change counts as not measured.
    pub const MOST_PATHS: usize = 200;

    /// A tree that is as it was when the run began.
    pub fn none() -> Self {
        Self::Seen {
            files: 0,
            lines: LineCount::Counted(0),
            paths: Vec::new(),
        }
    }

    /// The change of these paths, which are not too many.
    pub fn of(paths: Vec<String>, lines: LineCount) -> Self {
        match u32::try_from(paths.len()) {
            Ok(files) if paths.len() <= Self::MOST_PATHS => Self::Seen {
                files,
                lines,
                paths,
            },
            Ok(_) | Err(_) => Self::Unseen {
                reason: format!("more than {} files changed", Self::MOST_PATHS),
            },
        }
    }
}

/// What a route came to, and the evidence for it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Routed {
    pub route: StageName,
    /// The rule that holds, or `otherwise`.
    pub outcome: Outcome,
    /// Where `otherwise` leads.
    pub longer: StageName,
    /// Absent where no rule that could hold asks for it.
    pub change: Option<Change>,
    /// The parameters that its rules ask for, with their values.
    pub params: BTreeMap<ParamName, String>,
    /// The stages whose verdict its rules ask for, with the outcome of each.
    pub verdicts: BTreeMap<StageName, String>,
    /// Why each rule before the one that holds does not.
    pub unmet: Vec<Unmet>,
}

/// Why a rule does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unmet {
    pub rule: Outcome,
    pub because: Miss,
}

/// The first condition of a rule that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Miss {
    Param {
        param: ParamName,
    },
    Verdict {
        stage: StageName,
    },
    Files {
        most: u32,
    },
    Lines {
        most: u32,
    },
    /// This path is not covered by `within`.
    Outside {
        path: String,
    },
    /// This path is covered by `avoids`.
    Forbidden {
        path: String,
    },
    /// The evidence could not be looked at.
    Unseen {
        reason: String,
    },
}

/// A rule of a route by which the run goes a shorter way. The engine checks it again before each gate.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HeldRoute {
    pub outcome: Outcome,
    /// The longer way. A run that arrives there is on it, and the rule no longer counts.
    pub longer: StageName,
}
