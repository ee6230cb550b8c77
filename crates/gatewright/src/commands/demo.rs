//! `gatewright demo`: runs a built-in pipeline from start to end.

use runtime::context::Context;
use runtime::failure::Failure;

use crate::demo::Play;
use crate::exit::Exit;
use crate::output::Output;

/// Run a built-in pipeline from start to end in a temporary folder
///
/// Needs no agent, no account and no network. Deletes the folder when it is done.
#[derive(Debug, clap::Args)]
pub(crate) struct Demo {}

impl Demo {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        Play::new(context)?.perform(output)
    }
}
