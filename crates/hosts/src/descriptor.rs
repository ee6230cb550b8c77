//! The differences between agent programs, as data. Each program has one descriptor, in its own file.

use crate::agent_process::{
    AgentOutput, GuardError, GuardInputs, GuardSetup, PersonalSettingsLocation, ServiceFailure,
    StartOptions,
};
use crate::hook::{Answer, Bytes, Event, Payload, PayloadError, Stake};
use crate::recognition::Recognition;
use crate::session_host::SessionHost;
use crate::version::Version;

/// One agent program.
pub struct Descriptor {
    /// Its name for people.
    pub title: &'static str,
    pub recognition: Recognition,
    /// The version that our tests use.
    pub tested: Version,
    /// The first version with everything that we need.
    pub oldest: Version,
    pub abilities: Abilities,
    /// Present if its sessions can hold runs. For other programs we guard only the workers that we
    /// start.
    pub session_host: Option<&'static SessionHost>,
    pub tools: ToolNames,
    pub process: ProcessDescriptor,
    pub hooks: HookDescriptor,
}

/// What a program can do when we start it. We refuse a pipeline that needs more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts, all read by name"
)]
pub struct Abilities {
    /// A hook for its process alone can refuse a tool call before it happens.
    pub blocks_tools: bool,
    /// A new process can resume a conversation by its exact id.
    pub resumes_exactly: bool,
    /// It reports the tokens that it used.
    pub reports_usage: bool,
    /// It reports what that cost.
    pub reports_cost: bool,
    /// It ends its own turn when that costs more than its command line allows.
    pub limits_cost: bool,
}

/// Tool names by purpose. The first name is the current one.
pub struct ToolNames {
    /// Starts another agent.
    pub agent: &'static [&'static str],
    /// Runs a skill, a script of agents, or speaks to a worker.
    pub skill: &'static [&'static str],
    pub workflow: &'static [&'static str],
    pub message: &'static [&'static str],
    pub shell: &'static [&'static str],
    pub write: &'static [&'static str],
    pub edit: &'static [&'static str],
    pub read: &'static [&'static str],
    pub find_files: &'static [&'static str],
    pub list_folder: &'static [&'static str],
    pub search_text: &'static [&'static str],
    pub fetch: &'static [&'static str],
    pub search_web: &'static [&'static str],
    pub to_do_list: &'static [&'static str],
    /// Tools that never change a file.
    pub only_read: &'static [&'static str],
    /// The prefix of MCP tool names.
    pub foreign_prefix: &'static str,
}

/// How to start a program and read its output.
pub struct ProcessDescriptor {
    /// Environment variables with the location of its settings and its service.
    pub settings_variables: &'static [&'static str],
    /// Environment variables with credentials.
    pub login_variables: &'static [&'static str],
    pub ids: ConversationIds,
    pub usage_scope: UsageScope,
    /// A person's settings that `guard_setup` must know: the program no longer finds them by itself, or
    /// would write to them.
    pub personal_settings: Option<PersonalSettingsLocation>,
    /// Files in a project that configure the program, if it has no [`SessionHost`] that names them.
    pub project_settings: &'static [&'static str],
    /// A folder that only the program's own tools may write to, with advice for a worker that must write
    /// an artifact there.
    pub own_folder: Option<(&'static str, &'static str)>,
    /// The words before the id of a conversation with which a person opens it.
    pub opens_with: &'static [&'static str],
    /// Its command line.
    pub arguments: fn(&StartOptions<'_>) -> Vec<String>,
    /// Registers our hooks in one process.
    pub guard_setup: fn(&GuardInputs<'_>) -> Result<GuardSetup, GuardError>,
    /// Reads one line of its output.
    pub read_line: fn(&[u8], &mut AgentOutput),
    /// The service failure that an exit code means.
    pub failure_of_exit_code: fn(i32) -> Option<ServiceFailure>,
}

/// Who chooses the id of a new conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConversationIds {
    Ours,
    Its,
}

/// What the reported tokens and cost cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageScope {
    /// The process.
    Process,
    /// The whole conversation, over all processes that took part.
    Conversation,
}

/// Reads a payload. The event that it names wins over the given one.
pub(crate) type ReadHook = fn(Option<Event>, &[u8]) -> Result<(Event, Payload), PayloadError>;

/// How a program calls its hooks.
pub struct HookDescriptor {
    /// The event with this name.
    pub event: fn(&str) -> Event,
    pub read: ReadHook,
    pub write: fn(Event, &Answer) -> Bytes,
    /// Would a session take a prompt with this text for a message from the program itself?
    pub imitates_host: fn(&str) -> bool,
    /// The answer when we could not judge.
    pub undecided: fn(Event, Stake, &str) -> Bytes,
}
