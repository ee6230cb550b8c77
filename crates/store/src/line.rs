//! A line: one stored journal entry, with its position in the chain.

use engine::{Entry, Hash, RunId};

use crate::chain::Link;
use crate::error::Corruption;
use crate::key::Key;
use crate::record::{self, Unreadable};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub number: u64,
    pub decision: u64,
    pub key: Option<Key>,
    /// The entry as JSON.
    pub text: String,
    pub previous: Hash,
    pub hash: Hash,
}

impl Line {
    /// The hash that the line must have with this number.
    pub(crate) fn hash_as(&self, run: &RunId, number: u64, decision: u64) -> Hash {
        let (previous, key) = (self.previous, self.key.as_ref());
        Link {
            previous,
            run,
            number,
            decision,
            key,
        }
        .hash(self.text.as_bytes())
    }

    pub(crate) fn is_intact(&self, run: &RunId) -> bool {
        self.hash_as(run, self.number, self.decision) == self.hash
    }

    pub(crate) fn entry(&self) -> Result<Entry, Unreadable> {
        record::entry_from_json(&self.text)
    }

    /// The entry, after its hash is verified.
    pub fn into_stored(self, run: &RunId) -> Result<StoredEntry, Corruption> {
        if !self.is_intact(run) {
            return Err(Corruption(format!(
                "entry {} of run {run} was altered",
                self.number
            )));
        }
        let entry = self.entry().map_err(|fault| {
            Corruption(format!(
                "entry {} of run {run} cannot be read: {fault}",
                self.number
            ))
        })?;
        let Self {
            number,
            decision,
            key,
            previous,
            hash,
            ..
        } = self;
        Ok(StoredEntry {
            number,
            decision,
            key,
            entry,
            hash,
            previous,
        })
    }
}

/// An entry with its position in the journal and in the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEntry {
    /// From 1, without gaps.
    pub number: u64,
    /// The number of the first entry of the same decision.
    pub decision: u64,
    /// On the first entry of its decision.
    pub key: Option<Key>,
    pub entry: Entry,
    pub hash: Hash,
    pub previous: Hash,
}
