//! `gatewright resume`: goes on with a headless run where it was, whatever ended its orchestrator.

use engine::Held;

use crate::arguments::OfRun;
use crate::caller::refusal;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::find_run;
use crate::headless::drive_run;
use crate::headless::flags::Sitting;
use crate::output::Output;
use crate::workspace::Workspace;

/// Continue a headless run after Ctrl-C, a kill, a reboot or an answer
///
/// Kills leftover agent processes first. Judges work that had ended. Continues interrupted work in
/// the same conversation, or restarts it.
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
        let workspace = Workspace::for_reading(context)?;
        let run = find_run::find(&workspace, self.of.run.as_deref())?.run.id;
        drop(workspace);
        let options = self.sitting.options()?;
        drive_run::sit(context, output, &run, &options)
    }
}
