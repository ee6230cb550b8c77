//! The fleet battery: machines drive queued runs of one PostgreSQL, and drivers, server, network and clocks break.
//!
//! Its first half hurts the store of a fleet with drivers of its own, its second half real workers of the program. Both use
//! the product and the kit of its tests, so they are `examples/fleet`: xtask itself is built without them.

use std::path::Path;
use std::process::Command;

use super::{Extent, Manner};
use crate::failure::Failure;
use crate::setup;
use crate::workspace::{build_example, succeed};

pub(super) fn run(program: &Path, manner: Manner) -> Result<(), Failure> {
    setup::ensure_server()?;
    let battery = build_example("fleet")?;
    let extent = match manner.extent {
        Extent::Sample => "sample",
        Extent::Whole => "whole",
    };
    let mut fleet = Command::new(battery);
    let seed = manner.seed.to_string();
    succeed(fleet.args(["battery", &seed, extent]).arg(program))
}
