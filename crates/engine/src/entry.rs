//! An entry: one line of a run's journal, never changed.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::cause::MoveReason;
use crate::change::Routed;
use crate::check_result::{CheckResult, CheckVerdict, CheckedProgram, TreeAround};
use crate::event::Who;
use crate::names::{
    ArtifactName, CheckpointName, CounterName, DispatchId, Hash, HostName, ParamName, RunId,
    SessionId, StageName, StepId, Time, WorkerId,
};
use crate::outcome::{Fault, Outcome};
use crate::outside::OutsideChange;
use crate::place::{Delivered, OnMachine, Relocation, RunBranch};
use crate::rule::Rule;
use crate::run::{Dispatch, Driver, Gate, Process, Resume, Run, Service, ServiceLimit, Unguarded};
use crate::stage::Step;
use crate::usage::Usage;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub at: Time,
    pub by: Who,
    /// The rule by which it was decided.
    pub rule: Rule,
    pub fact: Fact,
}

/// What is now true. `apply` folds these; it asks no question and refuses only damage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    Started(Box<Started>),
    /// A run that continues from a point of another one.
    Forked {
        from: RunId,
        entry: u64,
        state: Box<Run>,
    },
    TakenUp,
    /// The worktree of a run with a branch of its own is there.
    Placed(Box<Placed>),
    Relocated(Box<Relocation>),
    /// The run's work was handed over.
    Delivered(Box<Delivered>),
    DeliveryFailed {
        reason: String,
    },
    /// The person said to the session, before any work, what the run is for.
    TaskGiven {
        task: String,
    },
    /// The same after the run's end, where the next task may begin.
    NextTaskGiven {
        task: String,
    },
    /// The next task begins where the last one ended, with no context of it.
    TaskBegan {
        task: String,
    },
    Attached {
        session: SessionId,
        process: Option<Process>,
    },
    Detached {
        session: SessionId,
    },

    Admitted {
        dispatch: Box<Dispatch>,
    },
    /// The worker of a dispatch is known.
    Began {
        dispatch: DispatchId,
        worker: WorkerId,
    },
    /// It used a tool.
    Worked {
        dispatch: DispatchId,
    },
    /// It tried to finish without its artifacts.
    SentBack {
        dispatch: DispatchId,
        reason: String,
    },
    /// A piece of work is over; its artifacts are in the `Captured` entries next to it.
    Ended {
        dispatch: DispatchId,
        result: WorkResult,
        usage: Usage,
    },
    /// The process of a piece of work ended before the work did; this much was used. The work stays open.
    CutShort {
        dispatch: DispatchId,
        usage: Usage,
    },
    /// A service asks to wait, and the work with it rests.
    Limited(Box<ServiceLimit>),
    /// Somebody works on rested work again.
    WentOn {
        dispatch: DispatchId,
        service: Service,
    },
    Captured {
        artifact: ArtifactName,
        content: Hash,
        dispatch: Option<DispatchId>,
        step: Option<StepId>,
        /// The commands in it that a check may run.
        commands: Vec<Vec<String>>,
    },
    /// A non-strict artifact was missing or invalid, and the run continued.
    Warned {
        message: String,
    },
    /// Something without effect, only recorded.
    Noted {
        message: String,
    },
    /// This was not judged, and the host continued.
    Unevaluated {
        what: String,
    },
    /// A witness showed work that no hook guarded.
    Unguarded(Unguarded),
    /// A person accepted the unguarded work so far: so many pieces of it.
    AcceptedUnguarded {
        number: u32,
    },
    /// Something outside a worker's folder changed while it worked.
    ChangedOutside(Box<OutsideChange>),
    /// Something was requested and not allowed.
    Refused {
        what: String,
        reason: String,
    },

    /// The stage's work is retried.
    Retried {
        stage: StageName,
        fault: Fault,
        reason: String,
    },
    StepRetried {
        stage: StageName,
        step: StepId,
        fault: Fault,
        reason: String,
    },
    StepFailed {
        stage: StageName,
        step: StepId,
        fault: Fault,
        reason: String,
    },
    Stuck {
        fault: Fault,
        reason: String,
    },
    Unstuck,

    Checked {
        stage: StageName,
        verdict: CheckVerdict,
        results: Vec<CheckResult>,
        tree: TreeAround,
    },
    /// A check, review or read-only verdict passed.
    GatePassed {
        stage: StageName,
        gate: Gate,
    },

    ReviewerApproved {
        stage: StageName,
        reviewer: u32,
        subject: Hash,
    },
    ReviewerFound {
        stage: StageName,
        reviewer: u32,
    },
    /// The owner fixed what that reviewer found; the next reviewer continues.
    Fixed {
        stage: StageName,
        reviewer: u32,
    },
    RoundStarted {
        stage: StageName,
        round: u32,
    },
    RoundsSpent {
        stage: StageName,
    },

    Planned {
        stage: StageName,
        steps: Vec<Step>,
    },
    /// Failed steps may be retried; done ones stay done.
    StepsRevived {
        stage: StageName,
    },

    /// The engine decided a route, or looked at one again.
    Routed(Box<Routed>),

    Answered {
        stage: StageName,
        answer: Outcome,
        given: BTreeMap<String, String>,
        /// What the person said with their choice.
        words: Option<String>,
    },
    Approved {
        artifact: ArtifactName,
        content: Hash,
    },
    Overridden {
        stage: StageName,
        outcome: Outcome,
        reason: String,
    },

    Moved(Box<Move>),

    Held {
        holds: u32,
    },
    Abandoned,
    WentStale,
    /// The run was driven for so many more milliseconds.
    Driven {
        ms: u64,
    },
    OverBudget {
        what: String,
    },
    /// Somebody stopped the run.
    Halted {
        reason: String,
    },
    /// A person continued the run.
    Continued {
        budget_again: bool,
        /// What the person said with it.
        words: Option<String>,
    },
    Cancelled {
        reason: String,
    },
    /// Back to the start stage; the history stays.
    Reset {
        reason: String,
        stage: StageName,
    },
    /// The run is not guarded until then.
    Bypassed {
        until: Time,
        reason: String,
    },
    Checkpointed {
        name: CheckpointName,
    },
    /// A person vouched for what checks run in and with.
    Vouched {
        environment: Option<Hash>,
        programs: Vec<CheckedProgram>,
    },
    Restored {
        entry: u64,
        state: Box<Run>,
        reason: String,
    },
    /// The run goes on on another machine than before. It knows the entries up to this one; what came later on the
    /// machine that it left is unknown.
    Adopted {
        machine: String,
        entry: u64,
    },
}

