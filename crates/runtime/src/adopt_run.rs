//! Adoption: a guarded run whose machine is lost goes on here, from the last entry that was shipped.

use engine::{Driver, Entry, Event, Evidence, Happening, PersonEvent, Pipeline, Reply};
use store::{Backup, ShippedRun};

use crate::clock;
use crate::failure::Failure;
use crate::import_run::{self, Trusted};
use crate::workspace::{OpenRun, Workspace};

/// A run that may be adopted, with the entries that say so. Nothing is stored yet.
pub struct Adoptable {
    backup: Backup,
    pipeline: Pipeline,
    notes: Vec<Entry>,
}

/// Judges the copy as every import: its chain, its contents, every decision, and whether a person may go on with it.
pub fn judge(
    workspace: &Workspace<'_>,
    copy: ShippedRun,
    machine: &str,
    trusted: Trusted,
) -> Result<Adoptable, Failure> {
    let run = copy.run.clone();
    let backup = Backup::assemble(copy).map_err(|error| match error {
        store::Error::NotABackup { what, .. } => {
            Failure::refused(format!("the shipped copy of {run} is not whole: {what}"))
                .hint("nothing was adopted")
        }
        other => other.into(),
    })?;
    if backup.run().driver != Driver::Guarded {
        return Err(Failure::refused(format!("{run} is not a guarded run"))
            .hint("only a guarded run has a home that can be lost"));
    }
    let pipeline = import_run::accept(workspace, &backup, trusted)?;
    let event = Event {
        at: clock::now(),
        by: workspace.context.who(),
        what: Happening::Person(PersonEvent::AdoptAsked {
            machine: machine.to_owned(),
            entry: backup.lines().len() as u64,
        }),
    };
    let decision = engine::decide(&pipeline, backup.run(), &event, &Evidence::default());
    if let Reply::Refuse(refusal) = &decision.reply {
        return Err(Failure::refused(views::refusal(refusal)));
    }
    Ok(Adoptable {
        backup,
        pipeline,
        notes: decision.entries,
    })
}

/// Stores the run, or nothing at all.
pub fn store(workspace: &mut Workspace<'_>, adoptable: &Adoptable) -> Result<OpenRun, Failure> {
    let Adoptable {
        backup,
        pipeline,
        notes,
    } = adoptable;
    import_run::store(workspace, backup, pipeline, notes)
}
