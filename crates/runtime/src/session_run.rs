//! The run that a session holds.

use engine::{RunId, SessionId};
use evidence::process;
use store::Backend as _;

use crate::caller::ancestors::ancestors;
use crate::context::Context;
use crate::enrolment::{self, Enrolled};
use crate::failure::Failure;
use crate::workspace::Workspace;

/// The run of this session, unless it is over.
pub fn of_session(context: &Context, session: &SessionId) -> Result<Option<RunId>, Failure> {
    let state = context.state()?;
    let enrolled = enrolment::of_session(&state, session)
        .map_err(Failure::file("read from", state.folder()))?;
    match enrolled {
        Some(enrolled) => unless_over(context, enrolled),
        None => Ok(None),
    }
}

/// The run of the session in which the command was typed, unless it is over. A command that
/// lacks the session's variables still has its process among the parents.
pub fn here(context: &Context) -> Result<Option<RunId>, Failure> {
    if let Some(session) = &context.environment.session
        && let Some(run) = of_session(context, session)?
    {
        return Ok(Some(run));
    }
    let state = context.state()?;
    if !enrolment::is_anybody_enrolled(&state) {
        return Ok(None);
    }
    let parents = ancestors().into_iter();
    for parent in parents.filter_map(|parent| process::find(parent.id)) {
        let enrolled = enrolment::of_process(&state, &parent)
            .map_err(Failure::file("read from", state.folder()))?;
        if let Some(enrolled) = enrolled {
            return unless_over(context, enrolled);
        }
    }
    Ok(None)
}

fn unless_over(context: &Context, enrolled: Enrolled) -> Result<Option<RunId>, Failure> {
    let Some(mut workspace) = Workspace::if_exists(context)? else {
        return Ok(None);
    };
    let Some(stored) = workspace.store.run(&enrolled.run)? else {
        return Ok(None);
    };
    let opened = workspace.opened(stored)?;
    let over = engine::is_over(&opened.pipeline, opened.run());
    Ok((!over).then_some(enrolled.run))
}
