//! What most commands that write have in common: find the run, tell what was done, say what came of it.

use crate::arguments::Writing;
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
    let driven = drive::drive(&mut desk, stored, &key, &mut |desk, opened, _| {
        make(desk, opened)
    })?;
    tell::tell(&driven, output)
}
