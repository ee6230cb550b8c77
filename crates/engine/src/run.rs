//! A run: one journey through a pipeline, for one task in one project. The fold of its entries.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use crate::cause::{Happened, Passage};
use crate::change::HeldRoute;
use crate::names::{
    AgentName, ArtifactName, CallId, CounterName, DispatchId, Hash, HostName, ParamName, RunId,
    RunnerName, SessionId, StageName, StepId, Time, WorkerId,
};
use crate::outcome::{Fault, Outcome};
use crate::place::RunPlace;
use crate::stage::{Conversation, Stage, Step, Writes};
use crate::usage::Usage;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Run {
    pub id: RunId,
    /// The hash of the definition's bytes to which this run is pinned.
    pub definition: Hash,
    pub task: String,
    /// The visit in which the person gave the task, or it began. More that they write there is added.
    pub task_visit: Option<u32>,
    /// What the person wrote to the session after the run's end: the next task.
    pub next_task: Option<String>,
    pub params: BTreeMap<ParamName, String>,
    pub driver: Driver,
    /// The agent program whose sessions may hold the run.
    pub host: HostName,
    pub started_at: Time,
    /// The last event that counts as activity: `ttl` runs from here.
    pub touched_at: Time,
    pub position: Position,
    pub standing: Standing,
    pub counters: BTreeMap<CounterName, u32>,
    /// The files at the artifacts' paths when the run started: the same bytes later are an old artifact.
    pub before: BTreeMap<ArtifactName, Hash>,
    /// The latest captured copy of each artifact.
    pub artifacts: BTreeMap<ArtifactName, Captured>,
    /// The content that a person approved.
    pub approved: BTreeMap<ArtifactName, Hash>,
    /// The commands in all that a person approved, each once, in the order of the approvals.
    pub approved_commands: Vec<Vec<String>>,
    /// What each check, review or read-only verdict last passed on.
    pub gates: BTreeMap<StageName, Gate>,
    /// The untracked files that checks made, with the content that they left. With other content a file
    /// counts as changed.
    pub made: BTreeMap<String, Hash>,
    /// How often the run returned to a gate because the tree had changed after it.
    pub stale_returns: u32,
    /// Open pieces of work only; ended ones are in the journal.
    pub dispatches: BTreeMap<DispatchId, Dispatch>,
    pub last_dispatch: DispatchId,
    /// The workers that hosts numbered, with their latest work; the oldest are forgotten. Shared, because a
    /// decision copies the run and seldom changes them.
    pub workers: Arc<BTreeMap<WorkerId, KnownWorker>>,
    /// Rounds and approvals of each review stage.
    pub panels: BTreeMap<StageName, Panel>,
    /// The task graph of each steps stage, with its members as planned.
    pub graphs: BTreeMap<StageName, Graph>,
    /// The steps that were given at start.
    pub given_steps: Vec<Step>,
    pub session: Option<Binding>,
    /// A person has bypassed the guards for a while.
    pub bypass: Option<Bypass>,
    /// What people overrode. Never emptied.
    pub overrides: Vec<Override>,
    pub used: Usage,
    /// For how many milliseconds the run was driven, as far as its time is limited.
    pub driven_ms: Option<u64>,
    /// How many times a person has granted the budget again.
    pub grants: u32,
    /// What was used when the budget was last granted: it counts from there.
    pub granted: Grant,
    /// How often the session was held back from stopping since the run last moved.
    pub holds: u32,
    /// How many events were not judged.
    pub unjudged: u32,
    /// How many changes outside a worker's folder were recorded, if any.
    pub outside: Option<u32>,
    /// The hash of the environment in which checks run.
    pub environment: Option<Hash>,
    /// The work that no hook guarded. Never emptied.
    pub unguarded: Vec<UnguardedWork>,
    /// What led here: the stages that were left since an agent last worked, the check that it has not
    /// passed yet, and what people said. It decides nothing; it is what the next one gets to know.
    pub trail: Vec<Passage>,
    /// The tree as it was when the run began, where a route, a reviewer or a person may ask for the change.
    pub base: Option<Hash>,
    /// The routes that took the run a shorter way.
    pub routes: BTreeMap<StageName, HeldRoute>,
    /// The word with which each stage was last left.
    pub exits: BTreeMap<StageName, String>,
    /// The branch of its own, and its worktree. A run without one works in the person's tree.
    pub place: Option<RunPlace>,
    /// The services that asked this run to wait, and since then have done no work for it.
    pub limits: Vec<ServiceLimit>,
    /// The commit that was checked out when the run began: what git tracked then counts. A run with a branch of
    /// its own goes by that, and older journals have none.
    pub commit: Option<String>,
}

