//! A change outside a worker's folder while it worked: refs of the repository, files of the project,
//! files elsewhere.

use alloc::string::String;
use alloc::vec::Vec;

use crate::names::DispatchId;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutsideChange {
    /// The work in whose time it happened.
    pub during: Vec<DispatchId>,
    pub author: Author,
    pub what: Outside,
}

/// Who made the change, as far as there is evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// A worker: its own git commands, its own checkout or its own tool calls show it.
    Worker,
    /// A worker, a person or another program.
    Unknown,
}

impl Author {
    pub fn word(self) -> &'static str {
        match self {
            Self::Worker => "worker",
            Self::Unknown => "unknown",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outside {
    Ref(MovedRef),
    /// Files of the project, past the worker's own worktree.
    Project {
        paths: Vec<String>,
    },
    /// Files outside the project that a tool call of the worker was to write. Nobody refused it.
    Elsewhere {
        tool: String,
        paths: Vec<String>,
    },
}

/// A branch, a tag or the stash of the repository that is not where it was before the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedRef {
    pub name: String,
    /// `None` if there was none.
    pub before: Option<String>,
    /// `None` if it was deleted.
    pub after: Option<String>,
    pub handling: RefHandling,
    /// The ref that keeps the value that the person's ref does not have any more.
    pub kept: Option<String>,
}

/// What was done about a moved ref.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefHandling {
    PutBack,
    /// It stays as it is.
    Left,
    /// It could not be put back: its value is gone, or it has moved once more.
    Failed,
}

impl RefHandling {
    pub fn word(self) -> &'static str {
        match self {
            Self::PutBack => "put_back",
            Self::Left => "left",
            Self::Failed => "failed",
        }
    }
}
