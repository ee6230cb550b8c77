//! Settings, formats, migrations, the log and the guards of the tables.

use std::time::Duration;

use engine::Time;

use super::super::{LONG_LOG, schema};
use super::*;
use crate::{Collect, Error, Transacted};

fn pragma(store: &Sqlite, name: &str) -> String {
    let value = store
        .connection
        .query_row(&format!("PRAGMA {name}"), [], |row| {
            row.get::<_, rusqlite::types::Value>(0)
        });
    match value.unwrap() {
        rusqlite::types::Value::Integer(number) => number.to_string(),
        rusqlite::types::Value::Text(text) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_writer_is_set_to_be_durable() {
    let (place, _) = Place::with_run(1);
    let store = place.open();
    for (name, value) in [
        ("journal_mode", "wal"),
        ("synchronous", "2"),
        ("foreign_keys", "1"),
        ("trusted_schema", "0"),
        ("user_version", "1"),
    ] {
        assert_eq!(pragma(&store, name), value, "{name}");
    }
    let kept = rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    assert!(store.connection.db_config(kept).unwrap());
}

#[test]
fn opening_a_store_that_is_up_to_date_changes_nothing() {
    let (place, test_run) = Place::with_run(3);
    let files = ["store.db", "store.db-wal", "heads/r-1"];
    let before = files.map(|name| place.bytes(name));
    for access in [Access::Write, Access::Read] {
        let store = Sqlite::open(&place.path, access).unwrap();
        assert_eq!(store.run(&test_run.id).unwrap().unwrap().version, 3);
    }
    assert_eq!(files.map(|name| place.bytes(name)), before);
}

#[test]
fn a_reader_writes_nothing() {
    let (place, test_run) = Place::with_run(1);
    let mut reader = Sqlite::open(&place.path, Access::Read).unwrap();
    let refused = test_run.add(&mut reader, 1, &[note("no")]);
    assert!(
        matches!(refused, Err(Error::OpenedForReading)),
        "{refused:?}"
    );
    assert_eq!(place.run(&test_run).version, 1);
}

#[test]
fn an_older_store_is_taken_along() {
    let later = [
        schema::MIGRATIONS[0],
        "CREATE TABLE later (number INTEGER) STRICT;",
    ];
    for access in [Access::Write, Access::Read] {
        let (place, test_run) = Place::with_run(2);
        let store = Sqlite::open_with(&place.path, access, &later).unwrap();
        assert_eq!(pragma(&store, "user_version"), "2");
        assert_eq!(pragma(&store, "table_info(later)"), "0");
        assert_eq!(store.run(&test_run.id).unwrap().unwrap().version, 2);
    }
}

#[test]
fn a_newer_store_is_refused_and_left_alone() {
    let later = [
        schema::MIGRATIONS[0],
        "CREATE TABLE later (number INTEGER) STRICT;",
    ];
    let (place, _) = Place::with_run(1);
    drop(Sqlite::open_with(&place.path, Access::Write, &later).unwrap());
    let before = (place.bytes("store.db"), place.bytes("store.db-wal"));
    for access in [Access::Read, Access::Write] {
        let refused = Sqlite::open(&place.path, access).err().unwrap();
        assert!(
            matches!(
                refused,
                Error::Newer {
                    found: 2,
                    known: 1,
                    ..
                }
            ),
            "{refused}"
        );
        assert!(
            refused.to_string().ends_with("upgrade gatewright"),
            "{refused}"
        );
    }
    assert_eq!(
        (place.bytes("store.db"), place.bytes("store.db-wal")),
        before
    );
    assert_eq!(place.marker(), "");
}

#[test]
fn a_step_that_fails_leaves_the_older_store() {
    let failing = [
        schema::MIGRATIONS[0],
        "CREATE TABLE later (number INTEGER); nonsense;",
    ];
    let (place, test_run) = Place::with_run(1);
    let failed = Sqlite::open_with(&place.path, Access::Write, &failing)
        .err()
        .unwrap();
    assert!(matches!(failed, Error::Sqlite { .. }), "{failed}");
    let store = place.open();
    assert_eq!(pragma(&store, "user_version"), "1");
    assert!(store.connection.prepare("SELECT * FROM later").is_err());
    test_run
        .add(&mut place.open(), 1, &[note("still alive")])
        .unwrap();
}

#[test]
fn a_store_whose_making_was_interrupted_is_made() {
    let place = Place::new();
    drop(place.open());
    fs::remove_file(place.file("store.db-wal")).ok();
    fs::write(place.file("store.db"), b"").unwrap();
    let absent = Sqlite::open(&place.path, Access::Read).err().unwrap();
    assert!(matches!(absent, Error::Absent { .. }), "{absent}");
    place.begin("r-1", 2);
}

#[test]
fn journals_are_not_changed_by_accident() {
    let (place, _) = Place::with_run(3);
    let store = place.open();
    for statement in [
        "UPDATE entries SET entry = '{}' WHERE number = 2",
        "DELETE FROM entries WHERE number = 2",
        "DELETE FROM entries",
        "DELETE FROM runs",
    ] {
        let refused = store
            .connection
            .execute(statement, [])
            .unwrap_err()
            .to_string();
        assert!(
            refused.contains("a journal entry") || refused.contains("a run goes"),
            "{refused}"
        );
    }
    assert!(
        place
            .open()
            .verify(&engine::RunId::parse("r-1").unwrap())
            .unwrap()
            .intact
    );
}

#[test]
fn a_log_that_has_grown_long_is_shortened_when_the_store_is_closed() {
    let (place, test_run) = Place::with_run(1);
    let small = place.bytes("store.db").len();
    test_run
        .add(&mut place.open(), 1, &[note("a short log stays as it is")])
        .unwrap();
    assert_eq!(place.bytes("store.db").len(), small);

    let long = "x".repeat(4_096 * usize::try_from(LONG_LOG).unwrap());
    let mut store = place.open();
    test_run.add(&mut store, 2, &[note(&long)]).unwrap();
    assert_eq!(place.bytes("store.db").len(), small, "not before the reply");
    drop(store);
    assert!(place.bytes("store.db").len() > long.len());
    assert_eq!(place.run(&test_run).version, 3);

    assert_eq!(place.bytes("store.db-wal").len(), 0);
    test_run
        .add(&mut place.open(), 3, &[note("after")])
        .unwrap();
    assert!(place.bytes("store.db-wal").len() < 100_000);
}

#[test]
fn a_process_that_stays_shortens_a_very_long_log_itself() {
    let (place, test_run) = Place::with_run(1);
    let small = place.bytes("store.db").len();
    let long = "x".repeat(4 << 20);
    let mut store = place.open();
    test_run.add(&mut store, 1, &[note(&long)]).unwrap();
    assert!(place.bytes("store.db").len() > small);
    assert_eq!(place.bytes("store.db-wal").len(), 0);
    test_run.add(&mut store, 2, &[note("and goes on")]).unwrap();
}

#[test]
fn a_full_disk_is_told_and_nothing_is_half_written() {
    let (place, test_run) = Place::with_run(2);
    let mut store = place.open();
    let pages: i64 = store
        .connection
        .query_row("PRAGMA page_count", [], |row| row.get(0))
        .unwrap();
    store
        .connection
        .pragma_update(None, "max_page_count", pages)
        .unwrap();
    let long = "x".repeat(100_000);
    let full = test_run.add(&mut store, 2, &[note("short"), note(&long)]);
    assert!(matches!(full, Err(Error::Full { .. })), "{full:?}");
    assert_eq!(place.run(&test_run).version, 2);
    assert_eq!(place.marker(), "");
    // Room comes back, and the same handle goes on.
    store
        .connection
        .pragma_update(None, "max_page_count", pages + 1_000)
        .unwrap();
    let done = test_run.add(&mut store, 2, &[note(&long)]).unwrap();
    assert!(matches!(done, Transacted::Done { .. }), "{done:?}");
    assert!(place.open().verify(&test_run.id).unwrap().intact);
}

#[test]
fn whoever_waits_too_long_is_told() {
    let (place, test_run) = Place::with_run(1);
    let queue = fs::File::open(place.file("queue.lock")).unwrap();
    queue.lock().unwrap();
    let mut store = place.open();
    store.set_writer_timeout(Duration::from_millis(20));
    let busy = test_run.add(&mut store, 1, &[note("impatient")]);
    assert!(matches!(busy, Err(Error::Busy { .. })), "{busy:?}");
    assert_eq!(
        store.run(&test_run.id).unwrap().unwrap().version,
        1,
        "reads wait for nobody"
    );
    queue.unlock().unwrap();
    store.set_writer_timeout(Duration::from_secs(20));
    let done = test_run.add(&mut store, 1, &[note("patient")]).unwrap();
    assert!(matches!(done, Transacted::Done { .. }), "{done:?}");
}

#[test]
fn a_decision_that_panics_leaves_the_store_as_it_was() {
    let (place, test_run) = Place::with_run(1);
    let mut store = place.open();
    let thrown = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        store.transact(&test_run.commit(1), &mut |_| panic!("a rule was wrong"))
    }));
    assert!(thrown.is_err());
    assert!(store.connection.is_autocommit());
    let done = test_run.add(&mut store, 1, &[note("goes on")]).unwrap();
    assert!(matches!(done, Transacted::Done { .. }), "{done:?}");
}

