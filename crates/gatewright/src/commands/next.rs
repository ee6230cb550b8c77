//! `gatewright next`: what may legally happen now, and who does it.

use crate::arguments::OfRun;
use crate::context::Context;
use crate::desk::{Desk, Opened};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::{drive, runs, step, tell};

/// Show what may happen now, who does it, and what to type
#[derive(Debug, clap::Args)]
pub struct Next {
    #[command(flatten)]
    of: OfRun,
}

impl Next {
    pub fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let opened = self.opened(context)?;
        let view = tell::next(&opened);
        output.facts(|paint| view.text(paint), || tell::standing(&opened))?;
        Ok(Exit::Success)
    }

    /// Reads the run. Only where the steps of a task graph are still to be planned, or a worker of
    /// ours is gone, is anything written.
    fn opened(&self, context: &Context) -> Result<Opened, Failure> {
        let mut desk = Desk::for_reading(context)?;
        let stored = runs::find(&desk, self.of.run.as_deref())?;
        let opened = desk.opened(stored)?;
        let planned = engine::pending(&opened.pipeline, opened.run()).is_none();
        if planned && !step::has_lost_work(&desk, &opened) {
            return Ok(opened);
        }
        let mut desk = Desk::for_writing(context)?;
        drive::prepare(&mut desk, opened)
    }
}
