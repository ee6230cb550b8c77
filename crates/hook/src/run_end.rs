//! A run is over, and its session hears once how it ended.
//!
//! The hook that ended it may have answered a worker, or a person did it at another terminal.

use std::fs;

use engine::SessionId;
use hosts::{Answer, What};
use runtime::state::{self, State};
use runtime::workspace::OpenRun;

/// The report, if the session can hear it now and has not heard it. Nothing depends on the file that
/// says so: without it the report comes once more.
pub(super) fn told(
    state: &State,
    session: &SessionId,
    opened: &OpenRun,
    what: &What,
) -> Option<Answer> {
    if !reaches_session(what) {
        return None;
    }
    let run = opened.run();
    let mark = format!("{session} end");
    let path = state.folder().join("told").join(run.id.as_str());
    if fs::read_to_string(&path).is_ok_and(|kept| kept == mark) {
        return None;
    }
    let _ = state::write_durably(&path, &mark);
    let report = views::session_prompt(&opened.pipeline, run);
    Some(Answer::for_model(report))
}

/// Does a text that goes with the answer reach the session itself?
fn reaches_session(what: &What) -> bool {
    match what {
        What::AgentReturned { .. }
        | What::AgentFailed { .. }
        | What::AgentNotified { .. }
        | What::PromptSubmitted { .. }
        | What::ToolUsed { actor: None, .. } => true,
        What::ToolUsed { actor: Some(_), .. }
        | What::SessionStarted { .. }
        | What::SessionEnded { .. }
        | What::CommandTyped { .. }
        | What::AgentRequested { .. }
        | What::SkillRequested { .. }
        | What::WorkflowRequested { .. }
        | What::MessageRequested { .. }
        | What::ToolRequested { .. }
        | What::TodosMarked { .. }
        | What::QuestionAnswered { .. }
        | What::AgentLaunched { .. }
        | What::AgentBegan { .. }
        | What::AgentStopping { .. }
        | What::StopRequested { .. }
        | What::TurnFailed { .. }
        | What::ConfigChanged { .. }
        | What::Ignored => false,
    }
}
