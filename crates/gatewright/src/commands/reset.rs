//! `gatewright reset`: returns a run to its start, after a backup. The history stays.

use std::fs;

use engine::{CheckpointName, Happening, PersonEvent, Run};
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::idempotency::{self, KeyedCommand};
use runtime::workspace::{OpenRun, Workspace};
use runtime::{backup, find_run, transact};
use store::{Key, StoredRun};

use crate::arguments::{OfRun, Writing};
use crate::exit::Exit;
use crate::output::Output;
use crate::report;
use crate::run_command::confirmed;

/// Restart a run from its first stage; keeps its history and writes a backup first
#[derive(Debug, clap::Args)]
pub(crate) struct Reset {
    #[command(flatten)]
    of: OfRun,
    /// The reason, recorded in the history
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    writing: Writing,
}

impl Reset {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        given_reason("reset", &self.reason)?;
        let mut workspace = Workspace::for_writing(context)?;
        let stored = find_run::find(&workspace, self.of.run.as_deref())?;
        let command = KeyedCommand::new("reset").with("reason", &self.reason);
        let key = idempotency::run_key(&workspace, &stored, self.writing.key.as_ref(), &command)?;
        if let Some(decided) = transact::repeated(&mut workspace, &stored.run.id, Some(&key))? {
            return report::print(&workspace, &decided, output);
        }
        let mut make = |_: &Workspace<'_>, _: &OpenRun, _| {
            Ok(Happening::Person(PersonEvent::ResetAsked {
                reason: self.reason.clone(),
            })
            .into())
        };
        if engine::may_act(&context.who(), engine::held(&stored.run)).is_err() {
            // The engine will refuse and record that, so we make no backup.
            let decided = transact::command(&mut workspace, &stored.run.id, &key, &mut make)?;
            return report::print(&workspace, &decided, output);
        }
        let opened = workspace.opened(stored.clone())?;
        workspace.require_project(&opened)?;
        confirmed(context, &stored.run, "reset", &lost(&stored.run))?;
        let name = mark(&mut workspace, &stored, &key)?;
        let run = stored.run.id.clone();
        let backup = backup::write(&workspace, &run, &name)?;
        let decided = transact::command(&mut workspace, &stored.run.id, &key, &mut make)?;
        let exit = report::print(&workspace, &decided, output)?;
        if exit == Exit::Success {
            output.say(&format!("the backup is in {}", backup.display()));
            output.say(&format!(
                "to undo: gatewright restore {run} {name} --reason WHY"
            ));
        } else {
            // The run did not change, so there is nothing to undo.
            let _ = fs::remove_file(&backup);
        }
        Ok(exit)
    }
}

fn lost(run: &Run) -> String {
    let stage = &run.position.stage;
    format!(
        "The run leaves {stage} and restarts: its passed gates, counters and captured artifacts no \
         longer count. Its history stays, and a backup is written."
    )
}

/// A person who overrides the course of a run must give a reason, for the history.
pub(crate) fn given_reason(what: &str, reason: &str) -> Result<(), Failure> {
    if reason.trim().is_empty() {
        Err(Failure::refused(format!("a {what} needs a reason")).hint("add --reason TEXT"))
    } else {
        Ok(())
    }
}

/// Gives the point before the reset a name. A second try with the same key finds the same point.
fn mark(
    workspace: &mut Workspace<'_>,
    stored: &StoredRun,
    key: &Key,
) -> Result<CheckpointName, Failure> {
    let name = backup::name(stored)?;
    let derived = evidence::hash(format!("before {key}").as_bytes()).to_string();
    let derived = Key::parse(&derived).map_err(|problem| Failure::bug(problem.to_string()))?;
    let mut make = |_: &Workspace<'_>, _: &OpenRun, _| {
        Ok(Happening::Person(PersonEvent::CheckpointAsked { name: name.clone() }).into())
    };
    let decided = transact::command(workspace, &stored.run.id, &derived, &mut make)?;
    let made = decided.entries.iter().find_map(|(_, entry)| {
        let engine::Fact::Checkpointed { name } = &entry.fact else {
            return None;
        };
        Some(name.clone())
    });
    Ok(made.unwrap_or(name))
}
