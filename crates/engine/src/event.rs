//! An event: something that happened outside, in the past tense.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::names::{
    AgentName, ArtifactName, CallId, CheckpointName, DispatchId, Hash, HostName, ParamName, RunId,
    SessionId, StageName, StepId, Time, WorkerId,
};
use crate::outcome::{Fault, Outcome};
use crate::run::{Driver, Process, Run, Usage};
use crate::stage::Step;
use crate::view::View;

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
    /// A coding agent that typed a command. The text says how it was told.
    Agent(String),
    /// A person through their session: a command that they typed there, or their answer to a
    /// question that the host put to them.
    Through(SessionId),
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
            Self::Agent(sign) => alloc::format!("an agent ({sign})"),
            Self::Through(session) => alloc::format!("a person in session {session}"),
            Self::Session(session) => alloc::format!("session {session}"),
            Self::Engine => String::from("gatewright"),
        }
    }

    pub fn is_human(&self) -> bool {
        matches!(
            self,
            Self::Person(_) | Self::Unattended(_) | Self::Through(_)
        )
    }

    /// The session from which it came.
    pub fn session(&self) -> Option<&SessionId> {
        match self {
            Self::Session(session) | Self::Through(session) => Some(session),
            Self::Person(_) | Self::Unattended(_) | Self::Agent(_) | Self::Engine => None,
        }
    }
}

/// What happened, by who or what it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happening {
    Work(WorkEvent),
    Tool(ToolEvent),
    Session(SessionEvent),
    Person(PersonEvent),
    Engine(EngineEvent),
}

/// Agents are asked for, begin and end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkEvent {
    Requested {
        agent: AgentName,
        step: Option<StepId>,
        call: Option<CallId>,
        /// The worker that asks, where it is not the session itself.
        worker: Option<Asker>,
    },
    /// An agent was seen to begin. Hosts do not say which call began it.
    Began { worker: Actor },
    /// The host told which worker a call began.
    Launched { call: CallId, worker: WorkerId },
    /// Somebody wants to write to a worker, who then works on, or again.
    MessageRequested {
        to: WorkerId,
        call: Option<CallId>,
        /// The worker that writes, where it is not the session itself.
        worker: Option<Asker>,
    },
    Ended {
        work: WorkRef,
        ending: Ending,
        usage: Usage,
    },
    Reported {
        agent: Option<AgentName>,
        step: Option<StepId>,
        said: Option<Outcome>,
        usage: Usage,
    },
}

/// A worker or the session uses a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolEvent {
    Requested {
        tool: String,
        worker: Option<Actor>,
        /// What of ours the call would plainly change.
        protected_paths: Vec<ProtectedPath>,
        /// Another way to start an agent, or to act as a person.
        bypass: Option<BypassAttempt>,
    },
    /// A tool has worked. Where the stage restricts `writes`, the tree is compared.
    Used { worker: Option<Actor> },
}

/// A session of a host begins, ends, is spoken to or wants to stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionEvent {
    /// A session is there: it begins, goes on after a break, or is the heir of one that was cleared.
    Started {
        session: SessionId,
        process: Option<Process>,
        heir_of: Option<SessionId>,
    },
    Ended {
        session: SessionId,
    },
    PromptSubmitted,
    StopRequested {
        background_work: bool,
    },
    /// The host's own list of things to do says that these are done.
    TodosMarked {
        done: Vec<String>,
    },
    /// The host's settings changed so that our hooks would be gone.
    HooksRemoved {
        how: String,
    },
    /// Something happened in the session that moves nothing and is worth a line.
    Remarked {
        message: String,
    },
    /// A hook could not decide, and its host went on without an answer.
    Unevaluated {
        what: String,
    },
}

/// A person says what is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PersonEvent {
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
    /// A person lets the run go unguarded until then.
    BypassAsked {
        until: Time,
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
}

/// Our own side has done something, or time has passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineEvent {
    /// A queued run is taken up.
    TakenUp,
    ChecksRan {
        stage: StageName,
        visit: u32,
        results: Vec<CheckResult>,
        tree: TreeAround,
    },
    /// The steps of the stage that the run is in were read from where they are given.
    StepsRead { stage: StageName, visit: u32 },
    /// The file of a view is not as it was written.
    ViewChanged {
        view: View,
        /// Its path in this run.
        path: String,
        how: ViewChange,
    },
    /// Nothing happened; time limits are judged.
    TimePassed,
}

/// What somebody did to the file of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewChange {
    Edited,
    Removed,
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
    /// The agent program whose sessions may hold the run.
    pub host: HostName,
    pub session: Option<SessionId>,
    /// The process of that session.
    pub process: Option<Process>,
    pub steps: Vec<Step>,
    /// What lies at the artifacts' paths already: an earlier run left it.
    pub before: BTreeMap<ArtifactName, Hash>,
    pub queued: bool,
}

/// An agent at work inside a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    pub id: WorkerId,
    pub agent: AgentName,
}

/// A worker that asks for an agent, and the names of the tool with which it does so: a stage may deny
/// it any of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asker {
    pub actor: Actor,
    pub tools: &'static [&'static str],
}

/// Something that a tool call would change and that the run rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProtectedPath {
    /// Our state folder.
    State,
    /// The host's settings, in which our hooks stand.
    Settings,
    /// The pipeline, its prompts and scripts.
    Definition,
    /// Our own program.
    Program,
    /// A view whose removal stops the run: that is a person's to do.
    Stop,
    /// The file of an artifact. `step` where its path belongs to one step.
    Artifact {
        artifact: ArtifactName,
        step: Option<StepId>,
    },
}

/// A way around the admission of agents or of people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BypassAttempt {
    /// A script that starts agents by itself.
    Workflow,
    /// A command line that starts this agent program.
    AgentProgram(String),
    /// A command line that calls a hook, as only a host does.
    HookCall,
    /// A command line with a command that is a person's.
    PersonsCommand(String),
    /// A call for an agent whose name is none.
    NoName(String),
    /// A worker of ours calls an agent of its own, whose work is part of its work.
    OwnAgent(AgentName),
}

/// How an end names the work that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkRef {
    Dispatch(DispatchId),
    /// What the host knows of it: the call that began it, the worker that did it, or both.
    Host {
        call: Option<CallId>,
        worker: Option<WorkerId>,
    },
    /// The oldest open dispatch of this agent in the session that reports.
    Agent {
        agent: AgentName,
        step: Option<StepId>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It wants to end, and can be sent back.
    Stopping {
        worked: bool,
    },
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
