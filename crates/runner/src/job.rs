//! One worker's thread: everything from its start to the judgement of its work.

use engine::Dispatch;
use runtime::claim::Claim;
use runtime::failure::Failure;
use runtime::workspace::Workspace;

use super::pool::Shared;
use super::slots::Slot;
use super::step_folder::StepFolder;
use crate::agent::listener::Told;
use crate::agent::record::Record;
use crate::agent::spawn_spec::SpawnSpec;
use crate::agent::work::{Delivery, Finish, From, Setting, Stopped, Work};

/// A piece of work that is in the journal and is ours.
pub struct Job {
    pub claim: Claim,
    pub dispatch: Dispatch,
    pub order: SpawnSpec,
    pub record: Record,
    pub from: From,
    pub step_folder: Option<Box<StepFolder>>,
    /// Its place among the agents of this machine.
    pub slot: Slot,
}

impl Job {
    /// Works, and has the work judged. What was stopped stays open for whoever comes next.
    pub fn work(mut self, shared: &Shared, tell: &mut dyn FnMut(Told)) -> Result<(), Failure> {
        let context = shared.whereabouts.context();
        let mut workspace = Workspace::for_writing(&context)?;
        workspace.fence = Some(shared.fence);
        let opened = workspace.read(&shared.run)?;
        let delivery = self.step_folder.as_mut();
        let work = Work {
            workspace: &mut workspace,
            order: &self.order,
            claim: &self.claim,
            dispatch: self.dispatch,
            setting: Setting {
                stop: shared.stop.clone(),
                stopped: Stopped::StaysOpen,
                tell,
                delivery: delivery.map(|it| it.as_mut() as &mut dyn Delivery),
            },
            record: self.record,
        };
        let finish = work.run(opened, self.from);
        drop(self.slot);
        match finish {
            Ok(Finish::Judged(_)) => {
                let cleared = self
                    .step_folder
                    .map_or(Ok(()), |step_folder| step_folder.clear());
                drop(self.claim);
                cleared
            }
            Ok(Finish::Open) => {
                self.claim.leave();
                Ok(())
            }
            Err(failure) => {
                self.claim.leave();
                Err(failure)
            }
        }
    }
}