impl Run {
    /// Does it have a branch of its own, and no worktree yet?
    pub fn is_unplaced(&self) -> bool {
        let place = self.place.as_ref();
        place.is_some_and(|place| place.folder.is_none())
    }
}

/// What does a piece of work that Gatewright starts: an agent program, and the model that it uses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Service {
    pub runner: RunnerName,
    /// `None` for the program's own choice.
    pub model: Option<String>,
}

impl Service {
    /// The runner of a rehearsal: one program of a person in the place of every agent.
    pub const STAND_IN: &'static str = "stand-in";

    pub fn is_stand_in(&self) -> bool {
        self.runner.as_str() == Self::STAND_IN
    }
}

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.model {
            Some(model) => write!(f, "{} ({model})", self.runner),
            None => write!(f, "{}", self.runner),
        }
    }
}

/// A service that asked to wait.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ServiceLimit {
    pub service: Service,
    /// No work of this run goes to the service before.
    pub until: Time,
    /// What the service or its program said.
    pub reason: String,
    /// Was the time named? Otherwise it is our own backoff.
    pub named: bool,
    /// How often it has asked without any work in between.
    pub times: u32,
}

/// Work that no hook guarded, as a witness shows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unguarded {
    pub witness: Witness,
    /// What the witness saw, for a person.
    pub what: String,
    pub from: Time,
    pub until: Time,
}

/// Who saw what the hooks did not see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Witness {
    /// The host's own record of the conversation.
    Transcript,
    /// The files that the run relies on: agents, the program, the settings.
    Files,
    /// The processes of the machine.
    Processes,
}

impl Witness {
    pub fn word(self) -> &'static str {
        match self {
            Self::Transcript => "transcript",
            Self::Files => "files",
            Self::Processes => "processes",
        }
    }
}

/// A piece of work that no hook guarded.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UnguardedWork {
    pub found: Unguarded,
    /// A person has accepted it, or has reset the run since.
    pub settled: bool,
}

impl Run {
    /// Does a session of the run's host start the workers of this runner itself? A stage that names
    /// no runner leaves them to the session.
    pub fn session_starts(&self, runner: Option<&RunnerName>) -> bool {
        runner.is_none_or(|runner| runner.as_str() == self.host.as_str())
    }

    /// The open work of this worker.
    pub fn work_of(&self, worker: &WorkerId) -> Option<&Dispatch> {
        let mut open = self.dispatches.values();
        open.find(|open| open.worker.as_ref() == Some(worker))
    }

    /// The commands of an artifact, as it was last captured, that nobody has approved.
    pub fn new_commands(&self, artifact: &ArtifactName) -> Vec<&Vec<String>> {
        let captured = self.artifacts.get(artifact);
        let commands = captured.map(|captured| captured.commands.as_slice());
        let commands = commands.unwrap_or_default().iter();
        commands
            .filter(|command| !self.approved_commands.contains(command))
            .collect()
    }

    /// The work that no hook guarded and that no person has accepted yet.
    pub fn open_unguarded(&self) -> impl Iterator<Item = &Unguarded> {
        let open = self.unguarded.iter().filter(|work| !work.settled);
        open.map(|work| &work.found)
    }

    /// Until when this service asks to wait, and why.
    pub fn limit(&self, service: &Service, now: Time) -> Option<&ServiceLimit> {
        let mut limits = self.limits.iter();
        limits.find(|limit| limit.service == *service && limit.until > now)
    }

    /// The limit that open work of the current visit rests for, if it is not over yet.
    pub fn limit_of(&self, dispatch: &Dispatch, now: Time) -> Option<&ServiceLimit> {
        dispatch.paused_at?;
        self.limit(dispatch.service.as_ref()?, now)
    }

