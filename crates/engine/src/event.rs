//! An event: something that happened outside, in the past tense.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::names::{
    AgentName, ArtifactName, CheckpointName, DispatchId, Hash, Outcome, ParamName, RunId,
    SessionId, StageName, StepId, Time,
};
use crate::run::{Driver, Fault, Run, Usage};
use crate::stage::Step;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub at: Time,
    pub by: Who,
    pub what: Happening,
}

/// Who caused an event. What we know, not what was claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// A person at a terminal.
    Person(String),
    /// A script or CI under a person's account, with no terminal.
    Unattended(String),
    /// A host's session, through its hooks.
    Session(SessionId),
    /// Our own side: the orchestrator, or a check that it ran.
    Engine,
}

impl Who {
    pub fn name(&self) -> String {
        match self {
            Self::Person(name) => name.clone(),
            Self::Unattended(name) => alloc::format!("{name} (unattended)"),
            Self::Session(session) => alloc::format!("session {session}"),
            Self::Engine => String::from("gatewright"),
        }
    }

    pub fn is_human(&self) -> bool {
        matches!(self, Self::Person(_) | Self::Unattended(_))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happening {
    // A host or the orchestrator.
    SessionStarted {
        session: SessionId,
    },
    SessionEnded {
        session: SessionId,
    },
    /// A queued run is taken up.
    TakenUp,
    AgentRequested {
        agent: AgentName,
        step: Option<StepId>,
    },
    AgentEnded {
        work: WorkRef,
        ending: Ending,
        usage: Usage,
    },
    StopRequested {
        background_work: bool,
    },
    ToolRequested {
        tool: String,
    },
    PromptSubmitted,

    // A person, or a run that is driven by hand.
    Reported {
        agent: Option<AgentName>,
        step: Option<StepId>,
        said: Option<Outcome>,
        usage: Usage,
    },
    Answered(Answer),
    FinishAsked,
    SkipAsked {
        outcome: Option<Outcome>,
        reason: String,
    },
    RetryAsked,
    CancelAsked {
        reason: String,
    },
    ResetAsked {
        reason: String,
    },
    CheckpointAsked {
        name: CheckpointName,
    },
    /// The state at an earlier entry, found by folding the journal up to it.
    RestoreAsked {
        entry: u64,
        state: alloc::boxed::Box<Run>,
        reason: String,
    },

    // Our own side.
    ChecksRan {
        stage: StageName,
        visit: u32,
        results: Vec<CheckResult>,
        tree: TreeAround,
    },
    /// The steps of the stage that the run is in were read from where they are given.
    StepsRead {
        stage: StageName,
        visit: u32,
    },
    /// Nothing happened; time limits are judged.
    TimePassed,
}

/// What a run is begun with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beginning {
    pub at: Time,
    pub by: Who,
    pub id: RunId,
    pub definition: Hash,
    pub task: String,
    pub params: BTreeMap<ParamName, String>,
    pub driver: Driver,
    pub session: Option<SessionId>,
    pub steps: Vec<Step>,
    /// What lies at the artifacts' paths already: an earlier run left it.
    pub before: BTreeMap<ArtifactName, Hash>,
    pub queued: bool,
}

/// How an end names the work that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkRef {
    Dispatch(DispatchId),
    /// The oldest open dispatch of this agent in the session that reports.
    Agent {
        agent: AgentName,
        step: Option<StepId>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It ended by itself; whether well, its artifacts tell. `worked`: it was seen to use a tool.
    Finished {
        worked: bool,
    },
    Fault {
        fault: Fault,
        reason: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Choice(Outcome),
    /// Answers to a worker's questions, by question id. Their text is the artifact `content`.
    Answers {
        given: BTreeMap<String, String>,
        content: Hash,
    },
    /// A person lets a stale, abandoned or over-budget run go on.
    Continue,
}

/// What one command of a check stage did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckResult {
    pub argv: Vec<String>,
    pub ended: CheckEnd,
    pub duration_ms: u64,
    /// The end of its output, redacted.
    pub tail: String,
    /// The output holds the stage's `fails_on`.
    pub matched_failure: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckEnd {
    Exit(i32),
    Signal(i32),
    TimedOut,
    /// It could not be started: an outside fault, no verdict on the work.
    CouldNotStart(String),
}

/// The tree before and after a check: a result counts only when they are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeAround {
    pub before: Hash,
    pub after: Hash,
}
