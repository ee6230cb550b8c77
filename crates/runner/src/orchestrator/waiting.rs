//! Says what a driven run waits for, to its watcher and to those who look from outside.

use runtime::failure::Failure;
use runtime::rest::RestNote;
use runtime::workspace::OpenRun;

use super::Orchestrator;
use super::resting::ServiceRest;
use crate::progress::Progress;
use crate::slots::{Asked, Slot};
use crate::wait_note::WaitNote;

impl Orchestrator<'_, '_> {
    /// A slot for an agent of this runner, unless they are taken or others come first.
    pub(super) fn slot_of(&self, opened: &OpenRun, runner: &str) -> Result<Option<Slot>, Failure> {
        let names = self.limits.names(runner);
        let has_begun = opened.run().last_dispatch.0 > 0;
        let behind = self.bid.behind_others(&names, has_begun);
        if !behind.is_empty() {
            self.bid.place(behind, has_begun);
            return Ok(None);
        }
        match self.limits.take(&self.workspace.state, runner)? {
            Asked::Taken(slot) => Ok(Some(slot)),
            Asked::Full(name) => {
                self.bid.place(vec![name], has_begun);
                Ok(None)
            }
        }
    }

    /// Every slot of this runner is taken.
    pub(super) fn wait_for_slot_of(&mut self, opened: &OpenRun, runner: &str) {
        let runner = runner.to_owned();
        let note = WaitNote::Slot {
            runner: runner.clone(),
        };
        if self.pool.is_idle() && self.note_wait(note) {
            self.tell(opened, &Progress::AwaitingSlot { runner });
        }
    }

    /// Notes it once. Is it new?
    pub(super) fn note_wait(&mut self, note: WaitNote) -> bool {
        if self.wait_note.as_ref() == Some(&note) {
            return false;
        }
        note.write(&self.workspace.state, &self.run, &self.lease.holder);
        self.wait_note = Some(note);
        true
    }

    /// Somebody works, or nobody drives the run any more.
    pub(super) fn end_wait(&mut self) {
        if self.wait_note.take().is_some() {
            WaitNote::clear(&self.workspace.state, &self.run);
        }
        if self.rest.take().is_some() {
            RestNote::clear(&self.workspace.state, &self.run);
        }
    }

    /// Notes once what the run rests for. The process that drives it goes on with it.
    pub(super) fn note_rest(&mut self, opened: &OpenRun, rest: &ServiceRest) {
        let note = RestNote {
            until: rest.until,
            why: rest.why.clone(),
            cause: rest.cause,
            keeper: self.lease.holder.clone(),
            version: opened.stored.version,
        };
        let is_noted = self.rest.as_ref().is_some_and(|known| {
            let RestNote { until, why, .. } = known;
            *until == note.until && *why == note.why
        });
        if !is_noted {
            note.write(&self.workspace.state, &self.run);
            self.rest = Some(note);
        }
    }

    /// Nobody drives the run any more: its rest holds as long as nobody writes to it.
    pub(super) fn leave_rest(&self, opened: &OpenRun, rest: Option<RestNote>) {
        let (state, run) = (&self.workspace.state, &self.run);
        match rest {
            Some(note) => {
                let version = opened.stored.version;
                RestNote { version, ..note }.write(state, run);
            }
            None => RestNote::clear(state, run),
        }
    }
}
