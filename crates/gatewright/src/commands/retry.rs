//! `gatewright retry`: a person has the work of a stuck stage tried again.

use engine::{Happening, PersonEvent};
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::idempotency::KeyedCommand;

use crate::arguments::{OfRun, Writing};
use crate::exit::Exit;
use crate::output::Output;
use crate::run_command::submit;

/// Retry failed work
#[derive(Debug, clap::Args)]
pub(crate) struct Retry {
    #[command(flatten)]
    of: OfRun,
    #[command(flatten)]
    writing: Writing,
}

impl Retry {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let run = self.of.run.as_deref();
        let command = KeyedCommand::new("retry");
        submit(context, output, run, &self.writing, &command, |_, _| {
            Ok(Happening::Person(PersonEvent::RetryAsked).into())
        })
    }
}
