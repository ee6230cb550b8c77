//! `gatewright watchdog`: waits for the end of a `step`, and ends its worker if nobody else has.

use runtime::watchdog;

use crate::exit::Exit;

/// Wait until the input ends, then end this worker
#[derive(Debug, clap::Args)]
pub(crate) struct Watchdog {
    /// The start by which all of its processes are known
    #[arg(value_name = "START")]
    start: String,
    /// The group that it leads
    #[arg(value_name = "GROUP", value_parser = clap::value_parser!(u32).range(2..))]
    group: Option<u32>,
}

impl Watchdog {
    pub(crate) fn run(&self) -> Exit {
        watchdog::watch(&self.start, self.group, &mut std::io::stdin());
        Exit::Success
    }
}
