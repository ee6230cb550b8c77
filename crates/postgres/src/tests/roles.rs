//! What each role may do: drive, ship without reading or changing, or look.

use store::conformance::test_run::{cancelled, note};
use store::{Access, Backend as _, Collect, Transacted};
use testkit::database::Server;

use super::{begun, open, ready};
use crate::{Address, Postgres};

/// The address of a new user with this role.
fn member(server: &Server, role: &str) -> String {
    let user = format!("user_{role}");
    server.sql(
        "team",
        &format!("CREATE USER {user} PASSWORD 'x' IN ROLE {role}"),
    );
    server.address_of(&user, "x", "team")
}

#[test]
fn whoever_drives_can_do_everything_but_rewrite_a_journal() {
    let server = Server::start();
    ready(&server, "team");
    let address = member(&server, crate::DRIVE_ROLE);
    let mut store = open(&Address::parse(&address).unwrap());
    let test_run = begun(&mut store, "r-1");
    let done = test_run
        .add(&mut store, 1, &[note("one"), cancelled()])
        .unwrap();
    assert!(matches!(done, Transacted::Done { .. }));
    for statement in [
        "UPDATE gatewright.entries SET entry = '{}'",
        "DELETE FROM gatewright.entries",
        "TRUNCATE gatewright.entries CASCADE",
        "DROP SCHEMA gatewright CASCADE",
    ] {
        assert!(server.try_sql(&address, statement).is_err(), "{statement}");
    }
    let before = engine::Time(u64::MAX);
    let collected = store
        .gc(&Collect {
            before,
            shrink: false,
        })
        .unwrap();
    assert_eq!((collected.runs, collected.entries), (1, 3));
    assert_eq!(
        server.sql("team", "SELECT count(*) FROM gatewright.entries"),
        "0"
    );
}

#[test]
fn whoever_looks_changes_nothing() {
    let server = Server::start();
    let address = ready(&server, "team");
    begun(&mut open(&address), "r-1");
    let address = member(&server, crate::READ_ROLE);
    let mut store = Postgres::open(&Address::parse(&address).unwrap(), Access::Read).unwrap();
    assert_eq!(store.runs(None).unwrap().len(), 1);
    let refused = store.put_content(b"x", engine::Time(1));
    assert!(refused.is_err());
    let test_run = store::conformance::test_run::TestRun::new("r-1").unwrap();
    assert!(test_run.add(&mut store, 1, &[note("one")]).is_err());
    for table in [
        "runs", "entries", "contents", "machines", "queue", "shipped", "versions",
    ] {
        for statement in [
            format!("DELETE FROM gatewright.{table}"),
            format!("INSERT INTO gatewright.{table} SELECT * FROM gatewright.{table}"),
        ] {
            assert!(server.try_sql(&address, &statement).is_err(), "{statement}");
        }
    }
}

#[test]
fn whoever_ships_adds_what_continues_the_chain_and_nothing_else() {
    let server = Server::start();
    let address = ready(&server, "team");
    let mut store = open(&address);
    let test_run = begun(&mut store, "r-1");
    test_run
        .add(&mut store, 1, &[note("one"), note("two")])
        .unwrap();
    // The lines of a real journal, as a machine would ship its own.
    let copy = |number: u64, change: &str| {
        format!(
            "INSERT INTO gatewright.shipped (machine, run, number, decision, key, entry, previous, hash) \
             SELECT 'm', run, number, decision, key, {change}, previous, hash FROM lines WHERE number = {number}"
        )
    };
    server.sql(
        "team",
        "CREATE TABLE lines AS SELECT * FROM gatewright.entries; GRANT SELECT ON lines TO PUBLIC",
    );
    let shipper = member(&server, crate::SHIP_ROLE);
    let ship = |statement: &str| server.try_sql(&shipper, statement);
    assert!(ship(&copy(2, "entry")).is_err(), "there is no first line");
    assert!(
        ship(&copy(1, "entry || ' '")).is_err(),
        "it is not the line of its hash"
    );
    for number in 1..=2 {
        ship(&copy(number, "entry")).unwrap();
    }
    assert_eq!(
        ship("SELECT number FROM gatewright.shipped_tip('m', 'r-1')").unwrap(),
        "2"
    );
    for statement in [
        copy(2, "entry").as_str(),
        "SELECT * FROM gatewright.shipped",
        "SELECT * FROM gatewright.entries",
        "UPDATE gatewright.shipped SET number = 9",
        "DELETE FROM gatewright.shipped",
        "TRUNCATE gatewright.shipped",
    ] {
        assert!(ship(statement).is_err(), "{statement}");
    }
    assert_eq!(
        server.sql("team", "SELECT count(*) FROM gatewright.shipped"),
        "2"
    );
}
