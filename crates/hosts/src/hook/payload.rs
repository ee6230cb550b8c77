//! What a hook's payload says, whatever the host.

use engine::{Actor, AgentName, CallId, CommandName, SessionId, StepId, WorkerId};

/// One payload. A missing field is `None`; a wrong one is `PayloadError`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    /// A missing, empty or invalid id is `None`, so it matches no session.
    pub session: Option<SessionId>,
    /// The current folder of the session. The project comes from the environment instead.
    pub cwd: Option<String>,
    /// The host's own record of the conversation.
    pub transcript: Option<String>,
    /// The id of the prompt that the event belongs to.
    pub prompt: Option<String>,
    /// The tool call that the event is about.
    pub tool_call: Option<CallId>,
    /// A prompt that the call schedules for later. The host will treat it like a person's.
    pub scheduled_prompt: Option<String>,
    /// What the call would make of the file that it names. Told only of files that could be settings.
    pub edit: Option<FileEdit>,
    pub what: What,
}

/// What a tool makes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileEdit {
    /// The whole new content.
    Written(String),
    /// Replacements, one after another.
    Replaced(Vec<Replacement>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    pub old: String,
    pub new: String,
    pub everywhere: bool,
}

impl FileEdit {
    /// The file afterwards; `None` if that is not certain.
    pub fn applied(&self, before: &str) -> Option<String> {
        match self {
            Self::Written(text) => Some(text.clone()),
            Self::Replaced(all) => all
                .iter()
                .try_fold(before.to_owned(), |text, one| one.applied(&text)),
        }
    }
}

impl Replacement {
    fn applied(&self, text: &str) -> Option<String> {
        if self.old.is_empty() {
            return text.is_empty().then(|| self.new.clone());
        }
        match (text.matches(&self.old).count(), self.everywhere) {
            (1, _) => Some(text.replacen(&self.old, &self.new, 1)),
            (2.., true) => Some(text.replace(&self.old, &self.new)),
            // The host may look for a text that is only similar.
            (0, _) | (2.., false) => None,
        }
    }
}

/// What happened, or is about to happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    SessionStarted {
        source: SessionSource,
    },
    SessionEnded {
        how: SessionEnd,
    },
    /// A prompt that names no command.
    PromptSubmitted {
        text: String,
    },
    /// A slash command, or any text that begins like one: the caller knows which commands exist.
    CommandTyped {
        name: CommandName,
        arguments: String,
    },
    AgentRequested {
        /// The raw text if it is not a valid name.
        agent: Result<AgentName, String>,
        step: Option<StepId>,
        /// The model that the call names.
        model: Option<String>,
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
        message: Message,
        call: Option<CallId>,
        actor: Option<Actor>,
    },
    ToolRequested {
        tool: String,
        actor: Option<Actor>,
        /// The files that the call would write.
        paths: Vec<String>,
        /// The shell command.
        command: Option<String>,
    },
    /// Items of the session's to-do list that were or will be marked as done.
    TodosMarked {
        done: Vec<String>,
    },
    /// Each question with the labels that a person chose, or the text that they typed.
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
    /// The host sent its session a notification that a worker has completed.
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
    /// A tool call has ended, with or without success.
    ToolUsed {
        tool: String,
        actor: Option<Actor>,
    },
    StopRequested {
        /// Agents work in the background. The host asks again when they have ended.
        background_work: bool,
    },
    /// An error ended the session's turn, so there was no stop request.
    TurnFailed {
        reason: String,
    },
    ConfigChanged {
        file: Option<String>,
    },
    /// Nothing that concerns us.
    Ignored,
}

/// A message of a session to one of its agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub to: String,
    pub summary: Option<String>,
    /// `None` if it is not a text, but something that the host means.
    pub text: Option<String>,
}

/// How a session began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionSource {
    /// Also any source that a later host may add: a session that we have not seen is new.
    Startup,
    Resume,
    Compact,
    Clear,
    Fork,
}

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionEnd {
    /// The person cleared the conversation. A new session follows in the same process.
    Cleared,
    /// The person left it at its prompt.
    Left,
    Over,
}

/// Why we could not read a payload. Each message is one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PayloadError {
    #[error("the hook's input is empty")]
    Empty,
    #[error("the hook's input has {bytes} bytes, more than {limit}")]
    TooLarge { bytes: usize, limit: usize },
    #[error("the hook's input is not complete JSON: line {line}, column {column}")]
    NotJson { line: usize, column: usize },
    #[error("the hook's input is JSON but not an object")]
    NotAnObject,
    #[error("the hook's input has a wrong `{field}`: it must be {wanted}")]
    WrongType {
        field: &'static str,
        wanted: &'static str,
    },
    #[error("the hook's input has no `{field}`")]
    Missing { field: &'static str },
}
