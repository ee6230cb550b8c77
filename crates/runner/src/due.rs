//! What is due in a run that we drive: told from where it is, by nothing else.

use engine::{Next, Status};
use runtime::failure::Failure;
use runtime::workspace::OpenRun;

use crate::agent::choice::{self, Choice, Starter};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Due {
    /// The run is over.
    Over(Status),
    /// A person is asked, or must decide how it goes on.
    Person(String),
    /// The commands of the present stage.
    Check,
    /// These may begin now; others may be at work.
    Workers(Vec<Choice>),
    /// Somebody has worked in an open stage: a person says whether it is done.
    Finish,
    /// Those who are at work must end first.
    Nothing,
}

/// `worked`: an agent of this open stage has ended in this visit.
pub fn due(opened: &OpenRun, starter: Starter, worked: bool) -> Result<Due, Failure> {
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
                "nobody leads on from {}: skip it, or cancel the run",
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
            "{} has nobody whom gatewright could start",
            run.position.stage
        ))),
    }
}

/// An open stage from which no agent leads on by itself.
fn is_open_end(opened: &OpenRun) -> bool {
    let stage = opened.pipeline.stage(&opened.run().position.stage);
    stage.is_some_and(|stage| {
        matches!(stage.work, engine::Work::Open(_)) && stage.after().is_empty()
    })
}