#[test]
fn a_state_of_another_format_is_folded_from_the_journal() {
    let (place, test_run) = Place::with_run(5);
    let before = place.run(&test_run);
    let older = crate::record::no_cache();
    place
        .open()
        .connection
        .execute("UPDATE runs SET state = ?1", [&older])
        .unwrap();
    place
        .open()
        .connection
        .execute("UPDATE definitions SET compiled = ?1", [&older])
        .unwrap();
    assert_eq!(place.run(&test_run), before);
    assert_eq!(place.open().compiled(before.run.definition).unwrap(), None);
    assert!(place.open().verify(&test_run.id).unwrap().intact);
    test_run
        .add(&mut place.open(), 5, &[note("and it is stored again")])
        .unwrap();
    let state: Vec<u8> = place
        .open()
        .connection
        .query_row("SELECT state FROM runs", [], |row| row.get(0))
        .unwrap();
    assert_ne!(state, older);
    assert_eq!(place.marker(), "");
}

#[test]
fn a_backup_is_a_store_of_its_own() {
    let (place, test_run) = Place::with_run(3);
    let copy = Place::new();
    fs::create_dir_all(&copy.path).unwrap();
    place.open().backup(&copy.file("store.db")).unwrap();
    assert_eq!(copy.run(&test_run), place.run(&test_run));
    let again = place.open().backup(&copy.file("store.db")).unwrap_err();
    assert!(matches!(again, Error::Io { .. }), "{again}");
}

#[test]
fn collecting_takes_the_head_file_and_gives_room_back() {
    let (place, test_run) = Place::with_run(1);
    let long = "x".repeat(1 << 20);
    test_run.add(&mut place.open(), 1, &[note(&long)]).unwrap();
    test_run
        .add(
            &mut place.open(),
            2,
            &[crate::conformance::test_run::cancelled()],
        )
        .unwrap();
    let collected = place
        .open()
        .gc(&Collect {
            before: Time(u64::MAX),
            keep: &[],
            shrink: true,
        })
        .unwrap();
    assert_eq!((collected.runs, collected.entries), (1, 3));
    assert!(!place.file("heads/r-1").exists());
    assert!(place.bytes("store.db").len() < long.len());
    assert_eq!(place.bytes("store.db-wal").len(), 0);
    let unknown = place.open().verify(&test_run.id).unwrap_err();
    assert!(matches!(unknown, Error::UnknownRun { .. }), "{unknown}");
    assert_eq!(place.open().recorded().unwrap(), []);
}

#[test]
fn the_pages_of_a_sound_database_are_in_order() {
    let (place, _) = Place::with_run(3);
    assert_eq!(place.open().check_pages().unwrap(), Vec::<String>::new());
}
