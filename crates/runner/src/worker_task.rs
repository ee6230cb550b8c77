//! The task of one worker thread: from the start of the worker to the judgement of its work.

use std::sync::Arc;

use engine::Dispatch;
use runtime::claim::Claim;
use runtime::failure::Failure;
use runtime::workspace::Workspace;

use super::pool::Shared;
use super::slots::Slot;
use super::step_folder::StepFolder;
use crate::agent::listener::WorkerUpdate;
use crate::agent::spawn_spec::SpawnSpec;
use crate::agent::work::{Delivery, Finish, FoundFiles, OnStop, StartFrom, Work, WorkSetup};
use crate::surroundings::Surroundings;
use runtime::work_record::Record;

/// A dispatch that is in the journal and that this process works on.
pub(crate) struct WorkerTask {
    pub claim: Claim,
    pub dispatch: Dispatch,
    pub spec: SpawnSpec,
    pub record: Record,
    pub from: StartFrom,
    pub found: FoundFiles,
    pub step_folder: Option<Box<StepFolder>>,
    /// Its slot among the agents of this machine.
    pub slot: Slot,
    /// The limits that the slot counts for.
    pub slot_names: Vec<String>,
}

impl WorkerTask {
    /// Works, and has the work judged. If we are stopped, the work stays open for the next
    /// orchestrator.
    pub(crate) fn run(
        mut self,
        shared: &Shared,
        updates: &mut dyn FnMut(WorkerUpdate),
    ) -> Result<(), Failure> {
        let context = shared.context.to_context();
        let mut workspace = Workspace::for_writing(&context)?;
        workspace.fence = Some(shared.fence);
        let opened = workspace.read(&shared.run)?;
        let (id, delivery) = (self.dispatch.id, self.step_folder.as_mut());
        shared.spending.begin(id);
        let work = Work {
            workspace: &mut workspace,
            spec: &self.spec,
            claim: &self.claim,
            dispatch: self.dispatch,
            setup: WorkSetup {
                stop: shared.stop.clone(),
                on_stop: OnStop::LeaveOpen,
                updates,
                spending: Some(Arc::clone(&shared.spending)),
                found: self.found,
                delivery: delivery.map(|it| it.as_mut() as &mut dyn Delivery),
            },
            record: self.record,
        };
        let surroundings = Surroundings::of(work.workspace, &opened)?;
        let finish = work.run(opened, self.from);
        // The run goes on with its next piece of work before others begin theirs.
        shared.bid.place(self.slot_names, true);
        drop(self.slot);
        match finish {
            Ok(Finish::Judged(_)) => {
                // Of work that stays open the journal has what `cut_short` told; the rest is still in flight.
                shared.spending.settled(id);
                let cleared = self
                    .step_folder
                    .map_or(Ok(()), |mut step_folder| step_folder.clear());
                let ended = surroundings.map_or(Ok(()), |it| it.end(self.claim.call()));
                drop(self.claim);
                cleared.and(ended)
            }
            Ok(Finish::Open) => {
                self.claim.release();
                Ok(())
            }
            Err(failure) => {
                self.claim.release();
                Err(failure)
            }
        }
    }
}
