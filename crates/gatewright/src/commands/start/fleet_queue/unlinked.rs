//! The queue in a program that was built without the fleet: there is none.

use runtime::context::Context;
use runtime::drive_settings::FleetWish;
use runtime::failure::Failure;
use runtime::workspace::OpenRun;

use super::FleetArguments;
use crate::fleet_link::{self, FleetLink};
use crate::output::Output;

pub(crate) struct NoFleetQueue(FleetLink);

impl NoFleetQueue {
    pub(super) fn open(context: &Context, _: FleetArguments) -> Result<Self, Failure> {
        Err(match fleet_link::in_fleet(context) {
            Err(failure) => failure,
            Ok(_) => Failure::bug("a fleet that was not built"),
        })
    }

    pub(crate) fn context(&self) -> &Context {
        match self.0 {}
    }

    pub(crate) fn wish(&self) -> FleetWish {
        match self.0 {}
    }

    pub(crate) fn enqueue(&self, _: &OpenRun, _: &mut Output) -> Result<(), Failure> {
        match self.0 {}
    }
}
