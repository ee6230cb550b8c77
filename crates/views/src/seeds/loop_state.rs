//! `loop-state`: a loop of one worker with its iterations and its limit.

use engine::{
    AgentName, CounterName, LoopOf, Pipeline, Run, Stage, Status, Target, Work, Worker, WorkerId,
};
use serde_json::json;

use super::shown;
use crate::file::Material;
use crate::json::json_text;
use crate::time::rfc3339;

pub fn loop_state(of: &LoopOf, material: &Material<'_>) -> String {
    let (pipeline, run) = (material.pipeline, material.run);
    let home = home(pipeline, &of.counter);
    let name = home.map(|home| shown(pipeline, &home.name));
    let here = shown(pipeline, &run.position.stage);
    let goes_on = engine::status(pipeline, run) == Status::Running;
    let owner = home.and_then(owner);
    let worker = owner.and_then(|owner| latest(run, owner));
    let started = name.and_then(|name| material.chronicle.arrived.get(name));
    json_text(&json!({
        "active": goes_on && name == Some(here),
        "iteration": run.counters.get(&of.counter).copied().unwrap_or(0),
        "max_iterations": engine::counter_limit(pipeline, run, &of.counter),
        "implementer_agent_id": worker.map(WorkerId::as_str),
        "completion_promise": of.promise.text(&run.params),
        "started_at": started.map(|at| rfc3339(*at)),
    }))
}

/// Where the loop begins: the stage to which the edges lead that count.
fn home<'a>(pipeline: &'a Pipeline, counter: &CounterName) -> Option<&'a Stage> {
    let edges = pipeline.definition().stages.iter().flat_map(Stage::edges);
    let mut counted = edges.filter(|(_, edge)| edge.count.as_ref() == Some(counter));
    counted.find_map(|(_, edge)| match &edge.to {
        Target::Stage(name) => pipeline.stage(name),
        Target::Interrupted | Target::Param(_) => None,
    })
}

fn owner(home: &Stage) -> Option<&AgentName> {
    match &home.work {
        Work::Agent(work) => match &work.worker {
            Worker::Agent(agent) => Some(agent),
            Worker::Session => None,
        },
        Work::Review(work) => Some(&work.owner),
        Work::Open(_) | Work::Check(_) | Work::Ask(_) | Work::Steps(_) | Work::End(_) => None,
    }
}

/// The worker of this name that began last.
fn latest<'a>(run: &'a Run, owner: &AgentName) -> Option<&'a WorkerId> {
    let workers = run.workers.iter();
    let own = workers.filter(|(_, known)| known.agent.is_same(owner.as_str()));
    own.max_by_key(|(_, known)| known.dispatch)
        .map(|(id, _)| id)
}
