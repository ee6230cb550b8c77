//! `gatewright resume`: continues a headless run, whatever ended its orchestrator.

use engine::{Held, RunId};
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::find_run;
use runtime::person_only;

use crate::arguments::OfRun;
use crate::drive_and_show;
use crate::drive_arguments::OrchestratorArguments;
use crate::exit::Exit;
#[cfg(feature = "fleet")]
use crate::fleet_link::FleetLink;
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
        let workspace = find_run::workspace(context)?;
        let run = find_run::find(&workspace, self.of.run.as_deref())?.run.id;
        drop(workspace);
        if context.fleet().is_some() {
            return requeue(context, output, &run);
        }
        let options = self.sitting.options()?;
        drive_and_show::drive(context, output, &run, &options)
    }
}

/// The workers of the fleet drive it, not this process.
#[cfg(feature = "fleet")]
fn requeue(context: &Context, output: &mut Output, run: &RunId) -> Result<Exit, Failure> {
    let fleet = FleetLink::open(context, store::Access::Write)?;
    if !fleet.store.requeue(run)? {
        return Err(
            Failure::refused(format!("{run} is not in the queue of the fleet"))
                .hint(format!("`gatewright status {run}` shows how it ended")),
        );
    }
    output.say(&format!(
        "{run} is queued again: the next free worker of the fleet takes it"
    ));
    Ok(Exit::Success)
}

#[cfg(not(feature = "fleet"))]
fn requeue(_: &Context, _: &mut Output, _: &RunId) -> Result<Exit, Failure> {
    Err(Failure::bug("a fleet that was not built"))
}
