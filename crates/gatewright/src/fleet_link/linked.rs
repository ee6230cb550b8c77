//! The link in a program that was built with the fleet.

use pg_store::{Address, Postgres};
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::fleet_membership::FleetMembership;
use runtime::fleet_seat::FleetSeat;
use store::{Access, SharedBackend as _};

/// An open connection to the fleet of this machine.
pub(crate) struct FleetLink {
    pub membership: FleetMembership,
    pub address: Address,
    pub store: Postgres,
}

impl FleetLink {
    pub(crate) fn open(context: &Context, access: Access) -> Result<Self, Failure> {
        let membership = Self::membership(context)?;
        let address = Address::parse(&membership.source.read()?)?;
        let store = Postgres::open(&address, access)?;
        Ok(Self {
            membership,
            address,
            store,
        })
    }

    /// What this machine is in its fleet.
    pub(crate) fn membership(context: &Context) -> Result<FleetMembership, Failure> {
        FleetMembership::load(&context.state()?)?.ok_or_else(|| {
            Failure::refused("this machine has not joined a fleet")
                .hint("join one with `gatewright fleet join ADDRESS`")
        })
    }

    /// The same context for the runs of the fleet, over a connection of its own.
    pub(crate) fn context(&self, context: &Context) -> Result<Context, Failure> {
        let seat = FleetSeat::new(
            self.store.for_thread()?,
            self.membership.machine.clone(),
            self.membership.name.clone(),
            context.who(),
        );
        Ok(context.in_fleet(seat))
    }
}

/// The same context for the runs of the fleet.
pub(crate) fn in_fleet(context: &Context) -> Result<Context, Failure> {
    FleetLink::open(context, Access::Write)?.context(context)
}
