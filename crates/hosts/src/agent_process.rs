//! The process of an agent that we start: its command line, its hooks, and what its output says.

mod agent_output;
mod guard_setup;
pub(crate) mod reset_time;
pub(crate) mod service_failure;
mod token_counts;

pub use agent_output::{AgentOutput, EndedTurns, ReportedEnd, ReportedLimit};
pub use guard_setup::{
    GuardError, GuardInputs, GuardSetup, PersonalSettings, PersonalSettingsLocation, SettingsText,
    Workplace,
};
pub use reset_time::{CalendarDate, ClockDay, ClockTime, ResetTime};
pub(crate) use service_failure::ServiceFailure;
pub(crate) use token_counts::TokenCounts;

/// How to start an agent as a worker. The agent reads its prompt from stdin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartOptions<'a> {
    pub conversation: Conversation<'a>,
    pub model: Option<&'a str>,
    pub file_access: FileAccess,
    /// Tools that the agent may not use, as `tools.deny` names them. If the program's command line
    /// cannot forbid tools, our hooks refuse the calls.
    pub denied: &'a [String],
    /// The most that the process may cost, in cents. A program without an option for that is not told.
    pub most_cents: Option<u64>,
}

/// The conversation in which the agent works. Always by id: "the last one" may belong to somebody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversation<'a> {
    /// A new conversation, under this id if the program lets us choose one.
    New(&'a str),
    /// An earlier conversation, by its id.
    Resume(&'a str),
}

/// Which files a worker may write, as far as the program has options for that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileAccess {
    ReadOnly,
    /// The worker writes its artifacts and no other file.
    ArtifactsOnly,
    ReadWrite,
}
