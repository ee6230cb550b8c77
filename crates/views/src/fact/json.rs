//! Every fact as JSON: its kind, and all that it says.

use engine::{
    ArtifactName, CheckEnd, CheckResult, CheckVerdict, CheckedProgram, Dispatch, DispatchId, Duty,
    Fact, Hash, Move, MoveReason, Process, ProgramPlace, SessionId, StageName, Started, Step,
    StepId, TreeAround, WorkResult,
};
use serde_json::{Map, Value, json};

use super::{outside, place};
use crate::routed;
use crate::time::rfc3339;
use crate::words::{self, limit_json, process_json, usage_json};

/// An object whose first key, `kind`, says which further keys there are.
pub(crate) fn fact_json(fact: &Fact) -> Value {
    let mut object = Map::new();
    object.insert("kind".to_owned(), json!(kind(fact)));
    if let Value::Object(rest) = fields(fact) {
        object.extend(rest);
    }
    Value::Object(object)
}

fn kind(fact: &Fact) -> &'static str {
    match fact {
        Fact::Started(_) => "started",
        Fact::Forked { .. } => "forked",
        Fact::TakenUp => "taken_up",
        Fact::Placed(_) => "placed",
        Fact::Relocated(_) => "relocated",
        Fact::Delivered(_) => "delivered",
        Fact::DeliveryFailed { .. } => "delivery_failed",
        Fact::TaskGiven { .. } => "task_given",
        Fact::NextTaskGiven { .. } => "next_task_given",
        Fact::TaskBegan { .. } => "task_began",
        Fact::Attached { .. } => "attached",
        Fact::Detached { .. } => "detached",
        Fact::Admitted { .. } => "admitted",
        Fact::Began { .. } => "began",
        Fact::Worked { .. } => "worked",
        Fact::SentBack { .. } => "sent_back",
        Fact::Ended { .. } => "ended",
        Fact::CutShort { .. } => "cut_short",
        Fact::Limited(_) => "limited",
        Fact::WentOn { .. } => "went_on",
        Fact::Captured { .. } => "captured",
        Fact::Warned { .. } => "warned",
        Fact::Noted { .. } => "noted",
        Fact::Unevaluated { .. } => "unevaluated",
        Fact::Unguarded(_) => "unguarded",
        Fact::AcceptedUnguarded { .. } => "accepted_unguarded",
        Fact::ChangedOutside(_) => "changed_outside",
        Fact::Refused { .. } => "refused",
        Fact::Retried { .. } => "retried",
        Fact::StepRetried { .. } => "step_retried",
        Fact::StepFailed { .. } => "step_failed",
        Fact::Stuck { .. } => "stuck",
        Fact::Unstuck => "unstuck",
        Fact::Checked { .. } => "checked",
        Fact::GatePassed { .. } => "gate_passed",
        Fact::ReviewerApproved { .. } => "reviewer_approved",
        Fact::ReviewerFound { .. } => "reviewer_found",
        Fact::Fixed { .. } => "fixed",
        Fact::RoundStarted { .. } => "round_started",
        Fact::RoundsSpent { .. } => "rounds_spent",
        Fact::Planned { .. } => "planned",
        Fact::StepsRevived { .. } => "steps_revived",
        Fact::Routed(_) => "routed",
        Fact::Answered { .. } => "answered",
        Fact::Approved { .. } => "approved",
        Fact::Overridden { .. } => "overridden",
        Fact::Moved(_) => "moved",
        Fact::Held { .. } => "held",
        Fact::Abandoned => "abandoned",
        Fact::WentStale => "went_stale",
        Fact::Driven { .. } => "driven",
        Fact::OverBudget { .. } => "over_budget",
        Fact::Halted { .. } => "halted",
        Fact::Continued { .. } => "continued",
        Fact::Cancelled { .. } => "cancelled",
        Fact::Reset { .. } => "reset",
        Fact::Bypassed { .. } => "bypassed",
        Fact::Checkpointed { .. } => "checkpointed",
        Fact::Vouched { .. } => "vouched",
        Fact::Restored { .. } => "restored",
        Fact::Adopted { .. } => "adopted",
    }
}

