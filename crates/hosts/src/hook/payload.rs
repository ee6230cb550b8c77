//! What a hook's payload says, whatever the host.

use engine::{Actor, AgentName, CallId, CommandName, SessionId, StepId, WorkerId};

/// One payload. What a host left out is `None`; what it got wrong is `Unreadable`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    /// A missing, empty or impossible id is `None`, so it matches no session.
    pub session: Option<SessionId>,
    /// Where the session works now. Not the project: that comes from the environment.
    pub cwd: Option<String>,
    /// The id of the prompt that all this belongs to.
    pub prompt: Option<String>,
    /// A prompt that the call would put to a session later, where it passes for a person's.
    pub planted: Option<String>,
    pub what: What,
}

/// What happened, or is about to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    SessionStarted {
        source: Source,
    },
    SessionEnded {
        cleared: Ended,
    },
    /// A prompt that names no command.
    PromptSubmitted,
    /// A slash command. Any text that begins like one is taken for one: whoever asks knows which
    /// commands there are.
    CommandTyped {
        name: CommandName,
        arguments: String,
    },
    AgentRequested {
        /// The name as it was given, where it is none.
        agent: Result<AgentName, String>,
        step: Option<StepId>,
        call: Option<CallId>,
        actor: Option<Actor>,
    },
    SkillRequested {
        skill: String,
        call: Option<CallId>,
        actor: Option<Actor>,
    },
    WorkflowRequested {
        actor: Option<Actor>,
    },
    MessageRequested {
        to: String,
        call: Option<CallId>,
        actor: Option<Actor>,
    },
    ToolRequested {
        tool: String,
        actor: Option<Actor>,
        /// The files that the call would write.
        paths: Vec<String>,
        /// The text for a shell.
        command: Option<String>,
    },
    /// Items of the session's own list that are, or are about to be, marked as done.
    TodosMarked {
        done: Vec<String>,
    },
    /// Each question with the labels that a person chose, or with the text that they typed.
    QuestionAnswered {
        answers: Vec<(String, Vec<String>)>,
    },
    AgentLaunched {
        call: CallId,
        worker: WorkerId,
    },
    AgentReturned {
        call: Option<CallId>,
        worker: Option<WorkerId>,
        reply: Option<String>,
        tool_uses: Option<u64>,
        tokens: Option<u64>,
    },
    AgentFailed {
        call: Option<CallId>,
        worker: Option<WorkerId>,
        reason: String,
    },
    /// The host told its session, by a prompt that no person wrote, that a worker has ended well.
    AgentNotified {
        call: Option<CallId>,
        worker: Option<WorkerId>,
        reply: Option<String>,
        tool_uses: Option<u64>,
        tokens: Option<u64>,
    },
    AgentBegan {
        actor: Actor,
    },
    AgentStopping {
        actor: Actor,
        reply: Option<String>,
    },
    /// A tool has worked or failed.
    ToolUsed {
        tool: String,
        actor: Option<Actor>,
    },
    StopRequested {
        /// Agents work in the background; the host asks again when they have ended.
        background_work: bool,
    },
    /// The session's own turn ended by an error, and no stop was asked for.
    TurnFailed {
        reason: String,
    },
    ConfigChanged {
        file: Option<String>,
    },
    /// Nothing of ours.
    Ignored,
}

/// How a session began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Also what a later host may add: a session that we have not seen is a new one.
    Startup,
    Resume,
    Compact,
    Clear,
    Fork,
}

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Its conversation was cleared. An heir in the same process follows.
    Cleared,
    Over,
}

/// Why a payload could not be read. Each is one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    #[error("the hook's input is empty")]
    Empty,
    #[error("the hook's input has {bytes} bytes, more than {limit}")]
    TooLarge { bytes: usize, limit: usize },
    #[error("the hook's input is not whole JSON: line {line}, column {column}")]
    NotJson { line: usize, column: usize },
    #[error("the hook's input is JSON but not an object")]
    NotAnObject,
    #[error("the hook's input has a wrong `{field}`: {wanted} is wanted")]
    WrongType {
        field: &'static str,
        wanted: &'static str,
    },
    #[error("the hook's input has no `{field}`")]
    Missing { field: &'static str },
}
