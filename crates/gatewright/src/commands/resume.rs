//! `gatewright resume`: continues a headless run, whatever ended its orchestrator.

use engine::Held;
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::find_run;
use runtime::person_only;
use runtime::workspace::Workspace;

use crate::arguments::OfRun;
use crate::drive_and_show;
use crate::drive_arguments::OrchestratorArguments;
use crate::exit::Exit;
use crate::output::Output;

/// Continue a headless run after Ctrl-C, a kill, a reboot or an answer
///
/// Kills leftover agent processes first. Judges work that had ended. Continues interrupted work in
/// the same conversation, or restarts it.
#[derive(Debug, clap::Args)]
pub(crate) struct Resume {
    #[command(flatten)]
    of: OfRun,
    #[command(flatten)]
    sitting: OrchestratorArguments,
}

impl Resume {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        person_only::require_person(context, "resume", Held::Nobody)?;
        let workspace = Workspace::for_reading(context)?;
        let run = find_run::find(&workspace, self.of.run.as_deref())?.run.id;
        drop(workspace);
        let options = self.sitting.options()?;
        drive_and_show::drive(context, output, &run, &options)
    }
}
