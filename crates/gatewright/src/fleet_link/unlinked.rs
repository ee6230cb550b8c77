//! The link in a program that was built without the fleet: there is none.

use std::sync::Arc;

use runtime::context::Context;
use runtime::failure::Failure;
use runtime::fleet_seat::ConnectFleet;

/// No value of this type exists.
pub(crate) enum NoFleetLink {}

/// Always fails.
pub(crate) fn in_fleet(_: &Context) -> Result<Context, Failure> {
    Err(
        Failure::refused("this gatewright was built without the fleet")
            .hint("install a released version, or build it with `--features fleet`"),
    )
}

/// Screens show the runs of this machine.
pub(crate) fn for_screens(_: &Context) -> Result<Option<Arc<ConnectFleet>>, Failure> {
    Ok(None)
}
