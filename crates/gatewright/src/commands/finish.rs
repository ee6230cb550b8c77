//! `gatewright finish`: a person ends an open stage.

use engine::{Happening, PersonEvent};
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::idempotency::KeyedCommand;

use crate::arguments::{OfRun, Writing};
use crate::exit::Exit;
use crate::output::Output;
use crate::run_command::submit;

/// End an open stage
#[derive(Debug, clap::Args)]
pub(crate) struct Finish {
    #[command(flatten)]
    of: OfRun,
    #[command(flatten)]
    writing: Writing,
}

impl Finish {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let run = self.of.run.as_deref();
        let command = KeyedCommand::new("finish");
        submit(context, output, run, &self.writing, &command, |_, _| {
            Ok(Happening::Person(PersonEvent::FinishAsked).into())
        })
    }
}
