//! `task-state`: where the run is, by one word of the ten that such a state has.

use engine::{End, Fact, Pipeline, StageName, Status, ViewFormat, Work};
use serde_json::json;

use super::journey::passages;
use super::shown;
use crate::file::Material;
use crate::json::json_text;
use crate::time::rfc3339;

const IDLE: &str = "idle";
const COMPLETE: &str = "complete";
const ERROR: &str = "error";
const NEEDS_USER_INPUT: &str = "needs_user_input";

pub fn task_state(material: &Material<'_>) -> String {
    let run = material.run;
    let status = engine::status(material.pipeline, run);
    let state = match &status {
        Status::Running if was_reset(material) => IDLE,
        Status::Running => shown(material.pipeline, &run.position.stage),
        Status::Waiting(_) => NEEDS_USER_INPUT,
        Status::Completed => COMPLETE,
        Status::Failed => ERROR,
        Status::Queued | Status::Cancelled => IDLE,
    };
    let reason = match &status {
        Status::Waiting(reason) => Some(reason),
        _ => None,
    };
    json_text(&json!({
        "state": state,
        "previous": previous(material, state),
        "task_id": run.id.as_str(),
        "task": run.task,
        "iteration": iteration(material),
        "reason": reason,
        "started_at": rfc3339(run.started_at),
        "updated_at": rfc3339(run.touched_at),
    }))
}

/// Nothing was done since a person set the run back.
fn was_reset(material: &Material<'_>) -> bool {
    let facts = material.entries.iter().rev().map(|(_, entry)| &entry.fact);
    let mut telling = facts.filter_map(|fact| match fact {
        Fact::Reset { .. } => Some(true),
        Fact::Admitted { .. } | Fact::Moved(_) | Fact::Restored { .. } => Some(false),
        _ => None,
    });
    telling.next().unwrap_or(false)
}

/// The state before this one.
fn previous(material: &Material<'_>, state: &str) -> String {
    let passages = passages(material.entries);
    let moves = passages.iter().rev().filter(|it| it.to.is_some());
    let mut words = moves.map(|passage| word(material.pipeline, passage.from));
    let before = words.find(|word| *word != state);
    before.unwrap_or(IDLE).to_owned()
}

fn word<'a>(pipeline: &'a Pipeline, name: &'a StageName) -> &'a str {
    match pipeline.stage(name).map(|stage| &stage.work) {
        Some(Work::Ask(_)) => NEEDS_USER_INPUT,
        Some(Work::End(end)) => match end.end {
            End::Completed => COMPLETE,
            End::Failed => ERROR,
            End::Cancelled => IDLE,
        },
        _ => shown(pipeline, name),
    }
}

/// The iteration of the loop, where a view shows one.
fn iteration(material: &Material<'_>) -> Option<u32> {
    let mut views = material.pipeline.definition().views.iter();
    views.find_map(|view| match &view.format {
        ViewFormat::LoopState(of) => {
            Some(material.run.counters.get(&of.counter).copied().unwrap_or(0))
        }
        _ => None,
    })
}
