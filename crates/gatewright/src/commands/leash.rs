//! `gatewright leash`: waits for the end of a `step`, and ends its worker if nobody else has.

use crate::exit::Exit;
use crate::worker;

/// Wait until the input ends, then end this worker
#[derive(Debug, clap::Args)]
pub struct Leash {
    /// The group
    #[arg(value_name = "GROUP")]
    group: u32,
    /// The call by which all processes of the worker are known
    #[arg(value_name = "CALL")]
    call: String,
}

impl Leash {
    pub fn run(&self) -> Exit {
        worker::hold(self.group, &self.call, &mut std::io::stdin());
        Exit::Success
    }
}
