//! Write requests to a store: a new run, a decision, and a deletion.

use engine::{Definition, Hash, Run, RunId, Status, Time};

use crate::fence::Fence;
use crate::files::Files;
use crate::key::Key;

/// Bytes with their hash. They were redacted before hashing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content<'a> {
    pub hash: Hash,
    pub bytes: &'a [u8],
}

/// Computes the status of a run from its state. The store keeps it for lists.
pub(crate) type StatusOf<'a> = &'a dyn Fn(&Run) -> Status;

/// A new run, besides its first entries.
#[derive(Clone, Copy)]
pub struct NewRun<'a> {
    pub project: &'a str,
    pub worktree: &'a str,
    pub files: &'a Files,
    pub compiled: &'a Definition,
    pub key: Option<&'a Key>,
    pub contents: &'a [Content<'a>],
    /// Values that must not be stored, such as tokens of the environment.
    pub secrets: &'a [String],
    pub status: StatusOf<'a>,
}

/// A write to a run.
#[derive(Clone, Copy)]
pub struct Commit<'a> {
    pub run: &'a RunId,
    /// The version that the caller read.
    pub seen: u64,
    pub key: Option<&'a Key>,
    pub contents: &'a [Content<'a>],
    /// The lease of the orchestrator that writes.
    pub fence: Option<Fence>,
    /// Values that must not be stored, such as tokens of the environment.
    pub secrets: &'a [String],
    pub status: StatusOf<'a>,
}

/// What may be deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collect<'a> {
    /// Runs that ended, and contents that nobody holds, before this time.
    pub before: Time,
    /// Runs that stay, although they ended before.
    pub keep: &'a [RunId],
    /// Also returns freed space to the disk, which rewrites the whole file.
    pub shrink: bool,
}
