//! A status as JSON.

use engine::{BindingState, Gate, MemberState, StageName, Status, Turn};
use serde_json::{Map, Value, json};

use super::{
    Approval, ArtifactLine, BudgetLine, BypassLine, CounterLine, DispatchLine, Freshness,
    JournalFacts, OverrideLine, Resource, ReviewLine, SessionLine, StageLine, StatusView, StepLine,
    UnguardedLine,
};
use crate::fact::place_json;
use crate::facts::{
    InboxEntry, Liveness, Rest, Undelivered, WaitSpan, WorkerSign, gate_json, remark_json,
    visit_json,
};
use crate::time::rfc3339;
use crate::words;

pub(super) fn render(view: &StatusView) -> Value {
    let parts = [identity(view), position(view), times(view)];
    let fields = parts.into_iter().filter_map(|part| match part {
        Value::Object(fields) => Some(fields),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            None
        }
    });
    Value::Object(fields.flatten().collect())
}

/// What run it is, who drives it, and what holds of all of it.
fn identity(view: &StatusView) -> Value {
    let params = view.params.iter();
    let params: Map<_, _> = params
        .map(|(name, value)| (name.to_string(), json!(value.raw())))
        .collect();
    json!({
        "run": view.run.as_str(),
        "pipeline": view.pipeline.as_str(),
        "definition": view.definition.to_string(),
        "task": view.task.raw(),
        "params": params,
        "project": view.project.raw(),
        "driver": words::driver(view.driver),
        "witnessed": view.driver != engine::Driver::ByHand,
        "rehearsal": view.rehearsal,
        "mode": words::mode(view.mode),
        "enforced": view.mode == engine::Mode::Enforced,
        "status": view.status.word(),
        "reason": reason(&view.status),
        "stale": view.freshness == Freshness::Stale,
        "overridden": !view.overrides.is_empty(),
        "session": view.session.as_ref().map(session),
        "bypass": view.bypass.as_ref().map(bypass),
        "unjudged": view.unjudged,
        "outside": view.outside,
        "place": view.place.as_ref().map(place_json),
        "undelivered": view.undelivered.as_ref().map(Undelivered::json),
        "unguarded": each(&view.unguarded, unguarded),
    })
}

/// Where it is, and what was done there.
fn position(view: &StatusView) -> Value {
    json!({
        "stage": stage(&view.stage),
        "counters": each(&view.counters, counter),
        "review": view.review.as_ref().map(review),
        "steps": each(&view.steps, step),
        "dispatches": each(&view.dispatches, dispatch),
        "limits": each(&view.limits, words::limit_json),
        "artifacts": each(&view.artifacts, artifact),
        "gates": each(&view.gates, gate),
        "overrides": each(&view.overrides, taken),
        "causes": view.causes.json(),
        "budget": each(&view.budget, budget),
    })
}

/// Since when, until when, and who is at work.
fn times(view: &StatusView) -> Value {
    json!({
        "started_at": rfc3339(view.started_at),
        "updated_at": rfc3339(view.touched_at),
        "age_seconds": view.age.0,
        "idle_seconds": view.idle.0,
        "liveness": view.liveness.map(Liveness::json),
        "rest": view.rest.as_ref().map(Rest::json),
        "asks": view.inbox.as_ref().map(InboxEntry::json),
        "used": words::usage_json(&view.used),
        "journal": view.journal.as_ref().map(journal),
    })
}

pub(crate) fn journal(facts: &JournalFacts) -> Value {
    json!({
        "entries": facts.entries,
        "head": facts.head.map(|head| head.to_string()),
        "visits": each(&facts.visits, visit_json),
        "visits_dropped": facts.visits_dropped,
        "waits": each(&facts.waits, wait),
        "gates": each(&facts.gates, gate_json),
        "remarks": each(&facts.remarks, remark_json),
        "refused": facts.refused,
    })
}

fn wait(span: &WaitSpan) -> Value {
    json!({ "why": span.why, "from": rfc3339(span.from), "to": span.to.map(rfc3339) })
}

fn sign(sign: &WorkerSign) -> Value {
    json!({
        "at": rfc3339(sign.at),
        "tool": sign.tool.as_ref().map(|text| text.raw()),
        "words": sign.words.as_ref().map(|text| text.raw()),
        "used": words::usage_json(&sign.used),
    })
}

/// Why a run waits; absent when it does not.
pub(crate) fn reason(status: &Status) -> Option<&str> {
    match status {
        Status::Waiting(reason) => Some(reason),
        Status::Queued
        | Status::Running
        | Status::Completed
        | Status::Failed
        | Status::Cancelled => None,
    }
}

