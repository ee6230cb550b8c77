//! What the file of a view is rendered from.

use engine::{Entry, Hash, Pipeline, Run, ViewFormat};

use crate::digest::JournalDigest;
use crate::template::Template;

pub struct ViewInput<'a> {
    pub pipeline: &'a Pipeline,
    pub run: &'a Run,
    /// The digest of the journal.
    pub digest: &'a JournalDigest,
    /// The journal with the numbers of its entries, where a view `needs_journal`: its beginning, and the
    /// newest of what came after.
    pub entries: &'a [(u64, &'a Entry)],
    pub project: &'a str,
    /// The captured content of this hash, if it is there and is text.
    pub contents: &'a dyn Fn(&Hash) -> Option<String>,
    /// The template of a format that comes with the program.
    pub builtin: &'a dyn Fn(&ViewFormat) -> Option<Template<'static>>,
}
