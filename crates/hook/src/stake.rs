//! What is at stake in a call, told from its payload alone: no store is opened for it.

use engine::BypassAttempt;
use hosts::bypass_detection::ShellText;
use hosts::{Payload, Stake, What};
use runtime::environment::Environment;

use super::resolve::Resolver;
use super::{protected_paths, skill};

/// What is at stake when nobody can decide: a pure look at the payload, without any store.
pub(super) fn stake(payload: &Payload, environment: &Environment) -> Stake {
    if starts_an_agent(payload, environment) || changes_the_guard(payload, environment) {
        Stake::Gate
    } else {
        Stake::Ordinary
    }
}

/// Did the settings change, or could this call change a protected file?
fn changes_the_guard(payload: &Payload, environment: &Environment) -> bool {
    if let What::ToolRequested { paths, command, .. } = &payload.what {
        protected_paths::is_protected(environment, payload, paths, command.as_deref())
    } else {
        matches!(payload.what, What::ConfigChanged { .. })
    }
}

/// Would this call start an agent, as far as it says so?
pub(super) fn starts_an_agent(payload: &Payload, environment: &Environment) -> bool {
    match &payload.what {
        What::AgentRequested { .. }
        | What::WorkflowRequested { .. }
        | What::MessageRequested { .. } => true,
        What::SkillRequested { skill, .. } => !skill::begins_nobody(environment, skill),
        What::ToolRequested { command, .. } => {
            let resolver = Resolver::default();
            let shell = protected_paths::shell(&resolver, payload, environment);
            let bypass = command
                .as_deref()
                .and_then(|command| protected_paths::bypass(&shell, &ShellText::read(command)));
            matches!(bypass, Some(BypassAttempt::AgentProgram(_)))
        }
        What::SessionStarted { .. }
        | What::SessionEnded { .. }
        | What::PromptSubmitted { .. }
        | What::CommandTyped { .. }
        | What::TodosMarked { .. }
        | What::QuestionAnswered { .. }
        | What::AgentLaunched { .. }
        | What::AgentReturned { .. }
        | What::AgentFailed { .. }
        | What::AgentNotified { .. }
        | What::AgentBegan { .. }
        | What::AgentStopping { .. }
        | What::ToolUsed { .. }
        | What::StopRequested { .. }
        | What::TurnFailed { .. }
        | What::ConfigChanged { .. }
        | What::Ignored => false,
    }
}