#[rustfmt::skip] // One fact a line is what makes this list readable.
fn fields(fact: &Fact) -> Value {
    match fact {
        Fact::TakenUp | Fact::Unstuck | Fact::Abandoned | Fact::WentStale => json!({}),
        Fact::Started(started) => begun(started),
        Fact::Placed(found) => place::placed_json(found),
        Fact::Relocated(to) => place::relocated_json(to),
        Fact::Delivered(what) => place::delivered_json(what),
        Fact::Forked { from, entry, state } =>
            json!({ "from": from.as_str(), "entry": entry, "stage": state.position.stage.as_str() }),
        Fact::Attached { session, process } => attached(session, process.as_ref()),
        Fact::Detached { session } => json!({ "session": session.as_str() }),
        Fact::Admitted { dispatch } => admitted(dispatch),
        Fact::Began { dispatch, worker } =>
            json!({ "dispatch": dispatch.to_string(), "worker": worker.as_str() }),
        Fact::Worked { dispatch } => json!({ "dispatch": dispatch.to_string() }),
        Fact::SentBack { dispatch, reason } =>
            json!({ "dispatch": dispatch.to_string(), "reason": reason }),
        Fact::Ended { dispatch, result, usage } => json!({
            "dispatch": dispatch.to_string(), "result": ended(result), "used": usage_json(usage),
        }),
        Fact::CutShort { dispatch, usage } =>
            json!({ "dispatch": dispatch.to_string(), "used": usage_json(usage) }),
        Fact::Limited(limit) => limit_json(limit),
        Fact::WentOn { dispatch, service } => json!({
            "dispatch": dispatch.to_string(),
            "runner": service.runner.as_str(),
            "model": service.model,
        }),
        Fact::Driven { ms } => json!({ "milliseconds": ms }),
        Fact::Captured { artifact, content, dispatch, step, commands } =>
            captured(artifact, content, *dispatch, step.as_ref(), commands),
        Fact::Warned { message } | Fact::Noted { message } => json!({ "message": message }),
        Fact::Refused { what, reason } => json!({ "what": what, "reason": reason }),
        Fact::Retried { stage, fault, reason } =>
            json!({ "stage": stage.as_str(), "fault": fault.word(), "reason": reason }),
        Fact::StepRetried { stage, step, fault, reason }
        | Fact::StepFailed { stage, step, fault, reason } => json!({
            "stage": stage.as_str(), "step": step.as_str(), "fault": fault.word(), "reason": reason,
        }),
        Fact::Stuck { fault, reason } => json!({ "fault": fault.word(), "reason": reason }),
        Fact::Checked { stage, verdict, results, tree } => checked(stage, *verdict, results, tree),
        Fact::GatePassed { stage, gate } =>
            json!({ "stage": stage.as_str(), "passed_on": words::gate_json(gate) }),
        Fact::ReviewerApproved { stage, reviewer, subject } => json!({
            "stage": stage.as_str(), "reviewer": reviewer + 1, "subject": subject.to_string(),
        }),
        Fact::ReviewerFound { stage, reviewer } | Fact::Fixed { stage, reviewer } =>
            json!({ "stage": stage.as_str(), "reviewer": reviewer + 1 }),
        Fact::RoundStarted { stage, round } => json!({ "stage": stage.as_str(), "round": round }),
        Fact::RoundsSpent { stage } | Fact::StepsRevived { stage } =>
            json!({ "stage": stage.as_str() }),
        Fact::Planned { stage, steps } =>
            json!({ "stage": stage.as_str(), "steps": steps.iter().map(step).collect::<Vec<_>>() }),
        Fact::Routed(decision) => routed::json(decision),
        Fact::Answered { stage, answer, given, words } => with_words(
            json!({ "stage": stage.as_str(), "answer": answer.as_str(), "given": given }),
            words.as_deref(),
        ),
        Fact::Approved { artifact, content } =>
            json!({ "artifact": artifact.as_str(), "content": content.to_string() }),
        Fact::Overridden { stage, outcome, reason } =>
            json!({ "stage": stage.as_str(), "outcome": outcome.as_str(), "reason": reason }),
        Fact::TaskGiven { task } | Fact::NextTaskGiven { task } | Fact::TaskBegan { task } =>
            json!({ "task": task }),
        Fact::Moved(step) => moved(step),
        Fact::Held { holds } => json!({ "holds": holds }),
        Fact::OverBudget { what } | Fact::Unevaluated { what } => json!({ "what": what }),
        Fact::Unguarded(found) => unguarded_json(found),
        Fact::AcceptedUnguarded { number } => json!({ "number": number }),
        Fact::Continued { budget_again, words } =>
            with_words(json!({ "budget_again": budget_again }), words.as_deref()),
        Fact::ChangedOutside(change) => outside::json(change),
        Fact::Cancelled { reason } | Fact::Halted { reason } | Fact::DeliveryFailed { reason } =>
            json!({ "reason": reason }),
        Fact::Reset { reason, stage } => json!({ "stage": stage.as_str(), "reason": reason }),
        Fact::Bypassed { until, reason } =>
            json!({ "until": rfc3339(*until), "reason": reason }),
        Fact::Checkpointed { name } => json!({ "name": name.as_str() }),
        Fact::Vouched { environment, programs } => json!({
            "environment": environment.map(|hash| hash.to_string()),
            "programs": programs.iter().map(program_json).collect::<Vec<_>>(),
        }),
        Fact::Restored { entry, state, reason } =>
            json!({ "entry": entry, "stage": state.position.stage.as_str(), "reason": reason }),
        Fact::Adopted { machine, entry } => json!({ "machine": machine, "entry": entry }),
    }
}

