//! `gatewright cancel`: a person ends a run before its end.

use engine::Happening;

use super::reset::given_reason;
use crate::act::act;
use crate::arguments::{OfRun, Writing};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::key::Command;
use crate::output::Output;

/// End a run before its end
#[derive(Debug, clap::Args)]
pub struct Cancel {
    #[command(flatten)]
    of: OfRun,
    /// Why, for whoever reads the history
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    writing: Writing,
}

impl Cancel {
    pub fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let run = self.of.run.as_deref();
        given_reason("cancel", &self.reason)?;
        let command = Command::new("cancel").with("reason", &self.reason);
        act(context, output, run, &self.writing, &command, |_, _| {
            Ok(Happening::CancelAsked {
                reason: self.reason.clone(),
            }
            .into())
        })
    }
}
