//! `gatewright cancel`: a person ends a run before its end.

use engine::{Happening, PersonEvent};

use super::reset::given_reason;
use crate::arguments::{OfRun, Writing};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::idempotency::Command;
use crate::output::Output;
use crate::run_command::act_confirmed;
use crate::workspace::{OpenRun, Workspace};

/// Cancel a run
#[derive(Debug, clap::Args)]
pub struct Cancel {
    #[command(flatten)]
    of: OfRun,
    /// The reason, recorded in the history
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    writing: Writing,
}

/// What a person cannot have back.
pub fn lost(opened: &OpenRun) -> String {
    let stage = &opened.run().position.stage;
    format!("The run ends in {stage}, and nobody can go on with it. Its history stays.")
}

impl Cancel {
    pub fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let run = self.of.run.as_deref();
        given_reason("cancel", &self.reason)?;
        let command = Command::new("cancel").with("reason", &self.reason);
        let lost = |_: &Workspace<'_>, opened: &OpenRun| Ok(lost(opened));
        let make = |_: &Workspace<'_>, _: &OpenRun| {
            let reason = self.reason.clone();
            Ok(Happening::Person(PersonEvent::CancelAsked { reason }).into())
        };
        act_confirmed(context, output, run, &self.writing, &command, lost, make)
    }
}
