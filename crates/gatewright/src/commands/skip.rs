//! `gatewright skip`: a person overrides a stage, and the run is marked for ever.

use engine::{Happening, Outcome, PersonEvent};
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::idempotency::KeyedCommand;
use runtime::irreversible;
use runtime::workspace::{OpenRun, Workspace};

use crate::arguments::{OfRun, Writing};
use crate::exit::Exit;
use crate::output::Output;
use crate::run_command::submit_confirmed;

/// Leave the current stage without its checks; the run stays marked as overridden
#[derive(Debug, clap::Args)]
pub(crate) struct Skip {
    #[command(flatten)]
    of: OfRun,
    /// The outcome to leave the stage with [default: its only outcome]
    #[arg(long = "as", value_name = "OUTCOME", value_parser = parse_outcome)]
    outcome: Option<Outcome>,
    /// The reason, recorded in the history
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    writing: Writing,
}

pub(crate) fn parse_outcome(text: &str) -> Result<Outcome, String> {
    Outcome::parse(text).map_err(|problem| problem.to_string())
}

impl Skip {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let run = self.of.run.as_deref();
        let command = KeyedCommand::new("skip")
            .with_all("as", self.outcome.iter().map(ToString::to_string))
            .with("reason", &self.reason);
        let lost = |_: &Workspace<'_>, opened: &OpenRun| {
            Ok(irreversible::unless_over(
                opened,
                irreversible::skip_warning,
            ))
        };
        let make = |_: &Workspace<'_>, _: &OpenRun| {
            let (outcome, reason) = (self.outcome.clone(), self.reason.clone());
            Ok(Happening::Person(PersonEvent::SkipAsked { outcome, reason }).into())
        };
        submit_confirmed(context, output, run, &self.writing, &command, lost, make)
    }
}
