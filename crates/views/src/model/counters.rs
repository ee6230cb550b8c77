//! Counters, each with the loop that it counts.

use engine::{AgentName, CounterName, Pipeline, Run, Stage, Target, WorkerId};
use serde_json::{Map, Value, json};

use super::stages::{owner, stage};
use crate::view_input::ViewInput;

pub(super) fn counters(input: &ViewInput<'_>) -> Value {
    let counters = input.pipeline.definition().counters.keys();
    let counters = counters.map(|name| (name.to_string(), counter(input, name)));
    Value::Object(counters.collect::<Map<_, _>>())
}

fn counter(input: &ViewInput<'_>, name: &CounterName) -> Value {
    let (pipeline, run) = (input.pipeline, input.run);
    let first = first_stage(pipeline, name);
    let worker = first.and_then(owner).and_then(|owner| latest(run, owner));
    json!({
        "value": run.counters.get(name).copied().unwrap_or(0),
        "limit": engine::counter_limit(pipeline, run, name),
        "stage": first.map(|first| stage(input, &first.name)),
        "worker": worker.map(WorkerId::as_str),
    })
}

/// Where the loop starts: the target of the edges that count.
fn first_stage<'a>(pipeline: &'a Pipeline, counter: &CounterName) -> Option<&'a Stage> {
    let edges = pipeline.definition().stages.iter().flat_map(Stage::edges);
    let mut counted = edges.filter(|(_, edge)| edge.count.as_ref() == Some(counter));
    counted.find_map(|(_, edge)| match &edge.to {
        Target::Stage(name) => pipeline.stage(name),
        Target::Interrupted | Target::Param(_) => None,
    })
}

/// The worker of this agent that started last.
fn latest<'a>(run: &'a Run, owner: &AgentName) -> Option<&'a WorkerId> {
    let workers = run.workers.iter();
    let own = workers.filter(|(_, known)| known.agent.is_same(owner.as_str()));
    own.max_by_key(|(_, known)| known.dispatch)
        .map(|(id, _)| id)
}
