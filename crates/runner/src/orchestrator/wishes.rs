//! What a person at the live view wants, by a key: the same requests as by the commands.

use std::sync::atomic::Ordering;

use engine::{Choice, Fault, Outcome};
use runtime::failure::Failure;
use runtime::workspace::OpenRun;

use super::Orchestrator;
use crate::progress::{Progress, Wish};

impl Orchestrator<'_, '_> {
    /// Does what the person wants now, if they pressed a key.
    pub(super) fn grant_wish(&mut self) -> Result<(), Failure> {
        let Some(wish) = self.watcher.wish() else {
            return Ok(());
        };
        match wish {
            // As Ctrl-C does.
            Wish::Stop => {
                self.stop.store(true, Ordering::Relaxed);
                Ok(())
            }
            Wish::Answer => {
                let text = format!(
                    "nothing is asked now; `gatewright next {}` shows what comes",
                    self.run
                );
                let opened = self.workspace.read(&self.run)?;
                self.tell(&opened, &Progress::Remark { text });
                Ok(())
            }
            Wish::Skip => self.skip_stage(),
        }
    }

    /// Asks as `gatewright skip` does: for the outcome, the reason and a confirmation.
    fn skip_stage(&mut self) -> Result<(), Failure> {
        let opened = self.workspace.read(&self.run)?;
        let who = self.workspace.context.who();
        let Some(person) = self.person_at_terminal(&who) else {
            return Ok(());
        };
        let outcomes = outcomes(&opened);
        let choice = Choice::Skip { outcomes };
        let before = opened.stored.version;
        self.carry_out(&opened, person, &choice, "skip".to_owned())?;
        let opened = self.workspace.read(&self.run)?;
        if opened.stored.version == before {
            let text = "nothing was skipped".to_owned();
            self.tell(&opened, &Progress::Remark { text });
        }
        Ok(())
    }
}

/// The outcomes with which the current stage can be left.
fn outcomes(opened: &OpenRun) -> Vec<Outcome> {
    let stage = opened.pipeline.stage(&opened.run().position.stage);
    let outcomes = stage.into_iter().flat_map(|stage| stage.on.keys());
    let own = outcomes.filter(|outcome| Fault::parse(outcome.as_str()).is_none());
    own.cloned().collect()
}
