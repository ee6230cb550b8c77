//! The hooks of a fleet's worker: they decide on a copy of the run, and the orchestrator tells the run what they decided.

use engine::{CallId, Dispatch, RunId, Who};
use runtime::failure::Failure;
use runtime::hook_copy::HookCopy;
use runtime::hook_reports;
use runtime::transact::{self, Options, Request, Target};
use runtime::workspace::{OpenRun, Workspace};
use store::StoredRun;

pub struct HooksOfWorker {
    copy: HookCopy,
    /// How many of their reports the run has.
    heard: usize,
}

impl HooksOfWorker {
    /// Leaves the copy before the worker starts. A run of this machine needs none: its hooks read the store itself.
    pub fn begin(
        workspace: &Workspace<'_>,
        opened: &OpenRun,
        dispatch: &Dispatch,
        call: &CallId,
    ) -> Result<Option<Self>, Failure> {
        let copy = HookCopy::leave(workspace, opened, dispatch, call)?;
        Ok(copy.map(|copy| Self { copy, heard: 0 }))
    }

    /// The run has changed.
    pub fn renew(&mut self, stored: &StoredRun) -> Result<(), Failure> {
        self.copy.renew(stored)
    }

    /// Submits what the hooks have judged since the last time. What an orchestrator before us submitted has the same
    /// keys, and counts once.
    pub fn hear(
        &mut self,
        workspace: &mut Workspace<'_>,
        run: &RunId,
        call: &CallId,
    ) -> Result<(), Failure> {
        for report in hook_reports::after(&workspace.state, call, self.heard) {
            let opened = workspace.read(run)?;
            let mut make =
                |_: &Workspace<'_>, _: &OpenRun, _| Ok(Request::from(report.what.clone()));
            let options = Options {
                by: &Who::Engine,
                key: report.key.as_ref(),
            };
            transact::transact(
                workspace,
                Target::Seen(Box::new(opened)),
                options,
                &mut make,
            )?;
            self.heard += 1;
        }
        Ok(())
    }
}
