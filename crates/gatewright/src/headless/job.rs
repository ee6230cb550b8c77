//! One worker's thread: everything from its start to the judgement of its work.

use engine::Dispatch;

use super::crew::Shared;
use super::slots::Slot;
use super::workplace::Workplace;
use crate::desk::Desk;
use crate::failure::Failure;
use crate::worker::claim::Claim;
use crate::worker::listener::Told;
use crate::worker::order::Order;
use crate::worker::record::Record;
use crate::worker::work::{Delivery, Finish, From, Setting, Stopped, Work};

/// A piece of work that is in the journal and is ours.
pub struct Job {
    pub claim: Claim,
    pub dispatch: Dispatch,
    pub order: Order,
    pub record: Record,
    pub from: From,
    pub workplace: Option<Box<Workplace>>,
    /// Its place among the agents of this machine.
    pub slot: Slot,
}

impl Job {
    /// Works, and has the work judged. What was stopped stays open for whoever comes next.
    pub fn work(mut self, shared: &Shared, tell: &mut dyn FnMut(Told)) -> Result<(), Failure> {
        let context = shared.whereabouts.context();
        let mut desk = Desk::for_writing(&context)?;
        desk.fence = Some(shared.fence);
        let opened = desk.read(&shared.run)?;
        let delivery = self.workplace.as_mut();
        let work = Work {
            desk: &mut desk,
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
                let cleared = self.workplace.map_or(Ok(()), |workplace| workplace.clear());
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
