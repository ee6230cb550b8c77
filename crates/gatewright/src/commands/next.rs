//! `gatewright next`: shows what may happen now, and who does it.

use runtime::context::Context;
use runtime::failure::Failure;
use runtime::workspace::{OpenRun, Workspace};
use runtime::{asked_about, clock, find_run, lost_work, transact};
use views::queue::QueueReason;

use crate::arguments::OfRun;
use crate::commands::queue::held_up;
use crate::commands::status::waits_line;
use crate::exit::Exit;
use crate::output::Output;
use crate::report;

/// Show what may happen next, who does it, and the command to type
#[derive(Debug, clap::Args)]
pub(crate) struct Next {
    #[command(flatten)]
    of: OfRun,
}

impl Next {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let (mut workspace, opened) = self.opened(context)?;
        let view = asked_about::next(&workspace, &opened)?;
        let held_up = held_up(&mut workspace, &opened)?;
        let json = || {
            let mut facts = report::standing_with(&opened, &view);
            facts["held_up"] = held_up.as_ref().map(QueueReason::json).into();
            facts
        };
        output.facts(
            |paint| view.text(paint) + &waits_line(held_up.as_ref(), clock::now()),
            json,
        )?;
        Ok(Exit::Success)
    }

    /// Reads the run. Only where the steps of a task graph are still to be planned, or a worker of
    /// ours is gone, is anything written.
    fn opened<'c>(&self, context: &'c Context) -> Result<(Workspace<'c>, OpenRun), Failure> {
        let mut workspace = find_run::workspace(context)?;
        let stored = find_run::find_to_show(&workspace, self.of.run.as_deref())?;
        let opened = workspace.opened(stored)?;
        let planned = engine::pending(&opened.pipeline, opened.run()).is_none();
        if planned && !lost_work::has_lost_work(&workspace, &opened) {
            return Ok((workspace, opened));
        }
        let mut workspace = Workspace::for_writing(context)?;
        let opened = transact::prepare(&mut workspace, opened)?;
        Ok((workspace, opened))
    }
}
