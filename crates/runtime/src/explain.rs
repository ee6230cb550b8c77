//! One decision of a run, explained: the entries that belong to it, and the names that earlier ones give.

use engine::{Entry, RunId};
use store::{Backend, StoredEntry};
use views::AgentNames;
use views::history::HistoryView;
use views::why::WhyView;

use crate::failure::Failure;
use crate::workspace::Workspace;

/// How many entries before a decision we search for its workers and reviewers.
const BEFORE: u64 = 1_000;

/// No decision has more entries.
const LONGEST_DECISION: u64 = 2_000;

/// Why entry `asked` is there.
pub fn why(workspace: &Workspace<'_>, run: &RunId, asked: u64) -> Result<WhyView, Failure> {
    let (before, decision) = decision(workspace, run, asked)?;
    let known = before.iter().chain(&decision);
    let names = AgentNames::of(known.map(|stored| &stored.entry));
    let together: Vec<_> = numbered(&decision).collect();
    views::why(asked, &together, &names).ok_or_else(|| unknown(run, asked))
}

/// Entries from this number on. Earlier ones name the agents behind the numbers of dispatches.
pub fn history(
    workspace: &Workspace<'_>,
    run: &RunId,
    first: u64,
    limit: u64,
) -> Result<HistoryView, Failure> {
    let first = first.max(1);
    let entries = workspace.store.journal(run, first, limit)?;
    let from = first.saturating_sub(BEFORE).max(1);
    let before = workspace.store.journal(run, from, first - from)?;
    Ok(views::history_after(numbered(&before), numbered(&entries)))
}

pub fn numbered(entries: &[StoredEntry]) -> impl Iterator<Item = (u64, &Entry)> {
    entries.iter().map(|stored| (stored.number, &stored.entry))
}

fn unknown(run: &RunId, number: u64) -> Failure {
    store::Error::UnknownEntry {
        run: run.clone(),
        number,
    }
    .into()
}

/// The entries of the same decision, and some before them.
fn decision(
    workspace: &Workspace<'_>,
    run: &RunId,
    asked: u64,
) -> Result<(Vec<StoredEntry>, Vec<StoredEntry>), Failure> {
    let entry = workspace.store.journal(run, asked, 1)?;
    let entry = entry.first().filter(|entry| entry.number == asked);
    let first = entry.ok_or_else(|| unknown(run, asked))?.decision;
    let begin = first.saturating_sub(BEFORE).max(1);
    let before = workspace.store.journal(run, begin, first - begin)?;
    let mut together = workspace.store.journal(run, first, LONGEST_DECISION)?;
    together.retain(|stored| stored.decision == first);
    Ok((before, together))
}
