//! Judges the version of an agent program before it works. A program may need many seconds to tell it: meanwhile the
//! workers are heard, the view is drawn, and a person may stop the run.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;

use runtime::failure::Failure;
use runtime::transact;
use runtime::workspace::OpenRun;

use super::{Orchestrator, TICK};
use crate::agent::choice::Choice;
use crate::agent::spawn_spec;
use crate::agent::version::{self, ProgramToCheck, UsableProgram};
use crate::progress::Progress;

impl Orchestrator<'_, '_> {
    /// Refuses a program that is not usable. Was it asked only now? Then the run may have moved or been stopped.
    pub(super) fn has_asked_version(
        &mut self,
        opened: &OpenRun,
        choice: &Choice,
    ) -> Result<bool, Failure> {
        let Some(candidate) = spawn_spec::candidate(self.workspace, opened, choice)? else {
            return Ok(false);
        };
        if self.versions.has_passed(&candidate) {
            return Ok(false);
        }
        let remembered = version::remembered(&self.workspace.state, &candidate);
        let is_remembered = remembered.is_some();
        let usable = match remembered {
            Some(usable) => Some(usable),
            None => self.ask_version(opened, &candidate)?,
        };
        let Some(usable) = usable else {
            return Ok(true);
        };
        self.versions.pass(candidate);
        if let Some(text) = usable.caution {
            let opened = self.workspace.read(&self.run)?;
            let opened = transact::remark(self.workspace, opened, None, &text)?.opened;
            self.tell(&opened, &Progress::Remark { text });
        }
        Ok(!is_remembered)
    }

    /// Nothing if the run is stopped meanwhile.
    fn ask_version(
        &mut self,
        opened: &OpenRun,
        candidate: &ProgramToCheck,
    ) -> Result<Option<UsableProgram>, Failure> {
        let program = candidate.program.word().to_owned();
        self.tell(opened, &Progress::AskingVersion { program });
        let (state, stop) = (self.workspace.state.clone(), Arc::clone(&self.stop));
        thread::scope(|scope| {
            let asking = scope.spawn(|| version::ask(&state, candidate, &stop));
            while !asking.is_finished() {
                if let Err(failure) = self.listen_while_asking() {
                    // Nobody waits for the answer any more.
                    stop.store(true, Ordering::Relaxed);
                    return Err(failure);
                }
            }
            let on_panic = |_| Err(Failure::bug("the question for a version panicked"));
            asking.join().unwrap_or_else(on_panic)
        })
    }

    fn listen_while_asking(&mut self) -> Result<(), Failure> {
        self.is_ours()?;
        self.listen(TICK)?;
        self.is_stopped();
        Ok(())
    }
}