/// The stage that the run enters with this.
pub fn arrival(fact: &Fact) -> Option<&StageName> {
    match fact {
        Fact::Started(started) => Some(&started.stage),
        Fact::Forked { state, .. } => Some(&state.position.stage),
        Fact::Moved(moved) => Some(&moved.to),
        Fact::Reset { stage, .. } => Some(stage),
        _ => None,
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    pub id: RunId,
    pub definition: Hash,
    pub task: String,
    pub params: BTreeMap<ParamName, String>,
    pub driver: Driver,
    pub host: HostName,
    pub stage: StageName,
    pub session: Option<SessionId>,
    pub process: Option<Process>,
    pub steps: Vec<Step>,
    pub before: BTreeMap<ArtifactName, Hash>,
    pub queued: bool,
    /// The hash of the environment in which checks run. Older journals have none.
    pub environment: Option<Hash>,
    /// The tree at the start, where a route may ask for the change since then.
    pub base: Option<Hash>,
    /// The branch of its own, on which the run works.
    pub branch: Option<RunBranch>,
    /// The commit that was checked out where the run works, unless it has a branch of its own.
    pub commit: Option<String>,
}

/// What there was when a run's worktree was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    pub folder: String,
    /// The machine of the fleet that has it, if the run is in one.
    pub on: Option<OnMachine>,
    /// The files at the artifacts' paths.
    pub before: BTreeMap<ArtifactName, Hash>,
    /// The tree, where a route may ask for the change since then.
    pub base: Option<Hash>,
}

/// How a piece of work ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkResult {
    Outcome(Outcome),
    Fault {
        fault: Fault,
        reason: String,
    },
    /// It matched a dispatch whose stage the run has left; it has no effect.
    Late,
    /// The run was reset, restored or moved on by a person while it worked.
    Dropped,
}

/// The run goes from one stage to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    pub from: StageName,
    pub outcome: String,
    pub to: StageName,
    pub along: MoveReason,
    /// The counter that counted this transition, and its value afterwards.
    pub counted: Option<(CounterName, u32)>,
    pub reset: Vec<CounterName>,
    pub resume: Option<Resume>,
}
