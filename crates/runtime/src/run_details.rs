//! What a screen shows of one run beyond its status: its latest entries, its stages, its question, an artifact.

use engine::{Choice, Hash, Next, Outcome, Time};
use store::Backend as _;
use views::Untrusted;
use views::facts::SpineStage;
use views::history::HistoryView;

use crate::answers::CONTINUE;
use crate::explain;
use crate::facts::RunReader;
use crate::failure::Failure;
use crate::workspace::{OpenRun, Workspace, as_of};

/// The latest entries of a run, at most so many.
pub fn latest_entries(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    most: u64,
) -> Result<HistoryView, Failure> {
    let last = opened.stored.version;
    let first = (last + 1).saturating_sub(most).max(1);
    explain::history(workspace, &opened.run().id, first, last + 1 - first)
}

/// A stored content as text; nothing where the store does not have it.
pub fn content(workspace: &Workspace<'_>, hash: Hash) -> Result<Option<Untrusted>, Failure> {
    let bytes = workspace.store.content(hash)?;
    Ok(bytes.map(|bytes| Untrusted::new(String::from_utf8_lossy(&bytes))))
}

/// The stages of the run, as far as the reader has read its journal.
pub fn spine(opened: &OpenRun, reader: &RunReader, now: Time) -> Vec<SpineStage> {
    let run = as_of(&opened.pipeline, opened.run(), now);
    views::facts::spine(&opened.pipeline, &run, reader.timeline())
}

/// The words by which a person answers the question that waits for them.
pub fn choices(opened: &OpenRun, now: Time) -> Vec<Outcome> {
    let run = as_of(&opened.pipeline, opened.run(), now);
    let legal = engine::next(&opened.pipeline, &run);
    let choices = legal.into_iter().filter_map(|next| match next {
        Next::Answer { choices, .. } => Some(choices),
        Next::Decide { choices, .. } => {
            let goes_on = choices.contains(&Choice::Continue);
            goes_on.then(|| Outcome::parse(CONTINUE).into_iter().collect())
        }
        Next::Agent { .. }
        | Next::Session { .. }
        | Next::AnyOf { .. }
        | Next::Under { .. }
        | Next::Check { .. }
        | Next::Plan { .. }
        | Next::Route { .. }
        | Next::Answers { .. }
        | Next::Finish
        | Next::TakeUp
        | Next::Nothing => None,
    });
    choices.flatten().collect()
}
