//! What is due in a headless run. It depends only on the run's state.

use engine::{Next, Status};
use runtime::failure::Failure;
use runtime::workspace::OpenRun;

use crate::agent::choice::{self, Choice, Starter};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// The run is over.
    Over(Status),
    /// A person must answer, or decide how the run continues.
    Person(String),
    /// The commands of the current stage.
    Check,
    /// These may start now; others may be at work.
    Workers(Vec<Choice>),
    /// An agent has worked in an open stage: a person says whether it is done.
    Finish,
    /// Current workers must end first.
    Nothing,
}

/// `worked`: an agent of this open stage has ended in this visit.
pub(crate) fn due(opened: &OpenRun, starter: Starter, worked: bool) -> Result<Due, Failure> {
    let (pipeline, run) = (&opened.pipeline, opened.run());
    match engine::status(pipeline, run) {
        status @ (Status::Completed | Status::Failed | Status::Cancelled) => {
            return Ok(Due::Over(status));
        }
        Status::Waiting(why) => return Ok(Due::Person(why)),
        Status::Queued | Status::Running => {}
    }
    let next = engine::next(pipeline, run);
    if next.iter().any(|next| matches!(next, Next::Check { .. })) {
        return Ok(Due::Check);
    }
    let may_finish = next.iter().any(|next| matches!(next, Next::Finish));
    if worked && is_open_end(opened) {
        return Ok(if may_finish {
            Due::Finish
        } else {
            Due::Person(format!(
                "no agent ends {}: skip it, or cancel the run",
                run.position.stage
            ))
        });
    }
    let choices = choice::all_due(pipeline, run, starter)?;
    let is_busy = run
        .dispatches
        .values()
        .any(|open| open.visit == run.position.visit);
    match choices.is_empty() {
        false => Ok(Due::Workers(choices)),
        true if is_busy => Ok(Due::Nothing),
        true => Ok(Due::Person(format!(
            "{} has no agent that gatewright can start",
            run.position.stage
        ))),
    }
}

/// An open stage that no agent's end leaves.
fn is_open_end(opened: &OpenRun) -> bool {
    let stage = opened.pipeline.stage(&opened.run().position.stage);
    stage.is_some_and(|stage| {
        matches!(stage.work, engine::Work::Open(_)) && stage.after().is_empty()
    })
}
