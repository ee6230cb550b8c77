//! The status of a run, from its stage and its standing.

use alloc::format;
use alloc::string::String;

use crate::definition::Begins;
use crate::names::{DispatchId, StageName, Time};
use crate::pipeline::Pipeline;
use crate::question::{over_budget_text, question_of};
use crate::run::{BindingState, Run, Standing, Status};
use crate::stage::{End, Work};
use crate::usage::Usage;

/// The run's status, from stage and standing together.
pub fn status(pipeline: &Pipeline, run: &Run) -> Status {
    match &run.standing {
        Standing::Queued => Status::Queued,
        Standing::Cancelled { .. } => Status::Cancelled,
        Standing::Stuck { fault, reason } => Status::Waiting(format!("{}: {reason}", fault.word())),
        Standing::Stale => Status::Waiting(String::from("stale: nothing happened for too long")),
        Standing::OverBudget { what } => Status::Waiting(over_budget_text(pipeline, run, what)),
        Standing::Halted { reason } => Status::Waiting(format!("stopped: {reason}")),
        Standing::Abandoned => {
            Status::Waiting(String::from("the session stopped before the work was done"))
        }
        Standing::Going => by_stage(pipeline, run),
    }
}

fn by_stage(pipeline: &Pipeline, run: &Run) -> Status {
    match pipeline.stage(&run.position.stage).map(|stage| &stage.work) {
        Some(Work::Ask(_)) => Status::Waiting(question_of(pipeline, run).unwrap_or_default()),
        Some(Work::End(end)) => match end.end {
            End::Completed => Status::Completed,
            End::Failed => Status::Failed,
            End::Cancelled => Status::Cancelled,
        },
        Some(
            Work::Agent(_)
            | Work::Open(_)
            | Work::Check(_)
            | Work::Review(_)
            | Work::Steps(_)
            | Work::Route(_),
        )
        | None => Status::Running,
    }
}

/// Does the run end well in this stage?
pub(crate) fn is_completed(pipeline: &Pipeline, stage: &StageName) -> bool {
    let stage = pipeline.stage(stage);
    stage.is_some_and(|it| matches!(&it.work, Work::End(end) if end.end == End::Completed))
}

/// Is the run over? A finished run may still start again if its end allows it.
pub fn is_over(pipeline: &Pipeline, run: &Run) -> bool {
    matches!(
        status(pipeline, run),
        Status::Completed | Status::Failed | Status::Cancelled
    )
}

/// Has the session of an always-on run ended, and nothing come of the run? Marks of unjudged events
/// stay in its history.
pub fn is_unused(pipeline: &Pipeline, run: &Run) -> bool {
    let always_on = pipeline.definition().begins == Begins::Session;
    let session = run.session.as_ref();
    let left = session.is_some_and(|binding| binding.state == BindingState::Ended);
    let stands = matches!(
        run.standing,
        Standing::Going | Standing::Abandoned | Standing::Stale
    );
    let untouched = run.position.visit == 1
        && run.last_dispatch == DispatchId(0)
        && run.artifacts.is_empty()
        && run.approved.is_empty()
        && run.gates.is_empty()
        && run.used == Usage::default();
    let by_nobody = run.overrides.is_empty() && run.bypass.is_none();
    always_on && left && stands && untouched && by_nobody && !is_over(pipeline, run)
}

/// Has nothing happened for longer than the pipeline's `ttl`?
pub fn is_stale(pipeline: &Pipeline, run: &Run, now: Time) -> bool {
    // A run that waits for its services waits for nobody here.
    let limited = run.limits.iter().map(|limit| limit.until).max();
    let waited = now.since(run.touched_at.max(limited.unwrap_or(run.touched_at)));
    let past = pipeline.definition().ttl.is_some_and(|ttl| waited > ttl);
    !is_over(pipeline, run) && (run.standing == Standing::Stale || past)
}