/// What a person said with it; the key is there only if they said something.
fn with_words(mut fact: Value, words: Option<&str>) -> Value {
    if let Some(words) = words {
        fact["words"] = json!(words);
    }
    fact
}

/// Work that no hook guarded.
pub(crate) fn unguarded_json(found: &engine::Unguarded) -> Value {
    json!({
        "witness": found.witness.word(),
        "what": found.what,
        "from": rfc3339(found.from),
        "until": rfc3339(found.until),
    })
}

fn attached(session: &SessionId, process: Option<&Process>) -> Value {
    json!({ "session": session.as_str(), "process": process.map(process_json) })
}

fn captured(
    artifact: &ArtifactName,
    content: &Hash,
    dispatch: Option<DispatchId>,
    step: Option<&StepId>,
    commands: &[Vec<String>],
) -> Value {
    json!({
        "artifact": artifact.as_str(),
        "content": content.to_string(),
        "dispatch": dispatch.map(|id| id.to_string()),
        "step": step.map(StepId::as_str),
        "commands": commands,
    })
}

fn checked(
    stage: &StageName,
    verdict: CheckVerdict,
    results: &[CheckResult],
    tree: &TreeAround,
) -> Value {
    json!({
        "stage": stage.as_str(),
        "verdict": verdict.word(),
        "results": results.iter().map(check_json).collect::<Vec<_>>(),
        "tree_before": tree.before.to_string(),
        "tree_after": tree.after.to_string(),
        "made": tree.made.keys().collect::<Vec<_>>(),
    })
}

/// One command of a check.
fn check_json(result: &CheckResult) -> Value {
    let (ended, number, reason) = match &result.ended {
        CheckEnd::Exit(code) => ("exit", Some(code), None),
        CheckEnd::Signal(signal) => ("signal", Some(signal), None),
        CheckEnd::TimedOut => ("timed_out", None, None),
        CheckEnd::CouldNotStart(reason) => ("could_not_start", None, Some(reason)),
        CheckEnd::EnvironmentLost(reason) => ("environment_lost", None, Some(reason)),
        CheckEnd::ProgramUnaccepted(reason) => ("program_unaccepted", None, Some(reason)),
    };
    json!({
        "argv": result.argv,
        "ended": ended,
        "code": number,
        "reason": reason,
        "duration_ms": result.duration_ms,
        "matched_failure": result.matched_failure,
        "lacks": result.lacks,
        "tail": result.tail,
        "programs": result.programs.iter().map(program_json).collect::<Vec<_>>(),
    })
}

fn program_json(program: &CheckedProgram) -> Value {
    json!({
        "path": program.path,
        "sha256": program.hash.map(|hash| hash.to_string()),
        "place": place_word(program.place),
    })
}

/// Who could have changed a program.
fn place_word(place: ProgramPlace) -> &'static str {
    match place {
        ProgramPlace::System => "system",
        ProgramPlace::Account => "account",
        ProgramPlace::Project => "project",
    }
}

