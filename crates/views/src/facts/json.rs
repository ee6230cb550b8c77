//! Stays in stages, gates and remarks as JSON.

use serde_json::{Value, json};

use super::{
    Attempt, CheckAttempt, CommandEvidence, FailedCheck, GateEvidence, Remark, ReviewEvidence,
    Visit,
};
use crate::time::rfc3339;
use crate::words;

pub(crate) fn visit_json(visit: &Visit) -> Value {
    json!({
        "stage": visit.stage.as_str(),
        "visit": visit.number,
        "entry": visit.entry,
        "entered_at": rfc3339(visit.entered_at),
        "left_at": visit.left.as_ref().map(|left| rfc3339(left.at)),
        "outcome": visit.left.as_ref().map(|left| left.outcome.as_str()),
        "to": visit.left.as_ref().map(|left| left.to.as_str()),
        "attempts": visit.attempts.iter().map(attempt_json).collect::<Vec<_>>(),
        "attempts_dropped": visit.attempts_dropped,
        "checks": visit.checks.iter().map(check_json).collect::<Vec<_>>(),
    })
}

fn attempt_json(attempt: &Attempt) -> Value {
    let end = attempt.end.as_ref();
    json!({
        "dispatch": attempt.dispatch.to_string(),
        "agent": attempt.agent.as_str(),
        "duty": crate::fact::duty_json(&attempt.duty),
        "attempt": attempt.number,
        "runner": attempt.service.as_ref().map(|service| service.runner.as_str()),
        "model": attempt.service.as_ref().and_then(|service| service.model.as_deref()),
        "started_at": rfc3339(attempt.started_at),
        "ended_at": end.map(|end| rfc3339(end.at)),
        "result": end.map(|end| end.word()),
        "entry": end.map(|end| end.entry),
        "sent_back": attempt.sent_back,
        "used": words::usage_json(&attempt.usage),
    })
}

fn check_json(check: &CheckAttempt) -> Value {
    json!({
        "at": rfc3339(check.at),
        "entry": check.entry,
        "verdict": check.verdict.word(),
        "duration_ms": check.duration_ms,
    })
}

pub(crate) fn gate_json(gate: &GateEvidence) -> Value {
    json!({
        "stage": gate.stage.as_str(),
        "kind": gate.kind,
        "state": gate.state.word(),
        "stale": gate.state.is_stale(),
        "entry": gate.entry,
        "at": gate.at.map(rfc3339),
        "artifact": gate.artifact.as_ref().map(|it| it.as_str()),
        "subject": gate.subject.map(|hash| hash.to_string()),
        "verdict": gate.verdict.map(|verdict| verdict.word()),
        "commands": gate.commands.iter().map(command_json).collect::<Vec<_>>(),
        "failed_before": gate.failed_before,
        "failures": gate.failures.iter().map(failure_json).collect::<Vec<_>>(),
        "round": gate.round,
        "reviews": gate.reviews.iter().map(review_json).collect::<Vec<_>>(),
    })
}

fn failure_json(failure: &FailedCheck) -> Value {
    json!({
        "entry": failure.entry,
        "at": rfc3339(failure.at),
        "commands": failure.commands.iter().map(command_json).collect::<Vec<_>>(),
    })
}

fn command_json(command: &CommandEvidence) -> Value {
    json!({
        "command": command.command.raw(),
        "exit": command.exit,
        "ended": command.ended.raw(),
        "duration_ms": command.duration_ms,
        "tail": command.tail.raw(),
    })
}

fn review_json(review: &ReviewEvidence) -> Value {
    json!({
        "reviewer": review.reviewer,
        "agent": review.agent.as_ref().map(|agent| agent.as_str()),
        "approved": review.approved.map(|hash| hash.to_string()),
        "at": rfc3339(review.at),
        "entry": review.entry,
    })
}

pub(crate) fn remark_json(remark: &Remark) -> Value {
    json!({
        "entry": remark.number,
        "at": rfc3339(remark.at),
        "kind": remark.kind.word(),
        "by": remark.by.raw(),
        "rule": remark.rule,
        "text": remark.text.raw(),
    })
}