    /// The open work that this call asked for.
    pub fn work_of_call(&self, call: &CallId) -> Option<&Dispatch> {
        let mut open = self.dispatches.values();
        open.find(|open| open.call.as_ref() == Some(call))
    }

    /// Has this call been answered with work already?
    pub fn knows_call(&self, call: Option<&CallId>) -> bool {
        let open = self.dispatches.values().map(|open| open.call.as_ref());
        let known = self.workers.values().map(|known| known.call.as_ref());
        call.is_some() && open.chain(known).any(|known| known == call)
    }
}

/// Who drives the run, and so how much of it was witnessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Driver {
    /// A person reports from the command line; nobody saw the agents work.
    ByHand,
    /// A host's hooks.
    Guarded,
    /// Gatewright's own orchestrator.
    Headless,
}

/// Where the run is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    pub stage: StageName,
    /// Counts every entry into a stage, so that late work of an earlier visit is told apart.
    pub visit: u32,
    pub entered_at: Time,
    /// Faults already spent in this visit.
    pub retries: u32,
    /// Where `@interrupted` leads from here. Present only in a stage that has such an edge.
    pub resume: Option<Resume>,
    /// The tree before the work that first strayed in this visit. Later attempts are compared with it, so
    /// that a forbidden change does not become the ground on which the next attempt stands.
    pub strayed_from: Option<Hash>,
    /// What has happened in this visit.
    pub happened: Vec<Happened>,
}

/// The transition that an escalation interrupted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Resume {
    pub to: StageName,
    /// The counter that the interrupted transition would have counted.
    pub count: Option<CounterName>,
    /// The artifact whose new commands blocked the transition.
    pub artifact: Option<ArtifactName>,
}

impl Resume {
    /// Was this transition blocked, so that it is still to be taken? Otherwise the run came from there.
    pub fn is_barred(&self) -> bool {
        self.count.is_some() || self.artifact.is_some()
    }
}

/// What prevents a run from continuing, apart from its stage. `status` joins the two.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Standing {
    Queued,
    Going,
    /// All retries of a fault failed; a person may retry, skip or cancel.
    Stuck {
        fault: Fault,
        reason: String,
    },
    /// Nothing happened for longer than `ttl`; a person may continue, reset or cancel.
    Stale,
    /// The budget is used up; a person may grant it again or cancel.
    OverBudget {
        what: String,
    },
    /// Somebody pulled the emergency stop; a person may continue, reset or cancel. Work that is under
    /// way may end, and nothing new starts.
    Halted {
        reason: String,
    },
    /// The session stopped although the work was not done; any progress ends this.
    Abandoned,
    Cancelled {
        reason: String,
    },
}

/// The status of a run, from its stage and its standing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    Queued,
    Running,
    Waiting(String),
    Completed,
    Failed,
    Cancelled,
}

impl Status {
    /// The word for it, without the reason.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Waiting(_) => "waiting",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// The content of an artifact at the end of the work that left it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Captured {
    pub content: Hash,
    pub dispatch: Option<DispatchId>,
    /// The commands in it that a check may run.
    pub commands: Vec<Vec<String>>,
}

/// One admitted piece of work.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Dispatch {
    pub id: DispatchId,
    pub duty: Duty,
    pub agent: AgentName,
    pub stage: StageName,
    pub visit: u32,
    /// Its number at that stage.
    pub attempt: u32,
    pub session: Option<SessionId>,
    /// The host's number of the call that asked for it.
    pub call: Option<CallId>,
    /// The host's number of its worker, once it has started.
    pub worker: Option<WorkerId>,
    /// It used a tool.
    pub worked: bool,
    /// How often it tried to finish without its artifacts, and was sent back.
    pub sent_back: u32,
    pub started_at: Time,
    /// Since when nobody works on it: its process was ended, or its service asked to wait.
    pub paused_at: Option<Time>,
    /// What works on it, if Gatewright starts it.
    pub service: Option<Service>,
    pub conversation: Conversation,
    pub reach: TreeAccess,
    /// The tree before the work.
    pub tree: Option<Hash>,
    /// The files at the artifacts' paths before the work: the same bytes afterwards are an old artifact.
    pub before: BTreeMap<ArtifactName, Hash>,
}

/// May this piece of work change the tree?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TreeAccess {
    ReadsOnly,
    MayWrite,
}

