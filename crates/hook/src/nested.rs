//! A session that a shell of a guarded session has started: its run hears of it.

use engine::SessionId;
use evidence::process;
use hosts::{DEFAULT_SESSION_HOST, Program};
use runtime::context::Context;
use runtime::enrolment;
use runtime::environment::Environment;
use runtime::failure::Failure;
use runtime::state::State;
use runtime::witness;
use runtime::workspace::Workspace;

use super::guarded_session::{PATIENCE, is_released};

/// Tells the run of the session around this one, if there is such a session. The host of this hook was
/// started with the variables of that session, whatever stood between them.
pub(super) fn tell(state: &State, session: &SessionId, host: Program, environment: &Environment) {
    let outer = environment.host_process.and_then(|id| {
        let outer = process::variable(id, DEFAULT_SESSION_HOST.variables.session)?;
        Some((id, SessionId::parse(&outer).ok()?))
    });
    if let Some((id, outer)) = outer.filter(|(_, outer)| outer != session) {
        // Where it cannot be recorded now, the processes show it as long as it works.
        let _ = record(state, &outer, host, id);
    }
}

fn record(state: &State, outer: &SessionId, host: Program, id: u32) -> Result<(), Failure> {
    let failed = || Failure::file("read from", state.folder());
    let (Some(enrolled), Some(process)) = (
        enrolment::of_session(state, outer).map_err(failed())?,
        process::find(id),
    ) else {
        return Ok(());
    };
    let folder = std::env::current_dir().unwrap_or_default();
    let environment = Environment::of_process();
    let environment = environment.with_state_folder(state.folder().to_owned());
    let context = Context::at(environment, folder);
    let mut workspace = Workspace::for_writing(&context)?;
    workspace.store.set_writer_timeout(PATIENCE);
    let Some(opened) = workspace.find(&enrolled.run)? else {
        return Ok(());
    };
    if !is_released(&opened) {
        witness::nested_session(&mut workspace, opened, host.word(), &process)?;
    }
    Ok(())
}
