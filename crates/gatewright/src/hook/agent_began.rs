//! An agent has begun in the session: it is told its work.

use engine::{Actor, Happening, WorkEvent};
use hosts::hook::Answer;

use super::answer;
use super::guarded::Guarded;
use runtime::briefing;
use runtime::failure::Failure;

pub fn answer_to(guarded: &mut Guarded<'_, '_>, actor: &Actor) -> Result<Answer, Failure> {
    let worker = actor.clone();
    let decided = guarded.tell(Happening::Work(WorkEvent::Began { worker }))?;
    let opened = &decided.opened;
    let Some(dispatch) = opened.run().work_of(&actor.id) else {
        return Ok(answer::of(&decided));
    };
    Ok(Answer {
        context: Some(briefing::text(guarded.workspace, opened, dispatch)?),
        ..Answer::nothing()
    })
}
