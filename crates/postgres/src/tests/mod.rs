//! The store on a real server, which the tests start for themselves.

mod conformance;
mod crashes;
mod driving;
mod fail_over;
mod fleet;
mod refusals;
mod roles;
mod shipping;
mod silence;
mod spending;
mod statements;

use store::Access;
use store::conformance::test_run::TestRun;
use testkit::database::Server;

use crate::{Address, Postgres, set_up};

/// A new database on this server that was set up.
fn ready(server: &Server, name: &str) -> Address {
    let address = Address::parse(&server.database(name)).unwrap();
    set_up(&address).unwrap();
    address
}

fn open(address: &Address) -> Postgres {
    Postgres::open(address, Access::Write).unwrap()
}

/// A stored run with this id.
fn begun(store: &mut Postgres, id: &str) -> TestRun {
    let test_run = TestRun::new(id).unwrap();
    test_run.begin(store).unwrap();
    test_run
}
