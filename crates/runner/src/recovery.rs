//! Recovery: what an orchestrator left that was killed, and how its work goes on.

use engine::{
    Dispatch, Ending, Fault, Happening, ProcessState, RunId, Usage, Who, WorkEvent, WorkRef,
};
use evidence::{group, process};
use runtime::claim;
use runtime::failure::Failure;
use runtime::state::State;
use runtime::transact;
use runtime::watchdog::{MARK, end_marked};
use runtime::workspace::{OpenRun, Workspace};

use crate::agent::choice::Runner;
use crate::agent::record::Record;
use crate::agent::work::From;

/// So often a work is begun anew because we were gone. Then it may be what ends us.
const MOST_RESTARTS: u32 = 5;

/// An open piece of work that nobody drives any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    pub dispatch: Dispatch,
    pub record: Option<Record>,
    /// Processes of it that are still there.
    pub alive: Vec<u32>,
    pub how: How,
}

/// How it goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    /// The run went on without it: it counts for nothing.
    Late,
    /// It ended, and is judged now.
    Judge,
    /// In the same conversation.
    GoOn,
    /// From the beginning, in the same attempt.
    BeginAnew,
    /// It was begun too often.
    GiveUp,
}

impl How {
    pub fn told(&self) -> &'static str {
        match self {
            Self::Late => "closed: the run went on without it",
            Self::Judge => "judged: it had ended",
            Self::GoOn => "continued in the same conversation",
            Self::BeginAnew => "begun anew, in the same attempt",
            Self::GiveUp => "given up: it was begun too often",
        }
    }
}

/// By which the commands of a run's check are known: it has one check at a time. A run of the same
/// name in another state folder is another one.
pub fn check_call(state: &State, run: &RunId) -> String {
    format!("check-{run} in {}", state.folder().display())
}

/// What is left of a run that nobody drives. Looks only.
pub fn left(workspace: &Workspace<'_>, opened: &OpenRun) -> Vec<Left> {
    let open = opened.run().dispatches.values();
    let ours = open.filter(|open| open.session.is_none());
    let ours = ours.filter(|open| open.call.as_ref().is_some_and(claim::is_ours));
    ours.map(|dispatch| of_dispatch(workspace, opened, dispatch))
        .collect()
}

fn of_dispatch(workspace: &Workspace<'_>, opened: &OpenRun, dispatch: &Dispatch) -> Left {
    let call = dispatch.call.as_ref();
    let record = call.and_then(|call| Record::read(&workspace.state, call));
    let mut alive: Vec<u32> = call
        .map(|call| process::marked(MARK, call.as_str()))
        .unwrap_or_default();
    let leader = record.as_ref().and_then(|record| record.process);
    let leader = leader.filter(|leader| process::life(leader) == ProcessState::Alive);
    alive.extend(leader.map(|leader| leader.id));
    alive.sort_unstable();
    alive.dedup();
    Left {
        dispatch: dispatch.clone(),
        how: how(opened, dispatch, record.as_ref()),
        record,
        alive,
    }
}

fn how(opened: &OpenRun, dispatch: &Dispatch, record: Option<&Record>) -> How {
    let run = opened.run();
    if dispatch.visit != run.position.visit || engine::is_over(&opened.pipeline, run) {
        return How::Late;
    }
    let Some(record) = record else {
        return How::BeginAnew;
    };
    let resumes = matches!(Runner::parse(&record.runner), Some(Runner::Program(_)));
    match (&record.ended, &record.conversation) {
        (Some(_), _) => How::Judge,
        _ if record.restarts >= MOST_RESTARTS => How::GiveUp,
        (None, Some(_)) if resumes => How::GoOn,
        (None, _) => How::BeginAnew,
    }
}

impl Left {
    /// Ends what is still alive of it, by number and beginning.
    pub fn end(&self) {
        let leader = self.record.as_ref().and_then(|record| record.process);
        if let Some(leader) = leader
            && process::life(&leader) == ProcessState::Alive
        {
            group::kill(leader.id);
        }
        if let Some(call) = &self.dispatch.call {
            end_marked(call.as_str());
        }
    }

    pub fn from(&self) -> From {
        let record = self.record.as_ref();
        let ended = record.and_then(|record| record.ended.clone());
        let conversation = record.and_then(|record| record.conversation.clone());
        match (&self.how, ended, conversation) {
            (How::Judge, Some(ended), _) => From::ItsEnd(ended),
            (How::GoOn, _, Some(id)) => From::Conversation(id),
            _ => From::TheBeginning,
        }
    }

    /// Tells the engine of work that does not go on.
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
                    self.how.told()
                ),
            },
            usage: Usage::default(),
        });
        let opened = transact::alone(workspace, opened, &Who::Engine, what)?;
        if let Some(call) = &self.dispatch.call {
            claim::clear(&workspace.state, call);
        }
        Ok(opened)
    }
}
