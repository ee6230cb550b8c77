//! `gatewright resume`: continues a headless run, whatever ended its orchestrator.

use engine::{Held, RunId};
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::find_run;
use runtime::person_only;

use crate::arguments::OfRun;
#[cfg(feature = "fleet")]
use crate::commands::start::fleet_queue::{FleetArguments, FleetQueue};
use crate::drive_and_show;
use crate::drive_arguments::OrchestratorArguments;
use crate::exit::Exit;
#[cfg(feature = "fleet")]
use crate::fleet_link::FleetLink;
use crate::output::Output;
#[cfg(feature = "fleet")]
use pg_store::Requeued;
#[cfg(feature = "fleet")]
use runtime::{drive_settings::DriveSettings, lease_holder, workspace::Workspace};

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
    let message = match fleet.store.requeue(run)? {
        Requeued::Free => "is queued again: the next free worker of the fleet takes it".to_owned(),
        Requeued::Driven { holder } => format!(
            "is at work already: {} drives it",
            lease_holder::process_name(&holder)
        ),
        Requeued::NotQueued => {
            enqueue(context, output, run)?;
            "is queued: the next free worker of the fleet takes it".to_owned()
        }
    };
    output.say(&format!("{run} {message}"));
    Ok(Exit::Success)
}

/// A start that was killed has stored the run, and not queued it.
#[cfg(feature = "fleet")]
fn enqueue(context: &Context, output: &mut Output, run: &RunId) -> Result<(), Failure> {
    let mut workspace = Workspace::for_writing(context)?;
    let opened = workspace.read(run)?;
    let status = engine::status(&opened.pipeline, opened.run());
    if engine::is_over(&opened.pipeline, opened.run()) {
        let message = format!("{run} is {}, so nothing is left to drive", status.word());
        return Err(
            Failure::refused(message).hint(format!("`gatewright status {run}` shows how it ended"))
        );
    }
    let wish = DriveSettings::load(&workspace.state, run)?.fleet;
    let wish = wish.ok_or_else(|| {
        let message = format!("{run} was never queued: its start ended early on another machine");
        Failure::refused(message).hint(format!(
            "type `gatewright resume {run}` there, or `gatewright cancel {run} --reason TEXT` here"
        ))
    })?;
    FleetQueue::open(context, FleetArguments::again(wish))?.enqueue(&opened, output)
}

#[cfg(not(feature = "fleet"))]
fn requeue(_: &Context, _: &mut Output, _: &RunId) -> Result<Exit, Failure> {
    Err(Failure::bug("a fleet that was not built"))
}
