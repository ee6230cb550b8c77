//! What a store is asked to write: a new run, a decision about one, and what may be deleted.

use engine::{Definition, Hash, Run, RunId, Status, Time};

use crate::fence::Fence;
use crate::files::Files;
use crate::key::Key;

/// Bytes under their hash. Whoever made them has redacted them before hashing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content<'a> {
    pub hash: Hash,
    pub bytes: &'a [u8],
}

/// How a run stands, told from its state. The store keeps the answer for lists.
pub type StatusOf<'a> = &'a dyn Fn(&Run) -> Status;

/// What a run begins with, besides its first entries.
#[derive(Clone, Copy)]
pub struct NewRun<'a> {
    pub project: &'a str,
    pub worktree: &'a str,
    pub files: &'a Files,
    pub compiled: &'a Definition,
    pub key: Option<&'a Key>,
    pub contents: &'a [Content<'a>],
    /// Values that must not be stored, such as those of the environment's tokens.
    pub secrets: &'a [String],
    pub status: StatusOf<'a>,
}

/// What a write to a run is about.
#[derive(Clone, Copy)]
pub struct Commit<'a> {
    pub run: &'a RunId,
    /// The version that was looked at.
    pub seen: u64,
    pub key: Option<&'a Key>,
    pub contents: &'a [Content<'a>],
    /// The lease under which it is written, by whoever drives the run.
    pub fence: Option<Fence>,
    /// Values that must not be stored, such as those of the environment's tokens.
    pub secrets: &'a [String],
    pub status: StatusOf<'a>,
}

/// What may be deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collect {
    /// Runs that ended, and contents that nobody holds, from before this time.
    pub before: Time,
    /// Also give the freed room back to the disk, which rewrites the whole file.
    pub shrink: bool,
}
