//! Commands for people without a run that could judge them: agents are refused, and the try is
//! recorded.

use std::path::Path;

use engine::{Happening, Held, SessionEvent, Who};
use store::{Backend, RunSummary};

use crate::context::Context;
use crate::failure::Failure;
use crate::transact;
use crate::workspace::{OpenRun, Workspace};
use crate::{find_run, ids};

/// Lets a person's command pass, or refuses it and records that in the project's active runs.
pub fn require_person(context: &Context, command: &str, held: Held) -> Result<(), Failure> {
    let by = context.who();
    let Err(reason) = engine::may_act(&by, held) else {
        return Ok(());
    };
    // The command is refused even if that could not be recorded.
    let _ = record(context, command, &by);
    Err(refused(command, &reason))
}

/// The refusal, with the engine's rule for it.
pub fn refused(command: &str, reason: &str) -> Failure {
    let code = engine::Rule::PersonOnly.code();
    Failure::refused(format!("{code} `gatewright {command}` refused: {reason}"))
        .hint("a person must type it at their terminal")
}

fn record(context: &Context, command: &str, by: &Who) -> Result<(), Failure> {
    // A refused command creates no store.
    if Workspace::if_exists(context)?.is_none() {
        return Ok(());
    }
    let mut workspace = Workspace::for_writing(context)?;
    let message = format!("{} tried `gatewright {command}` and was refused", by.name());
    let active = find_run::of_project(&workspace)?
        .into_iter()
        .filter(find_run::is_active);
    for summary in active.collect::<Vec<_>>() {
        let Some(stored) = workspace.store.run(&summary.id)? else {
            continue;
        };
        let mut make = |_: &Workspace<'_>, _: &OpenRun, _| {
            let message = message.clone();
            Ok(Happening::Session(SessionEvent::Remarked { message }).into())
        };
        transact::command(&mut workspace, &stored.run.id, &ids::key()?, &mut make)?;
    }
    Ok(())
}

/// Does a guarded session hold one of the project's active runs?
pub fn session_holds_a_run(context: &Context) -> Result<Held, Failure> {
    session_holds(context, |_| false)
}

/// The same for a command about this file. It need not lie in the project of the current folder, so
/// it is also about the runs above it; and about any, if it lies elsewhere.
pub fn session_holds_a_run_above(context: &Context, file: &Path) -> Result<Held, Failure> {
    let file = file
        .canonicalize()
        .unwrap_or_else(|_| context.folder.join(file));
    let root = evidence::Project::find(&context.folder)?.root;
    let elsewhere = !file.starts_with(&root);
    session_holds(context, |run| elsewhere || file.starts_with(&run.worktree))
}

fn session_holds(
    context: &Context,
    concerns: impl Fn(&RunSummary) -> bool,
) -> Result<Held, Failure> {
    let Some(workspace) = Workspace::if_exists(context)? else {
        return Ok(Held::Nobody);
    };
    let mut concerned = find_run::of_project(&workspace)?;
    let all = workspace.store.runs(None)?.into_iter();
    concerned.extend(all.filter(concerns));
    for summary in concerned.iter().filter(|run| find_run::is_active(run)) {
        let stored = workspace.store.run(&summary.id)?;
        if stored.is_some_and(|stored| engine::held(&stored.run) == Held::Session) {
            return Ok(Held::Session);
        }
    }
    Ok(Held::Nobody)
}
