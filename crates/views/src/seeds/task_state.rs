//! `task-state`: where the run is, by one word of the ten that such a state has.

use engine::{End, Pipeline, StageName, Status, ViewFormat, Work};
use serde_json::json;

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
        Status::Running if material.chronicle.was_reset => IDLE,
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

/// The state before this one.
fn previous<'a>(material: &'a Material<'_>, state: &str) -> &'a str {
    let mut words = material.chronicle.words.iter().rev();
    let before = words.find(|word| *word != state);
    before.map_or(IDLE, String::as_str)
}

/// What a stage is called while the run is there and nothing keeps it.
pub fn word<'a>(pipeline: &'a Pipeline, name: &'a StageName) -> &'a str {
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
