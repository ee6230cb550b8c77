//! `gatewright cancel`: a person ends a run before its end.

use engine::{Happening, PersonEvent, RunId};
use runner::delivery;
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::find_run;
use runtime::idempotency::KeyedCommand;
use runtime::irreversible;
use runtime::workspace::{OpenRun, Workspace};

use super::reset::given_reason;
use crate::arguments::{OfRun, Writing};
use crate::exit::Exit;
use crate::output::Output;
use crate::run_command::submit_confirmed;

/// Cancel a run
#[derive(Debug, clap::Args)]
pub(crate) struct Cancel {
    #[command(flatten)]
    of: OfRun,
    /// The reason, recorded in the history
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    writing: Writing,
}

impl Cancel {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        given_reason("cancel", &self.reason)?;
        let run = find_run::find(&Workspace::for_writing(context)?, self.of.run.as_deref())?;
        let run = run.run.id;
        let exit = self.cancel(context, output, &run)?;
        // If nobody drives the run, nobody else keeps its work.
        let mut workspace = Workspace::for_writing(context)?;
        if let Err(failure) = delivery::keep_ended(&mut workspace, &run) {
            output.say(&failure.to_string());
        }
        Ok(exit)
    }

    fn cancel(&self, context: &Context, output: &mut Output, run: &RunId) -> Result<Exit, Failure> {
        let run = Some(run.as_str());
        let command = KeyedCommand::new("cancel").with("reason", &self.reason);
        let lost = |_: &Workspace<'_>, opened: &OpenRun| {
            Ok(irreversible::unless_over(
                opened,
                irreversible::cancel_warning,
            ))
        };
        let make = |_: &Workspace<'_>, _: &OpenRun| {
            let reason = self.reason.clone();
            Ok(Happening::Person(PersonEvent::CancelAsked { reason }).into())
        };
        submit_confirmed(context, output, run, &self.writing, &command, lost, make)
    }
}
