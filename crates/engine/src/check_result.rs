//! What the commands of a check did, and what that means.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::names::Hash;

/// What one command of a check stage did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckResult {
    pub argv: Vec<String>,
    pub ended: CheckEnd,
    pub duration_ms: u64,
    /// The end of its output, redacted.
    pub tail: String,
    /// The output contains the stage's `fails_on`.
    pub matched_failure: bool,
    /// A text that the stage expects and that no command printed. Only the last command has it.
    pub lacks: Option<String>,
    /// The program, and what runs it where it is a script, as they were just before.
    pub programs: Vec<CheckedProgram>,
}

/// A program of a check, as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedProgram {
    pub path: String,
    /// What it holds; nothing where it could not be read.
    pub hash: Option<Hash>,
    pub place: ProgramPlace,
}

/// Who could have changed a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramPlace {
    /// Not the account that the agents have.
    System,
    /// The account, outside the project.
    Account,
    /// It is a file of the project.
    Project,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CheckEnd {
    Exit(i32),
    Signal(i32),
    TimedOut,
    /// It could not be started: an outside fault, no verdict on the work.
    CouldNotStart(String),
    /// The environment of the run is not as it was recorded, so nothing was run.
    EnvironmentLost(String),
    /// Nobody has accepted the program as it is, so nothing was run.
    ProgramUnaccepted(String),
}

/// The tree before and after a check: a result counts only when they are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeAround {
    pub before: Hash,
    pub after: Hash,
    /// The untracked files that the check itself made, with their content. They are in neither tree.
    pub made: BTreeMap<String, Hash>,
}

/// What the results of a check mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CheckVerdict {
    Passed,
    Failed,
    /// The tree changed while it ran, or it could not start: no verdict.
    Void,
}

impl CheckVerdict {
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Void => "void",
        }
    }
}
