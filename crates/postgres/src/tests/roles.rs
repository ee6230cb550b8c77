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
            keep: &[],
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

/// What a role may do with tables, and which functions that act with the rights of the owner it may call.
fn rights(server: &Server, role: &str) -> (String, String) {
    let tables = format!(
        "SELECT string_agg(DISTINCT privilege_type || ' ' || table_name, ', ' ORDER BY privilege_type || ' ' || table_name) \
         FROM information_schema.role_table_grants \
         WHERE table_schema = 'gatewright' AND grantee = '{role}' AND privilege_type <> 'SELECT'"
    );
    let functions = format!(
        "SELECT string_agg(proname, ', ' ORDER BY proname) FROM pg_proc \
         WHERE pronamespace = 'gatewright'::regnamespace AND prosecdef AND prorettype <> 'trigger'::regtype \
             AND has_function_privilege('{role}', oid, 'EXECUTE')"
    );
    (server.sql("team", &tables), server.sql("team", &functions))
}

#[test]
fn a_role_has_the_rights_that_it_needs_and_no_others() {
    let server = Server::start();
    ready(&server, "team");
    let looks = "shipped_tip, shipped_tips";
    let ships = "announce, join_machine, machine_is_there, ship, ship_content, shipped_tip, shipped_tips, tell_run";
    assert_eq!(
        rights(&server, crate::READ_ROLE),
        (String::new(), looks.to_owned())
    );
    let added = "INSERT shipped".to_owned();
    assert_eq!(rights(&server, crate::SHIP_ROLE), (added, ships.to_owned()));
    let (tables, functions) = rights(&server, crate::DRIVE_ROLE);
    assert_eq!(functions, format!("adopt, {ships}"));
    for forbidden in [
        "UPDATE entries",
        "DELETE entries",
        "UPDATE shipped",
        "DELETE shipped",
        "TRUNCATE",
        "adoptions",
        "versions",
    ] {
        assert!(!tables.contains(forbidden), "{forbidden}: {tables}");
    }
    let nobody = "CREATE ROLE nobody_at_all; SELECT count(*) FROM pg_proc \
                  WHERE pronamespace = 'gatewright'::regnamespace AND prosecdef AND prorettype <> 'trigger'::regtype \
                      AND has_function_privilege('nobody_at_all', oid, 'EXECUTE')";
    assert_eq!(server.sql("team", nobody), "0");
}

/// Whatever a user calls or types itself, only its role counts.
#[test]
fn forbidden_statements_are_refused_by_the_database() {
    let server = Server::start();
    let address = ready(&server, "team");
    begun(&mut open(&address), "r-1");
    let ships = member(&server, crate::SHIP_ROLE);
    let looks = member(&server, crate::READ_ROLE);
    let drives = member(&server, crate::DRIVE_ROLE);
    let calls = [
        "SELECT gatewright.claim('r-1', 'acquire', 'x', NULL, NULL, 0)",
        "SELECT gatewright.enqueue('r-1', '{}', NULL, NULL)",
        "SELECT gatewright.claim_queued('x', '{}', 1000, 5)",
        "SELECT gatewright.note_spending('r-1', 1, 1, 0, NULL, NULL, NULL)",
        "SELECT gatewright.adopt('m', 'r-1', 1, '', 'x', 'x', 'x', true)",
        "INSERT INTO gatewright.caps VALUES ('all', '', 1)",
        "UPDATE gatewright.runs SET status = 'completed'",
        "UPDATE gatewright.machines SET name = 'x'",
        "DELETE FROM gatewright.queue",
    ];
    for statement in calls {
        for user in [&ships, &looks] {
            assert!(server.try_sql(user, statement).is_err(), "{statement}");
        }
        server.try_sql(&drives, statement).unwrap();
    }
    let reads = "SELECT count(*) FROM gatewright.runs";
    assert!(server.try_sql(&ships, reads).is_err());
    assert_eq!(server.try_sql(&looks, reads).unwrap(), "1");
    for statement in [
        "SELECT gatewright.join_machine('aaaa1111', 'x', '{}', '1', 0)",
        "SELECT gatewright.ship_content(sha256('x'), 'x')",
        "SELECT gatewright.machine_is_there('m')",
    ] {
        assert!(server.try_sql(&looks, statement).is_err(), "{statement}");
        server.try_sql(&ships, statement).unwrap();
    }
    for user in [&ships, &looks, &drives] {
        for statement in [
            "CREATE TABLE gatewright.more (x int)",
            "ALTER TABLE gatewright.entries DISABLE TRIGGER ALL",
            "SET ROLE gatewright_drive; UPDATE gatewright.entries SET entry = ''",
            "INSERT INTO gatewright.versions VALUES (1000)",
        ] {
            assert!(server.try_sql(user, statement).is_err(), "{statement}");
        }
    }
}
