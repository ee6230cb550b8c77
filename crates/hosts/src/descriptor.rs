//! What is different between agent programs, as data. Each program has one descriptor, in its own file.

use crate::agent_process::{Account, Guard, Guarding, OwnPlace, Start, Trouble, Unguardable};
use crate::hook::{Answer, Bytes, Event, Payload, Stake, Unreadable};
use crate::recognition::Recognition;
use crate::session_host::SessionHost;
use crate::version::Version;

/// One agent program.
pub struct Descriptor {
    /// Its name for people.
    pub title: &'static str,
    pub recognition: Recognition,
    /// The version with which our tests are run.
    pub tested: Version,
    /// The first version that has all that we need.
    pub oldest: Version,
    pub abilities: Abilities,
    /// Where its sessions hold runs. Of other programs only the workers that we start are guarded.
    pub session_host: Option<&'static SessionHost>,
    pub tools: ToolNames,
    pub process: ProcessDescriptor,
    pub hooks: HookDescriptor,
}

/// What a program can do when we start it. A pipeline that needs more is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each answers a question of its own, and all are read by name"
)]
pub struct Abilities {
    /// A hook for its process alone can refuse a tool call before it happens.
    pub blocks_tools: bool,
    /// A conversation goes on by its exact id, in another process.
    pub resumes_exactly: bool,
    /// It reports the tokens that it used.
    pub reports_usage: bool,
    /// It reports what that cost.
    pub reports_cost: bool,
}

/// Its tools by what they are for. The first name is the one that is used today.
pub struct ToolNames {
    /// Starts another agent.
    pub agent: &'static [&'static str],
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
    /// Tools that change no file, whatever they are given.
    pub only_read: &'static [&'static str],
    /// How the names of tools that an MCP server brings begin.
    pub foreign_prefix: &'static str,
}

/// How a program is started, and what its output says.
pub struct ProcessDescriptor {
    /// Variables that say where it finds its settings and its service.
    pub settings_variables: &'static [&'static str],
    /// Variables with which it logs in.
    pub login_variables: &'static [&'static str],
    pub ids: ConversationIds,
    pub counting: Counting,
    /// Settings of the person that guarding must know: the program does not find them any more, or
    /// would write to them.
    pub own_settings: Option<OwnPlace>,
    /// Files in a project that change how the next process of it works, where it has no
    /// [`SessionHost`] that names them.
    pub project_settings: &'static [&'static str],
    /// A folder into which it lets only its own tools write, with what to tell a worker that must
    /// leave something there.
    pub own_folder: Option<(&'static str, &'static str)>,
    /// Its command line.
    pub arguments: fn(&Start<'_>) -> Vec<String>,
    /// What makes its hooks call us, in its process alone.
    pub guarding: fn(&Guard<'_>) -> Result<Guarding, Unguardable>,
    /// Reads one line of its output.
    pub read_line: fn(&[u8], &mut Account),
    /// What an exit code of its own means.
    pub trouble_of_exit_code: fn(i32) -> Option<Trouble>,
}

/// Who chooses the id of a new conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConversationIds {
    Ours,
    Its,
}

/// Since when a program counts the tokens and the cost that it reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// From the beginning of the process.
    Process,
    /// From the beginning of the conversation, through all processes that went on with it.
    Conversation,
}

/// Reads a payload; the event that it names wins over the given one.
pub type ReadHook = fn(Option<Event>, &[u8]) -> Result<(Event, Payload), Unreadable>;

/// How a program talks to its hooks.
pub struct HookDescriptor {
    /// The event that it calls so.
    pub event: fn(&str) -> Event,
    pub read: ReadHook,
    pub write: fn(Event, &Answer) -> Bytes,
    /// Would its session take this text, put to it as a prompt, for a message of its own?
    pub imitates_host: fn(&str) -> bool,
    /// The answer when we could not judge.
    pub undecided: fn(Event, Stake, &str) -> Bytes,
}
