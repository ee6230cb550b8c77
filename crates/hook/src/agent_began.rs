//! An agent has begun in the session: its briefing goes to it.

use engine::{Actor, Dispatch, Happening, Run, WorkEvent};
use hosts::hook::Answer;
use runtime::briefing;
use runtime::failure::Failure;
use runtime::workspace::OpenRun;

use super::answer;
use super::guarded_session::Guarded;

pub(super) fn answer_to(guarded: &mut Guarded<'_, '_>, actor: &Actor) -> Result<Answer, Failure> {
    let worker = actor.clone();
    let decided = guarded.submit(Happening::Work(WorkEvent::Began { worker }))?;
    let opened = &decided.opened;
    let Some(dispatch) = opened.run().work_of(&actor.id) else {
        return Ok(answer::of(&decided));
    };
    let siblings = siblings(opened.run(), dispatch);
    let briefing = match siblings.as_slice() {
        [] => briefing::text(guarded.workspace, opened, dispatch)?,
        _ => for_any_of(guarded, opened, dispatch, &siblings)?,
    };
    Ok(Answer::for_model(briefing))
}

/// Steps of the same agent that start at the same time. The host does not say which worker has which.
fn siblings<'r>(run: &'r Run, dispatch: &Dispatch) -> Vec<&'r Dispatch> {
    let open = run.dispatches.values();
    open.filter(|open| {
        open.id != dispatch.id
            && open.visit == dispatch.visit
            && open.session == dispatch.session
            && open.agent == dispatch.agent
            && open.duty.step().is_some()
            && !open.worked
    })
    .collect()
}

/// A worker knows by its task which of these steps it has.
fn for_any_of(
    guarded: &Guarded<'_, '_>,
    opened: &OpenRun,
    dispatch: &Dispatch,
    siblings: &[&Dispatch],
) -> Result<String, Failure> {
    let mut text = String::from(
        "Several workers of your kind start at once. Your task names your step: only the part of this \
         briefing for that step is for you.",
    );
    for candidate in [&[dispatch], siblings].concat() {
        let briefing = briefing::text(guarded.workspace, opened, candidate)?;
        if let Some(step) = candidate.duty.step() {
            text.push_str(&format!("\n\n# If your step is {step}\n\n{briefing}"));
        }
    }
    Ok(text)
}
