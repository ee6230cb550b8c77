//! Notes in the journal that a person hears while a run is driven.

use engine::{Entry, Fact, Rule, RunId};
use runtime::failure::Failure;
use runtime::workspace::Workspace;
use store::{Backend as _, StoredEntry};
use views::AgentNames;

/// The notes among these entries, in words: changed views, and changes outside a worker's folder.
pub(crate) fn of(
    workspace: &Workspace<'_>,
    run: &RunId,
    entries: &[StoredEntry],
) -> Result<Vec<String>, Failure> {
    let noted: Vec<&Entry> = entries
        .iter()
        .map(|stored| &stored.entry)
        .filter(|entry| is_note(entry))
        .collect();
    let Some(last) = entries.last().filter(|_| !noted.is_empty()) else {
        return Ok(Vec::new());
    };
    let all = workspace.store.journal(run, 1, last.number)?;
    let names = AgentNames::of(all.iter().map(|stored| &stored.entry));
    let line = |entry: &Entry| views::entry_line(entry, &names);
    Ok(noted.into_iter().map(line).collect())
}

fn is_note(entry: &Entry) -> bool {
    matches!(
        (entry.rule, &entry.fact),
        (Rule::ViewChanged, Fact::Noted { .. }) | (_, Fact::ChangedOutside(_))
    )
}
