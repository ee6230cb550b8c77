//! A plan as JSON.

use engine::{Amount, Leaves, Reads, Stage, Target, Work};
use serde_json::{Value, json};

use super::{NeededProgram, Plan, PlannedWorker, ProgramState, Trust};
use crate::limits;
use crate::words;

pub(super) fn render(plan: &Plan<'_>) -> Value {
    let definition = plan.pipeline.definition();
    let stages = definition.stages.iter().map(|stage| of_stage(plan, stage));
    let params = plan.run.map(|run| {
        let params = run.params.iter();
        params
            .map(|(name, value)| (name.to_string(), Value::from(value.as_str())))
            .collect::<serde_json::Map<_, _>>()
    });
    let counters = definition.counters.iter().map(|(name, counter)| {
        json!({
            "name": name.as_str(),
            "max": number(plan, &counter.max),
            "then": counter.then.as_str(),
        })
    });
    let raw = |texts: &[crate::safe::Untrusted]| {
        let texts = texts.iter().map(|text| Value::from(text.raw()));
        texts.collect::<Vec<_>>()
    };
    json!({
        "pipeline": definition.name.as_str(),
        "about": definition.about,
        "from": plan.origin.raw(),
        "trust": trust(&plan.trust),
        "mode": words::mode(definition.mode),
        "task": plan.task.as_ref().map(crate::safe::Untrusted::raw),
        "params": params,
        "start": definition.start.as_str(),
        "stages": stages.collect::<Vec<_>>(),
        "counters": counters.collect::<Vec<_>>(),
        "budget": budget(plan),
        "programs": plan.programs.iter().map(program).collect::<Vec<_>>(),
        "remarks": raw(&plan.remarks),
        "missing": raw(&plan.missing),
        "ready": plan.is_ready(),
    })
}

fn trust(trust: &Trust) -> Value {
    match trust {
        Trust::Shipped => json!({ "is": "shipped" }),
        Trust::Trusted => json!({ "is": "trusted" }),
        Trust::Untrusted(reason) => json!({ "is": "untrusted", "reason": reason.raw() }),
    }
}

fn number(plan: &Plan<'_>, amount: &Amount) -> Option<u32> {
    limits::value(amount, plan.pipeline.definition(), plan.run)
}

fn of_stage(plan: &Plan<'_>, stage: &Stage) -> Value {
    let workers = plan.workers.iter();
    let workers = workers.filter(|worker| worker.stage == stage.name);
    let ways = stage.edges().into_iter().map(|(way, edge)| {
        let to = match &edge.to {
            Target::Stage(stage) => stage.to_string(),
            Target::Interrupted => "@interrupted".to_owned(),
            Target::Param(name) => format!("{{{name}}}"),
        };
        json!({
            "on": way.to_string(),
            "to": to,
            "counts": edge.count.as_ref().map(engine::CounterName::as_str),
        })
    });
    let (reads, leaves) = artifact_specs(stage);
    json!({
        "name": stage.name.as_str(),
        "kind": words::stage_kind(stage),
        "workers": workers.map(worker).collect::<Vec<_>>(),
        "reads": reads,
        "leaves": leaves,
        "ways": ways.collect::<Vec<_>>(),
        "timeout_seconds": stage.timeout.map(|time| time.0),
        "heartbeat_seconds": stage.heartbeat.map(|time| time.0),
        "retries": stage.retry.as_ref().and_then(|retry| number(plan, &retry.max)),
        "rounds": stage.work.as_review().and_then(|review| number(plan, &review.rounds)),
        "max_parallel": stage
            .work
            .as_steps()
            .and_then(|steps| number(plan, steps.max_parallel.as_ref()?)),
    })
}

/// What is read there and left there, by any agent.
fn artifact_specs(stage: &Stage) -> (Vec<String>, Vec<String>) {
    let read = |reads: &Reads| reads.all().map(ToString::to_string).collect();
    let left = |leaves: &Leaves| {
        let further = leaves.by_outcome.values().flatten();
        let all = leaves.always.iter().chain(further);
        all.map(ToString::to_string).collect()
    };
    match &stage.work {
        Work::Agent(work) => (read(&work.reads), left(&work.leaves)),
        Work::Review(work) => {
            let verdicts = work.panel.iter().map(|reviewer| &reviewer.leaves);
            let all = verdicts.chain(&work.fixes);
            (read(&work.reads), all.map(ToString::to_string).collect())
        }
        Work::Steps(work) => {
            let leaves = work.leaves.iter().map(ToString::to_string);
            (read(&work.reads), leaves.collect())
        }
        Work::Open(work) => {
            let leaves = work.leaves.iter().flat_map(|(_, names)| names);
            (Vec::new(), leaves.map(ToString::to_string).collect())
        }
        Work::Check(_) | Work::Ask(_) | Work::Route(_) | Work::End(_) => (Vec::new(), Vec::new()),
    }
}

fn worker(worker: &PlannedWorker) -> Value {
    json!({
        "who": worker.who.raw(),
        "runner": worker.runner.raw(),
        "model": worker.model.as_ref().map(crate::safe::Untrusted::raw),
        "conversation": words::conversation(worker.conversation),
    })
}

fn budget(plan: &Plan<'_>) -> Value {
    let budget = &plan.pipeline.definition().budget;
    let number = |amount: &Option<Amount>| amount.as_ref().and_then(|it| number(plan, it));
    json!({
        "turns": number(&budget.turns),
        "tokens": number(&budget.tokens),
        "cost_cents": number(&budget.cost_cents),
        "time_seconds": budget.time.map(|time| time.0),
    })
}

fn program(needed: &NeededProgram) -> Value {
    let (path, version, hint) = match &needed.state {
        ProgramState::Found {
            path,
            version,
            caution,
        } => (
            Some(path.raw()),
            version.as_ref().map(crate::safe::Untrusted::raw),
            caution.as_ref().map(crate::safe::Untrusted::raw),
        ),
        ProgramState::Unfit { path, reason, .. } => (Some(path.raw()), None, Some(reason.raw())),
        ProgramState::Missing { install } => (None, None, Some(install.raw())),
    };
    json!({
        "name": needed.name.raw(),
        "needed_for": needed.needed_for,
        "found": path.is_some(),
        "path": path,
        "version": version,
        "hint": hint,
    })
}
