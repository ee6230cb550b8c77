//! A decision: all that the engine says to one event.

use alloc::string::String;
use alloc::vec::Vec;

use crate::entry::Entry;
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

/// What goes back to whoever caused the event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    Allow,
    /// One line: the reason, and what may legally happen instead.
    Refuse(Refusal),
    /// The session may not stop yet.
    Hold(Refusal),
    /// Text for the session.
    Inject(String),
    /// It was done, or recorded; there is nothing to say to a host.
    Done,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub rule: Rule,
    pub reason: String,
    pub next: Vec<Next>,
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
