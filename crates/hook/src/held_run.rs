//! The run of a session whose file in the state folder is gone, or names another run. The journal says
//! who holds a run, so the session is guarded again when it next asks for something.

use engine::SessionId;
use hosts::{Event, What};
use runtime::context::Context;
use runtime::enrolment::{self, Enrolled};
use runtime::failure::Failure;
use runtime::find_run;
use runtime::state::State;
use runtime::workspace::Workspace;
use store::{Backend as _, RunSummary};

use super::promise::Promise;
use super::spool::{self, Fate};

/// What the history says of the time between.
const LOST: &str = "the session's file in the state folder was lost or changed";

/// Enrols the session in the run that it holds, if there is one. What happened since its file was lost
/// is recorded as not judged.
pub(super) fn enrol_again(
    context: &Context,
    state: &State,
    session: &SessionId,
    event: Event,
) -> Result<bool, Failure> {
    let Some(held) = find(context, session)? else {
        return Ok(false);
    };
    enrolment::enrol(state, &held).map_err(Failure::file("write to", state.folder()))?;
    spool::keep(state, event, session, LOST, Fate::Continued);
    Ok(true)
}

/// Is this a moment to look? An agent would start, the session starts, or a person comes.
pub(super) fn is_time(what: &What, promise: Promise) -> bool {
    match what {
        What::SessionStarted { .. }
        | What::PromptSubmitted { .. }
        | What::CommandTyped { .. }
        | What::AgentRequested { .. }
        | What::SkillRequested { .. }
        | What::WorkflowRequested { .. }
        | What::MessageRequested { .. } => true,
        What::ToolRequested { .. } => promise == Promise::Gate,
        What::SessionEnded { .. }
        | What::StopRequested { .. }
        | What::TurnFailed { .. }
        | What::AgentStopping { .. }
        | What::AgentReturned { .. }
        | What::AgentNotified { .. }
        | What::AgentFailed { .. }
        | What::TodosMarked { .. }
        | What::QuestionAnswered { .. }
        | What::AgentLaunched { .. }
        | What::AgentBegan { .. }
        | What::ToolUsed { .. }
        | What::ConfigChanged { .. }
        | What::Ignored => false,
    }
}

/// The active run of this project that the session holds, as the journal has it.
fn find(context: &Context, session: &SessionId) -> Result<Option<Enrolled>, Failure> {
    let Some(workspace) = Workspace::if_exists(context)? else {
        return Ok(None);
    };
    let listed = find_run::of_project(&workspace)?;
    let guarded =
        |run: &&RunSummary| run.driver == engine::Driver::Guarded && find_run::is_active(run);
    for run in listed.iter().filter(guarded) {
        let stored = workspace.store.run(&run.id)?;
        let binding = stored.and_then(|stored| stored.run.session);
        if let Some(binding) = binding.filter(|binding| binding.session == *session) {
            return Ok(Some(Enrolled {
                session: binding.session,
                run: run.id.clone(),
                process: binding.process,
            }));
        }
    }
    Ok(None)
}
