//! What most commands that write have in common: find the run, tell what was done, say what came of it.

use engine::Run;
use store::{Key, StoredRun};

use crate::arguments::Writing;
use crate::confirm::{self, Question};
use crate::context::Context;
use crate::desk::{Desk, Opened};
use crate::drive::{self, Deed};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::key::{self, Command};
use crate::output::Output;
use crate::{runs, tell};

/// Does a deed that means the same wherever the run is.
pub fn act(
    context: &Context,
    output: &mut Output,
    run: Option<&str>,
    writing: &Writing,
    command: &Command<'_>,
    make: impl Fn(&Desk<'_>, &Opened) -> Result<Deed, Failure>,
) -> Result<Exit, Failure> {
    let mut desk = Desk::for_writing(context)?;
    let stored = runs::find(&desk, run)?;
    let key = key::of_run(&desk, &stored, writing, command)?;
    do_it(&mut desk, output, stored, &key, make)
}

/// Does the same after a person has typed the run's id. `lost` says what cannot be had back.
///
/// Invariant: the question is asked before the run is looked at to change it. Nobody waits for a
/// person who thinks.
pub fn act_confirmed(
    context: &Context,
    output: &mut Output,
    run: Option<&str>,
    writing: &Writing,
    command: &Command<'_>,
    lost: impl FnOnce(&Desk<'_>, &Opened) -> Result<String, Failure>,
    make: impl Fn(&Desk<'_>, &Opened) -> Result<Deed, Failure>,
) -> Result<Exit, Failure> {
    let mut desk = Desk::for_writing(context)?;
    let stored = runs::find(&desk, run)?;
    let key = key::of_run(&desk, &stored, writing, command)?;
    if let Some(driven) = drive::repeated(&mut desk, &stored, &key)? {
        return tell::tell(&driven, output);
    }
    let opened = desk.opened(stored.clone())?;
    confirmed(context, opened.run(), command.name, &lost(&desk, &opened)?)?;
    do_it(&mut desk, output, stored, &key, make)
}

/// Has the person type the run's id. Whoever will be refused is not asked.
pub fn confirmed(context: &Context, run: &Run, deed: &str, lost: &str) -> Result<(), Failure> {
    match engine::may_act(&context.who(), engine::held(run)) {
        Ok(()) => confirm::confirm(
            context,
            &Question {
                lost: &views::safe(lost),
                word: run.id.as_str(),
                deed: &format!("{deed} this run"),
            },
        ),
        Err(_) => Ok(()),
    }
}

fn do_it(
    desk: &mut Desk<'_>,
    output: &mut Output,
    stored: StoredRun,
    key: &Key,
    make: impl Fn(&Desk<'_>, &Opened) -> Result<Deed, Failure>,
) -> Result<Exit, Failure> {
    let driven = drive::drive(desk, stored, key, &mut |desk, opened, _| make(desk, opened))?;
    tell::tell(&driven, output)
}
