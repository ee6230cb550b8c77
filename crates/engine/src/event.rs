//! An event: something that happened outside, in the past tense.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::check_result::{CheckResult, CheckedProgram, TreeAround};
use crate::names::{
    AgentName, ArtifactName, CallId, CheckpointName, DispatchId, Hash, HostName, ParamName, RunId,
    SessionId, StageName, StepId, Time, WorkerId,
};
use crate::outcome::{Fault, Outcome};
use crate::outside::OutsideChange;
use crate::place::{Delivered, OnMachine, Relocation, RunBranch};
use crate::run::{Driver, Process, Run, Service, ServiceLimit, Unguarded};
use crate::stage::Step;
use crate::usage::Usage;
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
    /// A coding agent that typed a command. The text says how it was recognised.
    Agent(String),
    /// A person through their session: a command that they typed there, or their answer to a
    /// question that the host asked them.
    Through(SessionId),
    /// A host's session, through its hooks.
    Session(SessionId),
    /// Gatewright itself: the orchestrator, or a check that it ran.
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

/// What happened, grouped by its subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happening {
    Work(WorkEvent),
    Tool(ToolEvent),
    Session(SessionEvent),
    Person(PersonEvent),
    Engine(EngineEvent),
}

/// Agents are requested, start and end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkEvent {
    Requested {
        agent: AgentName,
        step: Option<StepId>,
        /// The model that the call names.
        model: Option<String>,
        call: Option<CallId>,
        /// The worker that asks, where it is not the session itself.
        worker: Option<Asker>,
        /// What will work on it, if Gatewright starts it.
        service: Option<Service>,
    },
    /// An agent started. Hosts do not report which call started it.
    Began { worker: Actor },
    /// The host reported which worker a call started.
    Launched { call: CallId, worker: WorkerId },
    /// A message to a worker, which then continues or starts again.
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
    /// The process of this work ended before the work did. The work stays open.
    CutShort {
        dispatch: DispatchId,
        /// What was used and not reported yet.
        usage: Usage,
        why: CutReason,
    },
    /// Somebody works on this again.
    WentOn {
        dispatch: DispatchId,
        service: Service,
    },
    /// A person interrupted this worker. Hosts report no end of it.
    Interrupted { worker: WorkerId },
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
        /// The protected files that the call would plainly change.
        protected_paths: Vec<ProtectedPath>,
        /// Another way to start an agent, or to act as a person.
        bypass: Option<BypassAttempt>,
    },
    /// A tool has worked. Where the stage restricts `writes`, the tree is compared.
    Used { worker: Option<Actor> },
}

/// A session of a host starts, ends, gets a prompt or tries to stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionEvent {
    /// A session is attached: it starts, continues after a break, or succeeds one that was cleared.
    Started {
        session: SessionId,
        process: Option<Process>,
        heir_of: Option<SessionId>,
        /// Why it is not certain that a host sees what the session does there.
        unverified_host: Option<String>,
    },
    Ended {
        session: SessionId,
    },
    /// A person wrote this to the session.
    PromptSubmitted {
        text: String,
    },
    StopRequested {
        background_work: bool,
    },
    /// The host's own to-do list marks these as done.
    TodosMarked {
        done: Vec<String>,
    },
    /// The host's settings changed so that the hooks would be gone.
    HooksRemoved {
        how: String,
    },
    /// Something in the session that has no effect and is worth a note.
    Remarked {
        message: String,
    },
    /// A hook could not decide, and its host continued without an answer.
    Unevaluated {
        what: String,
    },
    /// A hook could not decide, and so refused.
    RefusedUnjudged {
        what: String,
    },
    /// A witness showed work that no hook guarded.
    Unguarded(Unguarded),
}

/// A person gives a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PersonEvent {
    Answered(Answer),
    /// What the person changed in the files of artifacts, while a question is open, counts.
    EditsTaken,
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
    /// A person bypasses the guards until then.
    BypassAsked {
        until: Time,
        reason: String,
    },
    CheckpointAsked {
        name: CheckpointName,
    },
    /// A person vouches for what checks run in and with.
    Vouched {
        /// The run's environment from now on; the one that it has where none is given.
        environment: Option<Hash>,
        programs: Vec<CheckedProgram>,
    },
    /// The state at an earlier entry, found by folding the journal up to it.
    RestoreAsked {
        entry: u64,
        state: alloc::boxed::Box<Run>,
        reason: String,
    },
    /// The run of a lost machine is to go on here, after this entry.
    AdoptAsked {
        machine: String,
        entry: u64,
    },
}

