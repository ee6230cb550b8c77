//! `gatewright watch`: inbox, runs and one run in detail, on a screen that stays open.

use runtime::context::Context;
use runtime::failure::Failure;
use runtime::signals;
use tui::WatchOptions;

use crate::exit::Exit;
use crate::fleet_link;
use crate::output::{Format, Output};

/// Watch all runs on a screen: what waits for you, who is alive, each run in detail
///
/// Shows the questions that wait in all projects, the runs with their liveness, and of the selected run its stages, journal,
/// output, gates, artifacts and changes. A person at the terminal can answer questions there. The keys are on the last line; `?` shows all.
#[derive(Debug, clap::Args)]
pub(crate) struct Watch {
    /// Print one picture and end; needs no terminal
    #[arg(long)]
    once: bool,
    /// Begin with this run: its id, or its first characters
    #[arg(long, value_name = "RUN")]
    select: Option<String>,
}

impl Watch {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let options = WatchOptions {
            select: self.select.as_deref(),
            paint: output.paint(),
            fleet: fleet_link::for_screens(context)?,
        };
        if output.format() == Format::Json {
            return Err(Failure::usage("`gatewright watch` has no JSON")
                .hint("type `gatewright list --all --json` or `gatewright inbox --json`"));
        }
        if self.once {
            let size = output.terminal_size();
            output.text(&tui::once(context, &options, size)?)?;
        } else {
            tui::watch(context, &options, &*signals::watch()?)?;
        }
        Ok(Exit::Success)
    }
}
