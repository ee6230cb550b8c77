//! Commands that are a person's and have no run to judge them: agents are refused, and it is recorded.

use engine::{Happening, Held, Who};
use store::Backend;

use crate::context::Context;
use crate::desk::{Desk, Opened};
use crate::drive;
use crate::failure::Failure;
use crate::{chance, runs};

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
    if Desk::if_there(context)?.is_none() {
        return Ok(());
    }
    let mut desk = Desk::for_writing(context)?;
    let message = format!(
        "{} tried `gatewright {command}`, and was refused",
        by.name()
    );
    let active = runs::of_project(&desk)?.into_iter().filter(runs::is_active);
    for summary in active.collect::<Vec<_>>() {
        let Some(stored) = desk.store.run(&summary.id)? else {
            continue;
        };
        let mut make = |_: &Desk<'_>, _: &Opened, _| {
            let message = message.clone();
            Ok(Happening::Remarked { message }.into())
        };
        drive::drive(&mut desk, stored, &chance::key()?, &mut make)?;
    }
    Ok(())
}

/// Does a guarded session hold one of the project's active runs?
pub fn held_here(context: &Context) -> Result<Held, Failure> {
    let Some(desk) = Desk::if_there(context)? else {
        return Ok(Held::Nobody);
    };
    for summary in runs::of_project(&desk)?
        .iter()
        .filter(|run| runs::is_active(run))
    {
        let stored = desk.store.run(&summary.id)?;
        if stored.is_some_and(|stored| engine::held(&stored.run) == Held::Session) {
            return Ok(Held::Session);
        }
    }
    Ok(Held::Nobody)
}
