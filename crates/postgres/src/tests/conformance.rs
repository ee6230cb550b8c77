//! The promises of every store, on PostgreSQL.

use std::thread;

use store::conformance::CASES;
use store::conformance::test_run::{TestRun, cancelled, note};
use store::{Access, Backend, Handle, Sqlite, export};
use testkit::database::Server;

use super::{begun, open, ready};

#[test]
fn postgresql_keeps_every_promise() {
    let server = Server::start();
    let next = std::sync::atomic::AtomicUsize::new(0);
    // Several at once: most of the time is spent on connections.
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while let Some((name, case)) =
                    CASES.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
                {
                    let address = ready(&server, name);
                    let opened = || Box::new(open(&address)) as Box<dyn Backend>;
                    case(&opened).unwrap_or_else(|error| panic!("{name}: {error}"));
                }
            });
        }
    });
}

#[test]
fn a_run_has_the_same_bytes_as_in_sqlite() {
    let server = Server::start();
    let folder = tempfile::tempdir().unwrap();
    let address = ready(&server, "same");
    let handles = [
        Handle::Fleet(Box::new(open(&address))),
        Handle::Alone(Sqlite::open(folder.path(), Access::Write).unwrap()),
    ];
    let exports = handles.map(|mut handle| {
        let test_run = TestRun::new("r-1").unwrap();
        test_run.begin(&mut handle).unwrap();
        test_run
            .add(&mut handle, 1, &[note("one \0 \u{1f980}"), note("two")])
            .unwrap();
        // Threads have handles of their own, and continue.
        let mut other = handle.for_thread().unwrap();
        test_run.add(&mut other, 3, &[cancelled()]).unwrap();
        assert!(handle.verify(&test_run.id).unwrap().intact);
        let mut exported = Vec::new();
        export(&handle, &test_run.id, &mut exported).unwrap();
        String::from_utf8(exported).unwrap()
    });
    assert_eq!(exports[0], exports[1]);
}

#[test]
fn an_altered_journal_shows() {
    let server = Server::start();
    let address = ready(&server, "altered");
    let mut store = open(&address);
    let test_run = begun(&mut store, "r-1");
    test_run
        .add(&mut store, 1, &[note("one"), note("two")])
        .unwrap();
    assert!(store.verify(&test_run.id).unwrap().intact);
    let alter =
        "UPDATE gatewright.entries SET entry = replace(entry, 'one', 'own') WHERE number = 2";
    assert!(server.try_sql(&server.address("altered"), alter).is_err());
    let forced = format!("ALTER TABLE gatewright.entries DISABLE TRIGGER ALL; {alter}");
    server.sql("altered", &forced);
    let verification = store.verify(&test_run.id).unwrap();
    let numbers: Vec<u64> = verification
        .faults
        .iter()
        .map(|fault| fault.number)
        .collect();
    assert_eq!(
        (verification.intact, numbers.first()),
        (false, Some(&2)),
        "{verification:?}"
    );
    assert!(store.journal(&test_run.id, 1, 9).is_err());
}

#[test]
fn an_entry_behind_the_last_one_shows() {
    let server = Server::start();
    let address = ready(&server, "longer");
    let mut store = open(&address);
    let test_run = begun(&mut store, "r-1");
    test_run.add(&mut store, 1, &[note("one")]).unwrap();
    assert!(store.verify(&test_run.id).unwrap().intact);
    let planted = "INSERT INTO gatewright.entries (run, number, decision, entry, previous, hash)
        SELECT run, 99, 99, entry, previous, hash FROM gatewright.entries WHERE number = 2";
    server.sql("longer", planted);
    let verification = store.verify(&test_run.id).unwrap();
    let numbers: Vec<u64> = verification.faults.iter().map(|it| it.number).collect();
    assert_eq!((verification.intact, numbers), (false, vec![99]));
}
