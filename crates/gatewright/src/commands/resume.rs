//! `gatewright resume`: goes on with a headless run where it was, whatever ended its orchestrator.

use engine::Held;

use crate::arguments::OfRun;
use crate::caller::refusal;
use crate::context::Context;
use crate::desk::Desk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::headless::flags::Sitting;
use crate::headless::session;
use crate::output::Output;
use crate::runs;

/// Go on with a headless run where it was, after Ctrl-C, a kill, a reboot or an answer
///
/// What is left of the agents that were at work is ended first. Work that had ended is judged; work
/// that was interrupted goes on in the same conversation, or from its beginning.
#[derive(Debug, clap::Args)]
pub struct Resume {
    #[command(flatten)]
    of: OfRun,
    #[command(flatten)]
    sitting: Sitting,
}

impl Resume {
    pub fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        refusal::persons(context, "resume", Held::Nobody)?;
        let desk = Desk::for_reading(context)?;
        let run = runs::find(&desk, self.of.run.as_deref())?.run.id;
        drop(desk);
        let manner = self.sitting.manner()?;
        session::sit(context, output, &run, &manner)
    }
}
