//! `gatewright skip`: a person overrides a stage, and the run is marked with it for ever.

use engine::{Happening, Outcome, PersonEvent};

use crate::arguments::{OfRun, Writing};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::idempotency::Command;
use crate::output::Output;
use crate::run_command::act_confirmed;
use crate::workspace::{OpenRun, Workspace};

/// Leave the current stage without its checks; the run stays marked as overridden
#[derive(Debug, clap::Args)]
pub struct Skip {
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

/// What a person cannot have back.
pub fn lost(opened: &OpenRun) -> String {
    let stage = &opened.run().position.stage;
    format!("The run leaves {stage} unchecked, and every view of it says so for ever.")
}

pub fn parse_outcome(text: &str) -> Result<Outcome, String> {
    Outcome::parse(text).map_err(|problem| problem.to_string())
}

impl Skip {
    pub fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let run = self.of.run.as_deref();
        let command = Command::new("skip")
            .with_all("as", self.outcome.iter().map(ToString::to_string))
            .with("reason", &self.reason);
        let lost = |_: &Workspace<'_>, opened: &OpenRun| Ok(lost(opened));
        let make = |_: &Workspace<'_>, _: &OpenRun| {
            let (outcome, reason) = (self.outcome.clone(), self.reason.clone());
            Ok(Happening::Person(PersonEvent::SkipAsked { outcome, reason }).into())
        };
        act_confirmed(context, output, run, &self.writing, &command, lost, make)
    }
}