/// What a dispatch is for; reviewers are numbered from 1.
pub(crate) fn duty_json(duty: &Duty) -> Value {
    match duty {
        Duty::Work => json!({ "kind": "work" }),
        Duty::Open => json!({ "kind": "open" }),
        Duty::Review { reviewer } => json!({ "kind": "review", "reviewer": reviewer + 1 }),
        Duty::Fix { reviewer } => json!({ "kind": "fix", "reviewer": reviewer + 1 }),
        Duty::Step { step } => json!({ "kind": "step", "step": step.as_str() }),
    }
}

fn begun(started: &Started) -> Value {
    let params = started
        .params
        .iter()
        .map(|(name, value)| (name.to_string(), json!(value)));
    let mut begun = json!({
        "run": started.id.as_str(),
        "definition": started.definition.to_string(),
        "task": started.task,
        "params": Value::Object(params.collect()),
        "driver": words::driver(started.driver),
        "stage": started.stage.as_str(),
        "session": started.session.as_ref().map(|session| session.as_str()),
        "process": started.process.as_ref().map(process_json),
        "steps": started.steps.iter().map(step).collect::<Vec<_>>(),
        "queued": started.queued,
    });
    if let Some(branch) = &started.branch {
        begun["branch"] = place::branch_json(branch);
    }
    begun
}

fn step(step: &Step) -> Value {
    json!({
        "id": step.id.as_str(),
        "title": step.title,
        "agent": step.agent.as_str(),
        "needs": step.needs.iter().map(StepId::as_str).collect::<Vec<_>>(),
    })
}

fn admitted(dispatch: &Dispatch) -> Value {
    let before = dispatch.before.iter();
    let before = before.map(|(name, content)| (name.to_string(), json!(content.to_string())));
    let mut admitted = json!({
        "dispatch": dispatch.id.to_string(),
        "agent": dispatch.agent.as_str(),
        "duty": duty_json(&dispatch.duty),
        "stage": dispatch.stage.as_str(),
        "visit": dispatch.visit,
        "attempt": dispatch.attempt,
        "session": dispatch.session.as_ref().map(|session| session.as_str()),
        "call": dispatch.call.as_ref().map(|call| call.as_str()),
        "worker": dispatch.worker.as_ref().map(|worker| worker.as_str()),
        "conversation": words::conversation(dispatch.conversation),
        "reach": words::tree_access(dispatch.reach),
        "started_at": rfc3339(dispatch.started_at),
        "tree": dispatch.tree.map(|tree| tree.to_string()),
        "before": Value::Object(before.collect()),
    });
    if let Some(service) = &dispatch.service {
        admitted["runner"] = json!(service.runner.as_str());
        admitted["model"] = json!(service.model);
    }
    admitted
}

fn ended(result: &WorkResult) -> Value {
    match result {
        WorkResult::Outcome(outcome) => json!({ "kind": "outcome", "outcome": outcome.as_str() }),
        WorkResult::Fault { fault, reason } => {
            json!({ "kind": "fault", "fault": fault.word(), "reason": reason })
        }
        WorkResult::Late => json!({ "kind": "late" }),
        WorkResult::Dropped => json!({ "kind": "dropped" }),
    }
}

fn moved(step: &Move) -> Value {
    let (along, full) = match &step.along {
        MoveReason::Edge => ("edge", None),
        MoveReason::Full(counter) => ("full", Some(counter.as_str())),
        MoveReason::Unapproved(_) => ("unapproved", None),
        MoveReason::Interrupted => ("interrupted", None),
        MoveReason::StaleGate => ("stale_gate", None),
        MoveReason::Outgrown(_) => ("outgrown", None),
    };
    let counted = step.counted.as_ref();
    json!({
        "from": step.from.as_str(),
        "outcome": step.outcome,
        "to": step.to.as_str(),
        "along": along,
        "full": full,
        "counted": counted.map(|(name, value)| json!({ "counter": name.as_str(), "value": value })),
        "reset": step.reset.iter().map(|counter| counter.as_str()).collect::<Vec<_>>(),
        "resume": step.resume.as_ref().map(|resume| json!({
            "to": resume.to.as_str(),
            "count": resume.count.as_ref().map(|counter| counter.as_str()),
        })),
    })
}
