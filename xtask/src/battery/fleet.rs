//! The fleet battery: machines drive queued runs of one PostgreSQL, and drivers, server, network and clocks break.
//!
//! It hurts the store of a fleet and not the program, so it is `examples/fleet`: xtask itself is built without the
//! product.

use std::process::Command;

use super::{Extent, Manner};
use crate::failure::Failure;
use crate::setup;
use crate::workspace::{cargo, succeed, target};

pub(super) fn run(manner: Manner) -> Result<(), Failure> {
    setup::ensure_server()?;
    succeed(cargo().args([
        "build",
        "--quiet",
        "--package",
        "xtask",
        "--example",
        "fleet",
    ]))?;
    let extent = match manner.extent {
        Extent::Sample => "sample",
        Extent::Whole => "whole",
    };
    let mut fleet = Command::new(target().join("debug/examples/fleet"));
    succeed(fleet.args(["battery", &manner.seed.to_string(), extent]))
}
