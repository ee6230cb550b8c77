//! The journal: turns a decision into lines of the chain and a new state, the same in every
//! backend.

use engine::{Damage, Decision, Entry, Hash, Run, RunId};

use crate::chain::{self, Link, Tip, content_hash};
use crate::error::Error;
use crate::key::Key;
use crate::line::Line;
use crate::record;
use crate::redaction::redact;
use crate::request::{Content, NewRun};

/// What a decision adds to a run.
#[derive(Debug)]
pub struct Addition {
    pub run: Run,
    pub lines: Vec<Line>,
    pub tip: Tip,
    /// Every hash in the new entries: the run holds the contents among them.
    pub named: Vec<Hash>,
}

/// The first entries of a new run. Nothing is stored yet.
pub fn begin(new: &NewRun<'_>, decision: &Decision) -> Result<Addition, Error> {
    let mut entries = decision.entries.clone();
    let named = redact(&mut entries, new.secrets);
    let run = fold(None, &entries).map_err(|source| Error::NotABeginning { source })?;
    let found = new.files.hash();
    if run.definition != found {
        return Err(Error::WrongHash {
            named: run.definition,
            found,
        });
    }
    check_contents(new.contents)?;
    let tip = Tip {
        version: 0,
        head: chain::root(&run.id),
    };
    Ok(addition(
        run,
        tip,
        new.key,
        Redacted {
            entries: &entries,
            named,
        },
    ))
}

/// What the decision adds after `tip`. Redacts the entries in place, so that callers see what was
/// stored.
pub fn append(
    run: Run,
    tip: Tip,
    key: Option<&Key>,
    secrets: &[String],
    decision: &mut Decision,
) -> Result<Addition, Error> {
    let id = run.id.clone();
    let named = redact(&mut decision.entries, secrets);
    let run =
        fold(Some(run), &decision.entries).map_err(|source| Error::Unfit { run: id, source })?;
    let redacted = Redacted {
        entries: &decision.entries,
        named,
    };
    Ok(addition(run, tip, key, redacted))
}

/// Content is stored by its hash; a wrong hash is refused.
pub fn check_contents(contents: &[Content<'_>]) -> Result<(), Error> {
    for Content { hash, bytes } in contents {
        let found = content_hash(bytes);
        if found != *hash {
            return Err(Error::WrongHash {
                named: *hash,
                found,
            });
        }
    }
    Ok(())
}

fn fold(run: Option<Run>, entries: &[Entry]) -> Result<Run, Damage> {
    let folded = entries
        .iter()
        .try_fold(run, |run, entry| engine::apply(run, entry).map(Some))?;
    folded.ok_or_else(|| Damage {
        what: "it has no entries".to_owned(),
    })
}

/// Redacted entries, and every hash in them.
struct Redacted<'a> {
    entries: &'a [Entry],
    named: Vec<Hash>,
}

fn addition(run: Run, tip: Tip, key: Option<&Key>, redacted: Redacted<'_>) -> Addition {
    let lines = lines(&run.id, tip, key, redacted.entries);
    let tip = lines.last().map_or(tip, |last| Tip {
        version: last.number,
        head: last.hash,
    });
    Addition {
        run,
        lines,
        tip,
        named: redacted.named,
    }
}

/// The first line of a decision has the key.
fn lines(run: &RunId, tip: Tip, key: Option<&Key>, entries: &[Entry]) -> Vec<Line> {
    let decision = tip.version + 1;
    let mut previous = tip.head;
    let line = |(number, entry): (u64, &Entry)| {
        let key = key.filter(|_| number == decision);
        let text = record::entry_to_json(entry);
        let link = Link {
            previous,
            run,
            number,
            decision,
            key,
        };
        let hash = link.hash(text.as_bytes());
        let line = Line {
            number,
            decision,
            key: key.cloned(),
            text,
            previous,
            hash,
        };
        previous = hash;
        line
    };
    (decision..).zip(entries).map(line).collect()
}
