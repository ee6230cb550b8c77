//! Commands that are a person's and have no run to judge them: agents are refused, and it is recorded.

use engine::{Happening, Held, SessionEvent, Who};
use store::Backend;

use crate::context::Context;
use crate::failure::Failure;
use crate::transact;
use crate::workspace::{OpenRun, Workspace};
use crate::{find_run, ids};

/// Lets a person's command pass, or refuses it and leaves a line in the history of the project's
/// active runs.
pub fn persons(context: &Context, command: &str, held: Held) -> Result<(), Failure> {
    let by = context.who();
    let Err(reason) = engine::may_act(&by, held) else {
        return Ok(());
    };
    // That it could not be recorded does not let it pass.
    let _ = record(context, command, &by);
    Err(refused(command, &reason))
}

/// The words of such a refusal, with the rule that also the engine would name.
pub fn refused(command: &str, reason: &str) -> Failure {
    let code = engine::Rule::PersonOnly.code();
    Failure::no(format!("{code} `gatewright {command}` refused: {reason}"))
        .hint("have a person do it at their terminal")
}

fn record(context: &Context, command: &str, by: &Who) -> Result<(), Failure> {
    // Nothing is made for what was refused.
    if Workspace::if_there(context)?.is_none() {
        return Ok(());
    }
    let mut workspace = Workspace::for_writing(context)?;
    let message = format!(
        "{} tried `gatewright {command}`, and was refused",
        by.name()
    );
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
pub fn held_here(context: &Context) -> Result<Held, Failure> {
    let Some(workspace) = Workspace::if_there(context)? else {
        return Ok(Held::Nobody);
    };
    for summary in find_run::of_project(&workspace)?
        .iter()
        .filter(|run| find_run::is_active(run))
    {
        let stored = workspace.store.run(&summary.id)?;
        if stored.is_some_and(|stored| engine::held(&stored.run) == Held::Session) {
            return Ok(Held::Session);
        }
    }
    Ok(Held::Nobody)
}
