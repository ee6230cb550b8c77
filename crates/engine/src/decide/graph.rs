//! Task graphs: planned once, run in waves, done when every planned step is done.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::moving::leave;
use super::work_end::retries;
use super::{Draft, Verdict};
use crate::cause::MoveReason;
use crate::decision::Reply;
use crate::entry::Fact;
use crate::names::{AgentName, StageName, StepId};
use crate::outcome::{Fault, Outcome};
use crate::rule::Rule;
use crate::run::{MemberState, Run, Standing};
use crate::stage::{Stage, Step, StepsSource, StepsWork, Work};
use crate::steps::usable_steps;

/// A graph starts with its plan, or continues after a person's answer: what is done stays done.
pub(super) fn enter(draft: &mut Draft<'_>, work: &StepsWork, along: &MoveReason) {
    let stage = draft.run.position.stage.clone();
    if *along == MoveReason::Interrupted && draft.run.graphs.contains_key(&stage) {
        return draft.record(Rule::Planned, Fact::StepsRevived { stage });
    }
    match &work.source {
        StepsSource::Fixed(steps) => plan(draft, work, steps.clone()),
        StepsSource::Start => plan(draft, work, draft.run.given_steps.clone()),
        // The newest plan counts: what an agent left in this run comes before what was given.
        StepsSource::ArtifactOrStart(_)
            if !captured(draft, work) && !draft.run.given_steps.is_empty() =>
        {
            plan(draft, work, draft.run.given_steps.clone());
        }
        // The artifact is read first; the shell answers with `StepsRead`.
        StepsSource::Artifact(_) | StepsSource::ArtifactOrStart(_) => {}
    }
}

/// The steps were read from their artifact.
pub(super) fn read(draft: &mut Draft<'_>, stage: &StageName, visit: u32) -> Verdict {
    let here = draft.run.position.stage == *stage && draft.run.position.visit == visit;
    let Some(Work::Steps(work)) = draft.stage().map(|stage| &stage.work) else {
        return Verdict::done(Rule::Quiet);
    };
    let going = draft.run.standing == Standing::Going;
    if !here || !going || draft.run.graphs.contains_key(stage) {
        return Verdict::done(Rule::Quiet);
    }
    match &draft.evidence.steps {
        Some(Ok(steps)) => plan(draft, work, steps.clone()),
        Some(Err(reason)) => unusable(draft, reason.clone()),
        None if captured(draft, work) => return Verdict::done(Rule::Quiet),
        None => unusable(draft, String::from("the plan is missing")),
    }
    if draft.run.graphs.contains_key(stage) {
        Verdict::done(Rule::Planned)
    } else {
        let reason = format!("the steps of {stage} cannot be used");
        let refusal = draft.refusal(Rule::PlanUnusable, reason);
        Verdict {
            rule: Rule::PlanUnusable,
            reply: Reply::Refuse(refusal),
        }
    }
}

/// Was the artifact that holds the steps ever left in this run?
fn captured(draft: &Draft<'_>, work: &StepsWork) -> bool {
    let field = work.source.field();
    field.is_none_or(|field| draft.run.artifacts.contains_key(&field.artifact))
}

fn plan(draft: &mut Draft<'_>, work: &StepsWork, steps: Vec<Step>) {
    match usable_steps(draft.pipeline.definition(), work, &steps) {
        Ok(()) => {
            let stage = draft.run.position.stage.clone();
            draft.record(Rule::Planned, Fact::Planned { stage, steps });
        }
        Err(reason) => unusable(draft, reason),
    }
}

fn unusable(draft: &mut Draft<'_>, reason: String) {
    draft.record(
        Rule::PlanUnusable,
        Fact::Stuck {
            fault: Fault::Missing,
            reason,
        },
    );
}

/// The agent whose step can start, if there is only one such step.
pub(super) fn expected(run: &Run, stage: &Stage) -> Option<AgentName> {
    let graph = run.graphs.get(&stage.name)?;
    let mut ready = graph.members.iter().filter(|member| graph.is_ready(member));
    match (ready.next(), ready.next()) {
        (Some(only), None) => Some(only.step.agent.clone()),
        _ => None,
    }
}

pub(super) fn step_failed(draft: &mut Draft<'_>, step: &StepId, fault: Fault, reason: &str) {
    let Some(stage) = draft.stage() else { return };
    let name = stage.name.clone();
    let spent = member_retries(&draft.run, &name, step);
    let (step, reason) = (step.clone(), reason.to_string());
    let fact = if spent < retries(draft, stage, fault, false) {
        Fact::StepRetried {
            stage: name,
            step,
            fault,
            reason,
        }
    } else {
        Fact::StepFailed {
            stage: name,
            step,
            fault,
            reason,
        }
    };
    draft.record(Rule::WorkFault, fact);
    join(draft);
}

fn member_retries(run: &Run, stage: &StageName, step: &StepId) -> u32 {
    let graph = run.graphs.get(stage);
    let members = graph
        .map(|graph| graph.members.as_slice())
        .unwrap_or_default();
    members
        .iter()
        .find(|member| member.step.id == *step)
        .map_or(0, |member| member.retries)
}

/// What a task graph has come to.
pub(super) enum JoinResult {
    GoesOn,
    Done,
    Failed,
}

pub(super) fn join(draft: &mut Draft<'_>) {
    match join_result(&draft.run) {
        JoinResult::GoesOn => {}
        JoinResult::Done => leave(draft, &Outcome::Done),
        JoinResult::Failed => leave(draft, &Outcome::Failed),
    }
}

/// The graph is done when every planned step is done, and has failed when no more steps can start.
pub(super) fn join_result(run: &Run) -> JoinResult {
    let Some(graph) = run.graphs.get(&run.position.stage) else {
        return JoinResult::GoesOn;
    };
    let all_done = graph
        .members
        .iter()
        .all(|member| member.state == MemberState::Done);
    let going_on = graph
        .members
        .iter()
        .any(|member| member.is_working() || graph.is_ready(member));
    match (all_done, going_on) {
        (true, _) => JoinResult::Done,
        (false, true) => JoinResult::GoesOn,
        (false, false) => JoinResult::Failed,
    }
}
