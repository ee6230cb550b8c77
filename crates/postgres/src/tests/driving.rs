//! What keeps a queued run from being taken, and the trees that are handed on.

use std::thread;
use std::time::Duration;

use store::{Backend as _, Claim, Error, SharedBackend as _};
use testkit::database::Server;

use super::{begun, open, ready};
use crate::{Address, FleetWait, LetGo, Machine, Placement, Postgres};

pub(super) const LONG: Duration = Duration::from_secs(3_600);

pub(super) fn queued(store: &mut Postgres, id: &str, placement: &Placement<'_>) {
    let test_run = begun(store, id);
    store.enqueue(&test_run.id, placement).unwrap();
}

pub(super) fn joined(store: &Postgres, labels: &[String]) {
    let machine = Machine {
        id: "aaaa1111",
        name: "build",
        labels,
        version: "1.0.0",
    };
    store.join(&machine).unwrap();
}

fn waits(store: &Postgres) -> Vec<(String, FleetWait)> {
    let rows = store.queue().unwrap().into_iter();
    rows.map(|row| (row.run.as_str().to_owned(), row.waits))
        .collect()
}

#[test]
fn the_queue_says_what_each_run_waits_for() {
    let server = Server::start();
    let mut store = open(&ready(&server, "team"));
    let (none, gpu) = (Placement::default(), ["gpu".to_owned()]);
    let labelled = Placement {
        labels: &gpu,
        ..none
    };
    let later = Placement {
        delay: LONG,
        ..none
    };
    queued(&mut store, "f-1", &labelled);
    queued(&mut store, "f-2", &later);
    queued(&mut store, "f-3", &none);
    queued(&mut store, "f-4", &none);
    assert_eq!(waits(&store)[2].1, FleetWait::NoMachine);
    joined(&store, &[]);
    let claimed = store.claim_queued("one", &[], LONG).unwrap().unwrap();
    assert_eq!(claimed.run.as_str(), "f-3");
    let found = waits(&store);
    let [driven, no_machine, until, worker] = found.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!(
        driven.1,
        FleetWait::Driven {
            holder: "one".to_owned()
        }
    );
    assert_eq!(no_machine, &("f-1".to_owned(), FleetWait::NoMachine));
    assert!(matches!(until.1, FleetWait::Until { .. }));
    let free = FleetWait::Worker { live: 0 };
    assert_eq!(worker, &("f-4".to_owned(), free));
}

#[test]
fn a_run_that_waits_for_a_person_is_taken_when_it_has_changed() {
    let server = Server::start();
    let mut store = open(&ready(&server, "team"));
    joined(&store, &[]);
    queued(
        &mut store,
        "f-1",
        &Placement {
            settings: "{\"a\":1}",
            ..Placement::default()
        },
    );
    let claimed = store.claim_queued("one", &[], LONG).unwrap().unwrap();
    assert_eq!(
        (claimed.settings.as_str(), claimed.tree),
        ("{\"a\":1}", None)
    );
    let (run, fence) = (claimed.run, claimed.lease.fence);
    let version = store.run(&run).unwrap().unwrap().version;
    store.claim(&run, &Claim::Release { fence }).unwrap();
    // Until the worker has said what is to become of it, nobody takes it.
    assert_eq!(store.claim_queued("two", &[], LONG).unwrap(), None);
    store
        .leave_queued(&run, fence, LetGo::UntilItChanges { version })
        .unwrap();
    assert_eq!(store.claim_queued("two", &[], LONG).unwrap(), None);
    assert_eq!(waits(&store)[0].1, FleetWait::Person);
    server.sql("team", "UPDATE gatewright.runs SET version = version + 1");
    assert!(store.claim_queued("two", &[], LONG).unwrap().is_some());
}

#[test]
fn a_project_with_fewer_runs_at_work_is_next() {
    let server = Server::start();
    let mut store = open(&ready(&server, "team"));
    for id in ["f-1", "f-2", "f-3"] {
        queued(&mut store, id, &Placement::default());
    }
    server.sql(
        "team",
        "UPDATE gatewright.runs SET project = 'other' WHERE id = 'f-3'",
    );
    let claim = || store.claim_queued("one", &[], LONG).unwrap().unwrap().run;
    let order: Vec<String> = (0..3).map(|_| claim().as_str().to_owned()).collect();
    assert_eq!(order, ["f-1", "f-3", "f-2"]);
}

#[test]
fn a_tree_is_kept_under_the_lease_alone() {
    let server = Server::start();
    let mut store = open(&ready(&server, "team"));
    queued(&mut store, "f-1", &Placement::default());
    let first = store
        .claim_queued("one", &[], Duration::ZERO)
        .unwrap()
        .unwrap();
    store
        .keep_tree(&first.run, first.lease.fence, "aaaa")
        .unwrap();
    let second = store.claim_queued("two", &[], LONG).unwrap().unwrap();
    assert_eq!(second.tree.as_deref(), Some("aaaa"));
    let late = store.keep_tree(&first.run, first.lease.fence, "bbbb");
    assert!(
        matches!(&late, Err(Error::Fenced { last, .. }) if *last == second.lease.fence),
        "{late:?}"
    );
    assert_eq!(
        store.kept_tree(&first.run).unwrap().as_deref(),
        Some("aaaa")
    );
    store
        .keep_tree(&first.run, second.lease.fence, "cccc")
        .unwrap();
    assert_eq!(
        store.kept_tree(&first.run).unwrap().as_deref(),
        Some("cccc")
    );
}

