//! The status of a run, from its stage and its standing.

use alloc::format;
use alloc::string::String;

use crate::names::{StageName, Time};
use crate::pipeline::Pipeline;
use crate::question::question_of;
use crate::run::{Run, Standing, Status};
use crate::stage::{End, Work};

/// The run's status, from stage and standing together.
pub fn status(pipeline: &Pipeline, run: &Run) -> Status {
    match &run.standing {
        Standing::Queued => Status::Queued,
        Standing::Cancelled { .. } => Status::Cancelled,
        Standing::Stuck { fault, reason } => Status::Waiting(format!("{}: {reason}", fault.word())),
        Standing::Stale => Status::Waiting(String::from("stale: nothing happened for too long")),
        Standing::OverBudget { what } => Status::Waiting(format!("the budget is used up: {what}")),
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
            Work::Agent(_) | Work::Open(_) | Work::Check(_) | Work::Review(_) | Work::Steps(_),
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

/// Has nothing happened for longer than the pipeline's `ttl`?
pub fn is_stale(pipeline: &Pipeline, run: &Run, now: Time) -> bool {
    let waited = now.since(run.touched_at);
    let past = pipeline.definition().ttl.is_some_and(|ttl| waited > ttl);
    !is_over(pipeline, run) && (run.standing == Standing::Stale || past)
}
