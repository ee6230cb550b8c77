//! `gatewright resume`: goes on with a headless run where it was, whatever ended its orchestrator.

use engine::Held;

use crate::arguments::OfRun;
use crate::caller::refusal;
use crate::context::Context;
use crate::desk::Desk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::headless::flags::AtOnce;
use crate::headless::orchestrator::Patience;
use crate::headless::session::{self, Manner};
use crate::headless::signals;
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
    at_once: AtOnce,
    /// Stay while the run waits for a person, until somebody answers elsewhere
    #[arg(long)]
    wait: bool,
}

impl Resume {
    pub fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        refusal::persons(context, "resume", Held::Nobody)?;
        let desk = Desk::for_reading(context)?;
        let run = runs::find(&desk, self.of.run.as_deref())?.run.id;
        drop(desk);
        let manner = Manner {
            patience: match self.wait {
                true => Patience::Stay,
                false => Patience::Leave,
            },
            limits: self.at_once.limits(),
            stop: signals::watch()?,
        };
        session::sit(context, output, &run, &manner)
    }
}
