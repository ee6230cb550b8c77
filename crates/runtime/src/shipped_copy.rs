//! A journal and its shipped copy: a program that rewrites the one cannot rewrite the other.

use std::collections::BTreeMap;

use engine::RunId;
use store::parts::Tip;
use store::{Adoption, Backend, Error, JournalCopies};

/// What the copy of a run says about its journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyReport {
    pub verdict: CopyVerdict,
    /// Another machine goes on with the run.
    pub adoption: Option<Adoption>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyVerdict {
    NotShipped,
    /// The first so many entries are those of the copy.
    Agrees {
        entries: u64,
    },
    /// The copy has another entry with this number.
    Rewritten {
        entry: u64,
    },
    /// The journal is shorter than its copy, which has so many entries.
    RolledBack {
        shipped: u64,
    },
}

impl CopyVerdict {
    /// Its word, which never changes.
    pub fn word(self) -> &'static str {
        match self {
            Self::NotShipped => "not shipped",
            Self::Agrees { .. } => "agrees",
            Self::Rewritten { .. } => "rewritten",
            Self::RolledBack { .. } => "rolled back",
        }
    }

    pub fn is_damage(self) -> bool {
        match self {
            Self::NotShipped | Self::Agrees { .. } => false,
            Self::Rewritten { .. } | Self::RolledBack { .. } => true,
        }
    }
}

/// Compares these runs with their copies. What cannot be read at home is left out: the chain tells of it.
pub fn compare(
    store: &dyn Backend,
    copies: &dyn JournalCopies,
    runs: &[RunId],
) -> Result<BTreeMap<RunId, CopyReport>, Error> {
    let mut reports = BTreeMap::new();
    for state in copies.states(runs)? {
        let verdict = match state.tip {
            None => Some(CopyVerdict::NotShipped),
            Some(tip) => judge(store, copies, &state.run, tip)?,
        };
        if let Some(verdict) = verdict {
            let adoption = state.adoption;
            reports.insert(state.run, CopyReport { verdict, adoption });
        }
    }
    Ok(reports)
}

/// Each hash covers all entries before it, so the last one of the copy tells about all.
fn judge(
    store: &dyn Backend,
    copies: &dyn JournalCopies,
    run: &RunId,
    tip: Tip,
) -> Result<Option<CopyVerdict>, Error> {
    let Ok(found) = store.journal(run, tip.version, 1) else {
        return Ok(None);
    };
    let shipped = tip.version;
    Ok(Some(match found.first() {
        None => CopyVerdict::RolledBack { shipped },
        Some(found) if found.hash == tip.head => CopyVerdict::Agrees { entries: shipped },
        Some(_) => CopyVerdict::Rewritten {
            entry: first_difference(store, copies, run)?.unwrap_or(shipped),
        },
    }))
}

/// The first entry that differs, where the copy may be read.
fn first_difference(
    store: &dyn Backend,
    copies: &dyn JournalCopies,
    run: &RunId,
) -> Result<Option<u64>, Error> {
    let hashes = match copies.hashes(run) {
        Err(Error::Database { .. }) => return Ok(None),
        hashes => hashes?,
    };
    let journal = store.journal(run, 1, hashes.len() as u64)?;
    let mut pairs = hashes.iter().zip(&journal);
    let differs = pairs.find(|(shipped, here)| **shipped != here.hash);
    Ok(differs.map(|(_, here)| here.number))
}