/// Does this while another session takes `f-1` for `two`, and has not committed it yet.
fn while_two_takes_it<T>(
    server: &Server,
    address: &Address,
    late: impl FnOnce(&Postgres) -> T,
) -> T {
    // Who is too slow to meet it comes after the commit, and must change nothing, either.
    let taking = "BEGIN; SELECT gatewright.claim_queued('two', '{}', 3600000, 5); \
                  SELECT pg_sleep(3); COMMIT";
    let has_taken = "SELECT count(*) FROM pg_locks WHERE relation = 'gatewright.queue'::regclass \
                     AND mode = 'RowExclusiveLock' AND granted";
    thread::scope(|scope| {
        scope.spawn(|| server.sql("team", taking));
        while server.sql("team", has_taken) == "0" {
            thread::yield_now();
        }
        late(&open(address))
    })
}

#[test]
fn an_old_claim_changes_nothing_while_another_machine_takes_the_run() {
    let server = Server::start();
    let address = ready(&server, "team");
    let mut store = open(&address);
    queued(&mut store, "f-1", &Placement::default());
    let first = store.claim_queued("one", &[], Duration::ZERO);
    let first = first.unwrap().unwrap();
    let (run, fence) = (&first.run, first.lease.fence);
    store.keep_tree(run, fence, "aaaa").unwrap();
    let late = while_two_takes_it(&server, &address, |store| {
        store.keep_tree(run, fence, "bbbb")
    });
    assert!(matches!(late, Err(Error::Fenced { .. })), "{late:?}");
    assert_eq!(store.kept_tree(run).unwrap().as_deref(), Some("aaaa"));
}

#[test]
fn an_old_claim_leaves_no_run_that_another_machine_takes() {
    let server = Server::start();
    let address = ready(&server, "team");
    let mut store = open(&address);
    queued(&mut store, "f-1", &Placement::default());
    let first = store.claim_queued("one", &[], Duration::ZERO);
    let first = first.unwrap().unwrap();
    while_two_takes_it(&server, &address, |store| {
        let how = LetGo::UntilItChanges { version: 1 };
        store.leave_queued(&first.run, first.lease.fence, how)
    })
    .unwrap();
    let left = "SELECT coalesce(left_at, 0), tries FROM gatewright.queue";
    assert_eq!(server.sql("team", left), "0|2");
    let lease = store.lease(&first.run).unwrap().unwrap();
    assert_eq!(lease.holder, "two");
}

#[test]
fn a_worker_never_takes_what_it_drives_already() {
    let server = Server::start();
    let mut store = open(&ready(&server, "team"));
    queued(&mut store, "f-1", &Placement::default());
    let claimed = store.claim_queued("one", &[], Duration::ZERO);
    let run = claimed.unwrap().unwrap().run;
    let driven = std::slice::from_ref(&run);
    let claim = |driven| store.claim_queued_besides("one", &[], LONG, driven);
    assert_eq!(claim(driven).unwrap(), None);
    assert!(claim(&[]).unwrap().is_some());
}

#[test]
fn an_outage_is_no_failed_try() {
    let server = Server::start();
    let mut store = open(&ready(&server, "team"));
    queued(&mut store, "f-1", &Placement::default());
    let tries = || server.sql("team", "SELECT tries FROM gatewright.queue");
    let why = "away";
    let delay = Duration::ZERO;
    for (how, expected) in [
        (LetGo::Failed { why, delay }, "1"),
        (LetGo::Outage { why, delay }, "1"),
        (LetGo::Failed { why, delay }, "2"),
        (LetGo::Free, "0"),
    ] {
        let claimed = store.claim_queued("one", &[], LONG).unwrap().unwrap();
        store
            .leave_queued(&claimed.run, claimed.lease.fence, how)
            .unwrap();
        assert_eq!(tries(), expected, "{how:?}");
        // Who leaves it gives the lease back as well.
        assert_eq!(store.lease(&claimed.run).unwrap(), None);
    }
}

/// A replica that was behind took over: it has the claim, and not the end of the run.
#[test]
fn a_run_that_the_database_does_not_know_to_be_over_stays_queued() {
    let server = Server::start();
    let mut store = open(&ready(&server, "team"));
    queued(&mut store, "f-1", &Placement::default());
    let count = || server.sql("team", "SELECT count(*) FROM gatewright.queue");
    let claim = || store.claim_queued("one", &[], LONG).unwrap();
    let claimed = claim().unwrap();
    store.end_queued(&claimed.run, claimed.lease.fence).unwrap();
    assert_eq!(count(), "1");
    // A run whose lease ended rests for seconds.
    server.sql("team", "UPDATE gatewright.queue SET not_before = 0");
    let again = claim().unwrap();
    server.sql("team", "UPDATE gatewright.runs SET status = 'completed'");
    store.end_queued(&claimed.run, claimed.lease.fence).unwrap();
    assert_eq!(count(), "1", "an old claim ends nothing");
    store.end_queued(&again.run, again.lease.fence).unwrap();
    assert_eq!(count(), "0");
}
