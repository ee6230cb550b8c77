//! What a run of a fleet had used when this process took it: what comes on top is this process's.

use engine::Usage;
use runtime::failure::Failure;
use runtime::workspace::OpenRun;

use super::Orchestrator;
use crate::recovery::{self, RecoveryAction};

impl Orchestrator<'_, '_> {
    /// Tells the fleet. Work that goes on here has used something that the journal does not have, and its last driver told
    /// that.
    pub(super) fn tell_spent_before(&self, opened: &OpenRun) -> Result<(), Failure> {
        let Some(fleet) = self.workspace.store.fleet() else {
            return Ok(());
        };
        let interrupted = recovery::interrupted(self.workspace, opened).into_iter();
        let goes_on = interrupted.filter(|it| match it.action {
            RecoveryAction::Judge | RecoveryAction::GoOn | RecoveryAction::BeginAnew => true,
            RecoveryAction::Late | RecoveryAction::GiveUp => false,
        });
        let in_flight = goes_on
            .filter_map(|it| it.record)
            .map(|record| record.used)
            .fold(Usage::default(), Usage::and);
        let run = opened.run();
        fleet.note_spending(&run.id, self.workspace.fence, run.used.and(in_flight))?;
        Ok(())
    }
}
