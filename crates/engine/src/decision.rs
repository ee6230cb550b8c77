//! A decision: the engine's complete answer to one event.

use alloc::string::String;
use alloc::vec::Vec;

use crate::entry::Entry;
use crate::names::ArtifactName;
use crate::next::Next;
use crate::rule::Rule;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    pub reply: Reply,
    /// Empty when there is nothing to remember.
    pub entries: Vec<Entry>,
    /// The rule that decided.
    pub rule: Rule,
}

/// The answer to the cause of the event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    Allow,
    /// One line: the reason, and what may legally happen instead.
    Refuse(Refusal),
    /// The session may not stop yet.
    Hold(Refusal),
    /// Text for the session.
    Inject(String),
    /// It was done or recorded; the host needs no answer.
    Done,
}

impl Reply {
    /// Why it is refused, or why the session may not stop.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refuse(refusal) | Self::Hold(refusal) => Some(refusal),
            Self::Allow | Self::Inject(_) | Self::Done => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub rule: Rule,
    pub reason: String,
    pub next: Vec<Next>,
    /// A worker that asked continues its own work instead.
    pub own_work: bool,
    /// The artifact that the work lacks, where that is the reason.
    pub artifact: Option<ArtifactFault>,
}

/// An artifact that does not count, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtifactFault {
    pub artifact: ArtifactName,
    pub problem: ArtifactProblem,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArtifactProblem {
    Missing,
    Invalid,
}

impl Reply {
    /// The word for it in scenarios and in `--json`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Refuse(_) => "refuse",
            Self::Hold(_) => "hold",
            Self::Inject(_) => "inject",
            Self::Done => "done",
        }
    }
}