/// Gatewright has done something, or time has passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineEvent {
    /// A queued run is picked up.
    TakenUp,
    /// The worktree of a run with a branch of its own was made.
    Placed {
        folder: String,
        /// The machine of the fleet that has the worktree, if the run is in one.
        on: Option<OnMachine>,
    },
    /// Another machine of the fleet goes on, in a worktree that it made from the last tree that was kept.
    Relocated(Relocation),
    /// The run's work was handed over.
    Delivered(Delivered),
    /// It could not be handed over.
    DeliveryFailed { reason: String },
    ChecksRan {
        stage: StageName,
        visit: u32,
        results: Vec<CheckResult>,
        tree: TreeAround,
    },
    /// The steps of the stage that the run is in were read from where they are given.
    StepsRead { stage: StageName, visit: u32 },
    /// The run is at a route, and its evidence was looked at.
    RouteReached { stage: StageName, visit: u32 },
    /// Somebody changed the file of a view.
    ViewChanged {
        view: View,
        /// Its path in this run.
        path: String,
        how: ViewChange,
    },
    /// Nothing happened; time limits are judged.
    TimePassed,
    /// The session that began the run with itself is over.
    LeftUnused,
    /// Something outside a worker's folder changed while it worked.
    ChangedOutside(OutsideChange),
    /// The run was driven for so many more milliseconds.
    Driven { ms: u64 },
    /// A cap that a person set for all runs is used up, and nothing new starts.
    Capped { what: String },
    /// Another run has met this limit.
    LimitKnown(ServiceLimit),
}

/// What somebody did to the file of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewChange {
    Edited,
    Removed,
}

/// What a run starts with.
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
    /// Files that already exist at the artifacts' paths, from an earlier run.
    pub before: BTreeMap<ArtifactName, Hash>,
    pub queued: bool,
    /// The hash of the environment in which checks will run.
    pub environment: Option<Hash>,
    /// The tree at the start, where a route may ask for the change since then.
    pub base: Option<Hash>,
    /// The branch of its own, on which the run works.
    pub branch: Option<RunBranch>,
    /// The commit that is checked out where the run works, unless it has a branch of its own.
    pub commit: Option<String>,
    /// Why it is not certain that a host sees what the session does. The run is marked from its
    /// first moment.
    pub unverified_host: Option<String>,
}

/// An agent that works inside a session.
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

/// Something that the run depends on and a tool call would change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProtectedPath {
    /// Our state folder.
    State,
    /// The host's settings with the hooks.
    Settings,
    /// The pipeline, its prompts and scripts.
    Definition,
    /// Our own program.
    Program,
    /// A view whose removal stops the run: only a person may remove it.
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
    /// A helper, which may only read, would write with this tool.
    HelperWrites(String),
    /// A command line that calls a hook, as only a host does.
    HookCall,
    /// A command line with a command that only a person may use.
    PersonsCommand(String),
    /// A call for an agent whose name is not valid.
    NoName(String),
    /// A worker that Gatewright started calls its own agent, whose work is part of its work.
    OwnAgent(AgentName),
}

/// How an end names the work that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkRef {
    Dispatch(DispatchId),
    /// What the host knows of it: the call that started it, the worker that did it, or both.
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

/// Why a process of open work ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CutReason {
    /// Gatewright was asked to stop.
    Stopped,
    /// It passed the budget.
    OverBudget,
    /// It passed a cap that a person set for all runs.
    Capped { what: String },
    /// Its service asks to wait, until then if it names a time.
    Limited {
        service: Service,
        until: Option<Time>,
        reason: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It tries to finish, and can be sent back.
    Stopping {
        worked: bool,
    },
    /// It ended by itself; its artifacts decide whether well. `worked`: it used a tool.
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
    Choice {
        choice: Outcome,
        words: Option<Words>,
    },
    /// Answers to a worker's questions, by question id. Their text is the artifact `content`.
    Answers {
        given: BTreeMap<String, String>,
        content: Hash,
    },
    /// A person continues a stale, abandoned or over-budget run.
    Continue { words: Option<String> },
}

/// What a person says with a choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    pub text: String,
    /// The same as the content of an artifact, for a stage that keeps it.
    pub content: Hash,
}
