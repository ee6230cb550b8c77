//! The run that a session holds.

use engine::{RunId, SessionId};
use store::Backend as _;

use crate::context::Context;
use crate::enrolment;
use crate::failure::Failure;
use crate::workspace::Workspace;

/// The run of this session, unless it is over.
pub fn of_session(context: &Context, session: &SessionId) -> Result<Option<RunId>, Failure> {
    let state = context.state()?;
    let enrolled = enrolment::of_session(&state, session)
        .map_err(Failure::file("read from", state.folder()))?;
    let Some(enrolled) = enrolled else {
        return Ok(None);
    };
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
