//! An agent has begun in the session: its briefing goes to it.

use engine::{Actor, Happening, WorkEvent};
use hosts::hook::Answer;
use runtime::briefing;
use runtime::failure::Failure;

use super::answer;
use super::guarded::Guarded;

pub(super) fn answer_to(guarded: &mut Guarded<'_, '_>, actor: &Actor) -> Result<Answer, Failure> {
    let worker = actor.clone();
    let decided = guarded.submit(Happening::Work(WorkEvent::Began { worker }))?;
    let opened = &decided.opened;
    let Some(dispatch) = opened.run().work_of(&actor.id) else {
        return Ok(answer::of(&decided));
    };
    let briefing = briefing::text(guarded.workspace, opened, dispatch)?;
    Ok(Answer::for_model(briefing))
}
