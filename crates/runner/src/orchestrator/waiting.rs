//! Says what a driven run waits for, to its watcher and to those who look from outside.

use runtime::workspace::OpenRun;

use super::Orchestrator;
use crate::progress::Progress;
use crate::wait_note::WaitNote;

impl Orchestrator<'_, '_> {
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
    }
}