impl TreeAccess {
    /// A stage that may change nothing gives a verdict on the tree that it found.
    pub(crate) fn of(stage: &Stage) -> Self {
        match &stage.writes {
            Writes::Only(globs) if globs.is_empty() => Self::ReadsOnly,
            Writes::Only(_) | Writes::Anything => Self::MayWrite,
        }
    }
}

/// What a dispatch is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Duty {
    /// The one agent of an agent stage.
    Work,
    /// An agent of an open stage.
    Open,
    /// The reviewer with this number in the panel.
    Review {
        reviewer: u32,
    },
    /// The owner fixes what that reviewer found.
    Fix {
        reviewer: u32,
    },
    Step {
        step: StepId,
    },
}

impl Duty {
    /// The step of a task graph that it is for.
    pub fn step(&self) -> Option<&StepId> {
        match self {
            Self::Step { step } => Some(step),
            Self::Work | Self::Open | Self::Review { .. } | Self::Fix { .. } => None,
        }
    }
}

/// A review stage's memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Panel {
    /// The current round, from 1.
    pub round: u32,
    pub turn: Turn,
    /// For each reviewer, the tree or artifact that it approved in this round.
    pub approvals: BTreeMap<u32, Hash>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Turn {
    Reviewing {
        reviewer: u32,
    },
    Fixing {
        reviewer: u32,
    },
    /// The rounds are used up; only a person can allow another.
    Spent,
}

/// What a gate checked. It is valid only for that: anything else makes it stale.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Gate {
    Tree(Hash),
    /// A worker that may change the tree has started since: another gate must pass after it.
    Superseded(Hash),
    Artifact {
        artifact: ArtifactName,
        content: Hash,
    },
}

/// A steps stage's memory. Members are stored when planned, so a join counts what was planned.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Graph {
    pub members: Vec<Member>,
}

impl Graph {
    /// Can this step start? It has not started yet, and all that it needs is done.
    pub(crate) fn is_ready(&self, member: &Member) -> bool {
        member.state == MemberState::Pending && self.unmet(member).next().is_none()
    }

    /// The steps that this one needs and that are not done.
    pub(crate) fn unmet<'a>(&'a self, member: &'a Member) -> impl Iterator<Item = &'a StepId> {
        let is_done = |need: &StepId| {
            let mut members = self.members.iter();
            members.any(|other| other.step.id == *need && other.state == MemberState::Done)
        };
        member.step.needs.iter().filter(move |need| !is_done(need))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    pub step: Step,
    pub state: MemberState,
    pub retries: u32,
    /// What it left, handed to the steps that need it.
    pub left: BTreeMap<ArtifactName, Hash>,
    pub started_at: Option<Time>,
    pub ended_at: Option<Time>,
    /// The tree before this step first strayed.
    pub strayed_from: Option<Hash>,
}

impl Member {
    pub(crate) fn is_working(&self) -> bool {
        matches!(self.state, MemberState::Working { .. })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MemberState {
    Pending,
    Working { dispatch: DispatchId },
    Done,
    Failed { fault: Fault, reason: String },
}

/// The session that holds a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Binding {
    pub session: SessionId,
    pub state: BindingState,
    /// The host's process, which is the session's end when it dies.
    pub process: Option<Process>,
    /// Since when every call of the session should have been seen.
    pub since: Option<Time>,
}

/// A process. Ids are reused, so the start time is part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Process {
    pub id: u32,
    /// In the system's own clock ticks.
    pub started: u64,
}

/// What is remembered of a worker that a host numbered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KnownWorker {
    pub agent: AgentName,
    /// Its latest work.
    pub dispatch: DispatchId,
    pub call: Option<CallId>,
}

/// The time for which a person has bypassed the guards of a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bypass {
    pub until: Time,
    pub reason: String,
    pub by: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BindingState {
    Active,
    /// Its end was seen; another session may take the run over.
    Ended,
}

/// A person's override of a gate. It marks the run permanently.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Override {
    pub stage: StageName,
    pub outcome: Outcome,
    pub reason: String,
    pub by: String,
    pub at: Time,
}

/// Where a budget starts to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grant {
    pub used: Usage,
    pub at: Time,
    /// How long the run had been driven.
    pub driven_ms: Option<u64>,
}
