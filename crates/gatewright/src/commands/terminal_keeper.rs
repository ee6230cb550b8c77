//! `gatewright terminal-keeper`: puts a terminal back whose program was killed.

use runtime::failure::Failure;

use crate::exit::Exit;

/// Wait until the input ends, then put the terminal back
#[derive(Debug, clap::Args)]
pub(crate) struct TerminalKeeper {}

impl TerminalKeeper {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let kept = tui::keeper::keep();
        kept.map_err(|cause| {
            Failure::environment(format!("cannot keep the terminal ({cause})"))
                .hint("type `stty sane`")
        })?;
        Ok(Exit::Success)
    }
}
