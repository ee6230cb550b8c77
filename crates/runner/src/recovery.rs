//! Recovery: what a dead orchestrator left, and how its work continues.

use engine::{
    Dispatch, Ending, Fault, Happening, ProcessState, RunId, Usage, Who, WorkEvent, WorkRef,
};
use evidence::{group, process};
use runtime::claim;
use runtime::failure::Failure;
use runtime::state::State;
use runtime::transact;
use runtime::watchdog::{CALL_VARIABLE, kill_call};
use runtime::workspace::{OpenRun, Workspace};

use crate::agent::choice::Runner;
use crate::agent::work::StartFrom;
use runtime::work_record::Record;

/// The most restarts of one dispatch. After that, the work itself may kill orchestrators.
const MOST_RESTARTS: u32 = 5;

/// Open work that no process drives any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterruptedWork {
    pub dispatch: Dispatch,
    pub record: Option<Record>,
    /// Its processes that are still alive.
    pub alive: Vec<u32>,
    pub action: RecoveryAction,
}

/// How it continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecoveryAction {
    /// The run moved on without it: it does not count.
    Late,
    /// It ended, and is judged now.
    Judge,
    /// In the same conversation.
    GoOn,
    /// From the beginning, in the same attempt.
    BeginAnew,
    /// It was restarted too often.
    GiveUp,
}

impl RecoveryAction {
    /// Does somebody work on it again?
    pub fn goes_on(&self) -> bool {
        match self {
            Self::GoOn | Self::BeginAnew => true,
            Self::Late | Self::Judge | Self::GiveUp => false,
        }
    }

    pub fn description(&self) -> &'static str {
        match self {
            Self::Late => "closed: the run moved on without it",
            Self::Judge => "judged: it had ended",
            Self::GoOn => "continued in the same conversation",
            Self::BeginAnew => "restarted, in the same attempt",
            Self::GiveUp => "given up: it was restarted too often",
        }
    }
}

/// The value that marks the commands of a run's check: a run has one check at a time. The state
/// folder is part of it, because another one may have a run of the same name.
pub fn check_call(state: &State, run: &RunId) -> String {
    format!("check-{run} in {}", state.folder().display())
}

/// The interrupted work of a run that no process drives. Reads only.
pub fn interrupted(workspace: &Workspace<'_>, opened: &OpenRun) -> Vec<InterruptedWork> {
    let open = opened.run().dispatches.values();
    let ours = open.filter(|open| open.session.is_none());
    let ours = ours.filter(|open| open.call.as_ref().is_some_and(claim::is_ours));
    ours.map(|dispatch| of_dispatch(workspace, opened, dispatch))
        .collect()
}

/// One piece of open work and how it continues.
pub(crate) fn of_dispatch(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    dispatch: &Dispatch,
) -> InterruptedWork {
    let call = dispatch.call.as_ref();
    let record = call.and_then(|call| Record::read(&workspace.state, call));
    let mut alive: Vec<u32> = call
        .map(|call| process::with_variable(CALL_VARIABLE, call.as_str()))
        .unwrap_or_default();
    let leader = record.as_ref().and_then(|record| record.process);
    let leader = leader.filter(|leader| process::state(leader) == ProcessState::Alive);
    alive.extend(leader.map(|leader| leader.id));
    alive.sort_unstable();
    alive.dedup();
    InterruptedWork {
        dispatch: dispatch.clone(),
        action: action(opened, dispatch, record.as_ref()),
        record,
        alive,
    }
}

fn action(opened: &OpenRun, dispatch: &Dispatch, record: Option<&Record>) -> RecoveryAction {
    let run = opened.run();
    if dispatch.visit != run.position.visit || engine::is_over(&opened.pipeline, run) {
        return RecoveryAction::Late;
    }
    let Some(record) = record else {
        return RecoveryAction::BeginAnew;
    };
    let resumes = matches!(Runner::parse(&record.runner), Some(Runner::Program(_)));
    match (&record.ended, &record.conversation) {
        (Some(_), _) => RecoveryAction::Judge,
        _ if record.restarts >= MOST_RESTARTS => RecoveryAction::GiveUp,
        (None, Some(_)) if resumes => RecoveryAction::GoOn,
        (None, _) => RecoveryAction::BeginAnew,
    }
}

impl InterruptedWork {
    /// Kills its remaining processes. The start time tells reused process ids apart.
    pub fn kill_processes(&self) {
        let leader = self.record.as_ref().and_then(|record| record.process);
        if let Some(leader) = leader
            && process::state(&leader) == ProcessState::Alive
        {
            group::kill(leader.id);
        }
        if let Some(call) = &self.dispatch.call {
            kill_call(call.as_str());
        }
    }

    pub fn start_from(&self) -> StartFrom {
        let record = self.record.as_ref();
        let ended = record.and_then(|record| record.ended.clone());
        let conversation = record.and_then(|record| record.conversation.clone());
        match (&self.action, ended, conversation) {
            (RecoveryAction::Judge, Some(ended), _) => StartFrom::ProcessEnd(ended),
            (RecoveryAction::GoOn, _, Some(id)) => StartFrom::Conversation(id),
            (RecoveryAction::Judge, None, _)
            | (RecoveryAction::GoOn, _, None)
            | (RecoveryAction::Late | RecoveryAction::BeginAnew | RecoveryAction::GiveUp, _, _) => {
                StartFrom::Beginning
            }
        }
    }

    /// Reports work that does not continue to the engine.
    pub fn close(
        &self,
        workspace: &mut Workspace<'_>,
        opened: OpenRun,
    ) -> Result<OpenRun, Failure> {
        let what = Happening::Work(WorkEvent::Ended {
            work: WorkRef::Dispatch(self.dispatch.id),
            ending: Ending::Fault {
                fault: Fault::Crashed,
                reason: format!(
                    "{} was interrupted and {}",
                    self.dispatch.id,
                    self.action.description()
                ),
            },
            usage: Usage::default(),
        });
        let opened = transact::try_once(workspace, opened, &Who::Engine, what)?;
        if let Some(call) = &self.dispatch.call {
            claim::remove(&workspace.state, call);
        }
        Ok(opened)
    }
}