fn each<T>(lines: &[T], render: impl Fn(&T) -> Value) -> Vec<Value> {
    lines.iter().map(render).collect()
}

pub(crate) fn session(line: &SessionLine) -> Value {
    let state = match line.state {
        BindingState::Active => "active",
        BindingState::Ended => "ended",
    };
    let process = line.process.as_ref().map(words::process_json);
    json!({ "id": line.session.as_str(), "state": state, "process": process })
}

pub(crate) fn bypass(line: &BypassLine) -> Value {
    json!({ "until": rfc3339(line.until), "by": line.by.raw(), "reason": line.reason.raw() })
}

fn unguarded(line: &UnguardedLine) -> Value {
    let mut value = crate::fact::unguarded_json(&line.found);
    value["accepted"] = json!(line.settled);
    value
}

fn stage(line: &StageLine) -> Value {
    json!({
        "name": line.name.as_str(),
        "kind": line.kind,
        "shown": line.shown.as_ref().map(|shown| shown.raw()),
        "visit": line.visit,
        "attempt": line.attempt,
        "retries": line.retries,
        "retry_limit": line.retry_limit,
        "since": rfc3339(line.since),
    })
}

fn counter(line: &CounterLine) -> Value {
    json!({ "name": line.name.as_str(), "used": line.used, "max": line.max })
}

fn review(line: &ReviewLine) -> Value {
    let turn = match line.turn {
        Turn::Reviewing { .. } => "reviewing",
        Turn::Fixing { .. } => "fixing",
        Turn::Spent => "spent",
    };
    json!({
        "round": line.round,
        "rounds": line.rounds,
        "turn": turn,
        "agent": line.agent.as_ref().map(|agent| agent.as_str()),
        "approved_by": line.approved_by.iter().map(|agent| agent.as_str()).collect::<Vec<_>>(),
    })
}

fn step(line: &StepLine) -> Value {
    let (state, reason) = match &line.state {
        MemberState::Pending if line.waits_for.is_empty() => ("ready", None),
        MemberState::Pending => ("waiting", None),
        MemberState::Working { .. } => ("working", None),
        MemberState::Done => ("done", None),
        MemberState::Failed { fault, reason } => ("failed", Some((fault.word(), reason))),
    };
    json!({
        "id": line.step.id.as_str(),
        "title": line.title.raw(),
        "agent": line.step.agent.as_str(),
        "needs": line.step.needs.iter().map(|need| need.as_str()).collect::<Vec<_>>(),
        "waits_for": line.waits_for.iter().map(|need| need.as_str()).collect::<Vec<_>>(),
        "state": state,
        "fault": reason.map(|(fault, _)| fault),
        "reason": reason.map(|(_, reason)| reason),
        "retries": line.retries,
        "took_seconds": line.took.map(|took| took.0),
    })
}

fn dispatch(line: &DispatchLine) -> Value {
    json!({
        "id": line.id.to_string(),
        "agent": line.agent.as_str(),
        "duty": crate::fact::duty_json(&line.duty),
        "stage": line.stage.as_str(),
        "attempt": line.attempt,
        "started_at": rfc3339(line.started_at),
        "running_seconds": line.running_for.0,
        "rests": line.rests,
        "runner": line.service.as_ref().map(|service| service.runner.as_str()),
        "model": line.service.as_ref().and_then(|service| service.model.as_deref()),
        "last": line.sign.as_ref().map(sign),
        "silent_seconds": line.silent_for.map(|span| span.0),
    })
}

fn artifact(line: &ArtifactLine) -> Value {
    let approval = match line.approval {
        Approval::None => None,
        Approval::Approved => Some("approved"),
        Approval::Stale => Some("stale"),
    };
    json!({
        "name": line.name.as_str(),
        "content": line.content.to_string(),
        "dispatch": line.dispatch.map(|id| id.to_string()),
        "approval": approval,
    })
}

fn gate((stage, gate): &(StageName, Gate)) -> Value {
    json!({ "stage": stage.as_str(), "passed_on": words::gate_json(gate) })
}

fn taken(line: &OverrideLine) -> Value {
    json!({
        "stage": line.stage.as_str(),
        "outcome": line.outcome.as_str(),
        "reason": line.reason.raw(),
        "by": line.by.raw(),
        "at": rfc3339(line.at),
    })
}

fn budget(line: &BudgetLine) -> Value {
    let what = match line.what {
        Resource::Turns => "turns",
        Resource::Tokens => "tokens",
        Resource::CostCents => "cost_cents",
        Resource::Time => "seconds",
    };
    json!({
        "what": what,
        "used": line.used,
        "limit": line.limit,
        "estimated": line.is_estimate,
    })
}
