//! Stages: where the run is, where it was, and what there is.

use engine::{AgentName, Stage, StageName, Work, Worker};
use serde_json::{Map, Value, json};

use crate::time::rfc3339;
use crate::view_input::ViewInput;
use crate::words::{self, shown};

/// Every stage by its name, in the order of the definition.
pub(super) fn stages(input: &ViewInput<'_>) -> Value {
    let stages = input.pipeline.definition().stages.iter();
    let stages = stages.map(|known| (known.name.to_string(), stage(input, &known.name)));
    Value::Object(stages.collect::<Map<_, _>>())
}

/// The stages before the current one, the latest last.
pub(super) fn visited(input: &ViewInput<'_>) -> Value {
    let visited = input.digest.visited.iter();
    visited.map(|name| stage(input, name)).collect()
}

pub(super) fn stage(input: &ViewInput<'_>, name: &StageName) -> Value {
    let known = input.pipeline.stage(name);
    let shown = shown(input.pipeline, name);
    let reached = input.digest.reached.get(shown);
    let end = known.and_then(|stage| stage.work.as_end());
    let end = end.map(|end| words::end(end.end));
    json!({
        "name": name.as_str(),
        "shown": shown,
        "kind": known.map(words::stage_kind),
        "end": end,
        "agent": known.and_then(owner).map(AgentName::as_str),
        "reached_at": reached.map(|at| rfc3339(*at)),
    })
}

/// The agent that works in a stage, or owns what is reviewed there.
pub(super) fn owner(stage: &Stage) -> Option<&AgentName> {
    match &stage.work {
        Work::Agent(work) => match &work.worker {
            Worker::Agent(agent) => Some(agent),
            Worker::Session => None,
        },
        Work::Review(work) => Some(&work.owner),
        Work::Open(_)
        | Work::Check(_)
        | Work::Ask(_)
        | Work::Steps(_)
        | Work::Route(_)
        | Work::End(_) => None,
    }
}
