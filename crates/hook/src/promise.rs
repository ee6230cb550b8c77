//! A session without a run in a project where it should have one: a gate was promised there.

use engine::{Begins, Rule};
use hosts::{Answer, Event, Payload, Stake};
use runtime::context::Context;
use runtime::enrolment::{Installed, InstalledPipeline};
use runtime::failure::Failure;

use super::stake;

/// What this event was promised in a session that holds no run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Promise {
    /// Runs begin here by a person's word, so nothing is refused.
    None,
    /// Every session has a run here, or nobody can see whether it should; this event needs none.
    Ordinary,
    /// The same, and this would start an agent.
    Gate,
}

impl Promise {
    pub(super) fn of(
        is_always_on: bool,
        event: Event,
        payload: &Payload,
        context: &Context,
    ) -> Self {
        if !is_always_on {
            return Self::None;
        }
        let starts = || stake::starts_an_agent(payload, &context.environment);
        if event == Event::PreToolUse && starts() {
            Self::Gate
        } else {
            Self::Ordinary
        }
    }

    pub(super) fn stake(self) -> Stake {
        match self {
            Self::Gate => Stake::Gate,
            Self::None | Self::Ordinary => Stake::Ordinary,
        }
    }

    /// The answer when no run can start. Refuses what would start an agent, tells the person once,
    /// and stays silent at ordinary tools.
    pub(super) fn broken(self, event: Event, failure: &Failure) -> Option<Answer> {
        let notice =
            |consequence: &str| Answer::for_person(format!("gatewright: {failure}; {consequence}"));
        match self {
            // The person who typed the command reads the notice, and the model reads the context.
            Self::None if event == Event::UserPromptExpansion => Some(Answer {
                context: Some(format!(
                    "Gatewright did not start a run: {failure}. Do not do what this command asks. \
                     Tell the person why."
                )),
                ..notice("this session is not guarded")
            }),
            Self::None | Self::Ordinary if event == Event::PreToolUse => None,
            Self::None => Some(notice("this session is not guarded")),
            Self::Ordinary => Some(notice(
                "no agent can start in this session until a person fixes this",
            )),
            Self::Gate => Some(Answer::refuse(format!(
                "{} not judged: agents here need a run, and no run can start: {failure}; ask a \
                 person to fix it, and to type `gatewright doctor` for the cause",
                Rule::Undecided.code()
            ))),
        }
    }
}

/// The pipeline of which every session of the project has a run.
pub(super) fn always(installed: &Installed) -> Option<&InstalledPipeline> {
    let mut pipelines = installed.pipelines.iter();
    pipelines.find(|pipeline| pipeline.begins == Begins::Session)
}
