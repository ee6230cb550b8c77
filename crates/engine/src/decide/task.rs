//! The task of a run that began with its session: what the person writes there before an agent works.

use alloc::format;
use alloc::string::{String, ToString as _};

use super::Draft;
use crate::definition::Begins;
use crate::entry::Fact;
use crate::rule::Rule;
use crate::stage::Work;

/// A run's state is read at every event, so the text is bounded. The host's own record has the whole.
const MOST_CHARACTERS: usize = 16_000;

/// A prompt before any work says what the run is for. What the person writes while agents work does
/// not: the session knows it and tells them.
pub(super) fn given(draft: &mut Draft<'_>, text: &str) {
    let begins_with_session = draft.pipeline.definition().begins == Begins::Session;
    let text = text.trim();
    if !begins_with_session || text.is_empty() || !draft.run.dispatches.is_empty() {
        return;
    }
    let run = &draft.run;
    let is_known = run.task_visit == Some(run.position.visit);
    let fact = if is_known {
        with(Some(&run.task), text).map(|task| Fact::TaskGiven { task })
    } else if is_at_start(draft) {
        with(None, text).map(|task| Fact::TaskGiven { task })
    } else if is_at_end(draft) {
        with(run.next_task.as_deref(), text).map(|task| Fact::NextTaskGiven { task })
    } else {
        None
    };
    if let Some(fact) = fact {
        draft.record(Rule::TaskGiven, fact);
    }
}

/// An agent starts where the run has ended: this is the next task, with no context of the last one.
pub(super) fn begin_next(draft: &mut Draft<'_>) {
    let run = &draft.run;
    let has_context = !run.artifacts.is_empty() || !run.approved.is_empty();
    if is_at_end(draft) && (has_context || run.next_task.is_some()) {
        let next = run.next_task.clone();
        let task = next.unwrap_or_else(|| run.task.clone());
        draft.record(Rule::TaskBegan, Fact::TaskBegan { task });
    }
}

fn is_at_start(draft: &Draft<'_>) -> bool {
    let start = draft
        .pipeline
        .definition()
        .start_with(&draft.run.given_steps);
    draft.run.position.stage == *start
}

fn is_at_end(draft: &Draft<'_>) -> bool {
    draft
        .stage()
        .is_some_and(|stage| matches!(stage.work, Work::End(_)))
}

/// The task with this added. `None` if that says nothing new.
fn with(known: Option<&str>, text: &str) -> Option<String> {
    let task = match known {
        Some(known) if known.contains(text) => return None,
        Some(known) => format!("{known}\n\n{text}"),
        None => text.to_string(),
    };
    let task = match task.char_indices().nth(MOST_CHARACTERS) {
        Some((at, _)) => format!("{}…", &task[..at]),
        None => task,
    };
    (known != Some(task.as_str())).then_some(task)
}
