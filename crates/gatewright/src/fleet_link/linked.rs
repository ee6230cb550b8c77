//! The link in a program that was built with the fleet.

use std::sync::Arc;

use pg_store::{Address, Postgres};
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::fleet_membership::FleetMembership;
use runtime::fleet_seat::{ConnectFleet, FleetSeat};
use store::{Access, DatabaseFault, SharedBackend};

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
        Self::at(membership, address, access)
    }

    /// The same for reading, without a long wait for a database that is away.
    pub(crate) fn glance(context: &Context) -> Result<Self, Failure> {
        let membership = Self::membership(context)?;
        let address = Address::parse(&membership.source.read()?)?.for_screens();
        Self::at(membership, address, Access::Read)
    }

    fn at(membership: FleetMembership, address: Address, access: Access) -> Result<Self, Failure> {
        let store = Postgres::open(&address, access).map_err(cannot_open)?;
        Ok(Self {
            membership,
            address,
            store,
        })
    }

    /// What this machine is in its fleet.
    pub(crate) fn membership(context: &Context) -> Result<FleetMembership, Failure> {
        FleetMembership::load(&context.state()?)?.ok_or_else(not_joined)
    }

    /// The same context for the runs of the fleet, over a connection of its own.
    pub(crate) fn context(&self, context: &Context) -> Result<Context, Failure> {
        let seat = seat(&self.membership, self.store.for_thread()?, context);
        Ok(context.in_fleet(seat))
    }
}

fn seat(
    membership: &FleetMembership,
    store: Box<dyn SharedBackend>,
    context: &Context,
) -> FleetSeat {
    let (machine, name) = (membership.machine.clone(), membership.name.clone());
    FleetSeat::new(store, machine, name, context.who())
}

/// Where the address is wrong, says how this machine gets another one.
fn cannot_open(error: store::Error) -> Failure {
    let is_of_address = matches!(
        error,
        store::Error::Database {
            fault: DatabaseFault::Password
                | DatabaseFault::NoDatabase
                | DatabaseFault::ReadOnly
                | DatabaseFault::Encryption,
            ..
        }
    );
    let failure = Failure::from(error);
    if is_of_address {
        failure.hint("`gatewright fleet join ADDRESS` gives this machine another address")
    } else {
        failure
    }
}

fn not_joined() -> Failure {
    Failure::refused("this machine has not joined a fleet")
        .hint("join one with `gatewright fleet join ADDRESS`")
}

/// The same context for the runs of the fleet, over one connection. Whether its user may write, the database says when it
/// is asked to: who only looks may do so at a replica.
pub(crate) fn in_fleet(context: &Context) -> Result<Context, Failure> {
    let FleetLink {
        membership, store, ..
    } = FleetLink::open(context, Access::Read)?;
    Ok(context.in_fleet(seat(&membership, Box::new(store), context)))
}

/// How a screen takes a seat in the fleet; nothing where this machine has not joined one.
pub(crate) fn for_screens(context: &Context) -> Result<Option<Arc<ConnectFleet>>, Failure> {
    let state = context.state()?;
    // A file that cannot be read is a fleet that cannot be read.
    if matches!(FleetMembership::load(&state), Ok(None)) {
        return Ok(None);
    }
    let by = context.who();
    Ok(Some(Arc::new(move || {
        let membership = FleetMembership::load(&state)?.ok_or_else(not_joined)?;
        let address = Address::parse(&membership.source.read()?)?.for_screens();
        let store = Postgres::open(&address, Access::Read)?;
        let FleetMembership { machine, name, .. } = membership;
        Ok(FleetSeat::new(Box::new(store), machine, name, by.clone()))
    })))
}
