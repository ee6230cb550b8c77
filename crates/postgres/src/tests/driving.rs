//! What keeps a queued run from being taken, the trees that are handed on, and what runs use.

use std::thread;
use std::time::Duration;

use engine::Usage;
use store::{Backend as _, Claim, Error, Fence, SharedBackend as _};
use testkit::database::Server;

use super::{begun, open, ready};
use crate::{Address, CapScope, FleetWait, LetGo, Machine, Placement, Postgres};

const LONG: Duration = Duration::from_secs(3_600);

fn queued(store: &mut Postgres, id: &str, placement: &Placement<'_>) {
    let test_run = begun(store, id);
    store.enqueue(&test_run.id, placement).unwrap();
}

fn joined(store: &Postgres, labels: &[String]) {
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

#[test]
fn a_cap_holds_up_those_whom_it_is_about() {
    let server = Server::start();
    let mut store = open(&ready(&server, "team"));
    joined(&store, &[]);
    for (id, person) in [("f-1", "ada"), ("f-2", "ada"), ("f-3", "bob")] {
        queued(
            &mut store,
            id,
            &Placement {
                person,
                ..Placement::default()
            },
        );
    }
    let used = |cost_cents| Usage {
        turns: 1,
        tokens: 10,
        cost_cents,
        estimated_cents: None,
    };
    let claimed = store.claim_queued("one", &[], LONG).unwrap().unwrap();
    let (first, fence) = (claimed.run, claimed.lease.fence);
    let ada = CapScope::User("ada".to_owned());
    assert_eq!(store.cost_left(&first).unwrap(), None);
    store.set_cap(&ada, 100).unwrap();
    assert_eq!(store.cost_left(&first).unwrap(), Some(100));
    // The total so far is noted, so the same total twice counts once.
    for cents in [60, 60, 99] {
        store
            .note_spending(&first, Some(fence), used(cents))
            .unwrap();
    }
    assert_eq!(store.spent_today().unwrap()[0].cents, 99);
    assert!(!store.caps().unwrap()[0].is_reached);
    assert_eq!(store.cost_left(&first).unwrap(), Some(1));
    store.set_cap(&CapScope::All, 500).unwrap();
    assert_eq!(store.cost_left(&first).unwrap(), Some(1), "the least");
    store.remove_cap(&CapScope::All).unwrap();
    store.note_spending(&first, Some(fence), used(100)).unwrap();
    assert!(store.caps().unwrap()[0].is_reached);
    let reached = store.cap_reached(&first).unwrap().unwrap();
    assert_eq!(
        (reached.whose.as_str(), reached.spent_cents),
        ("user ada", 100)
    );
    // An estimate is corrected by the holder of the lease, and by nobody else.
    let late = Fence { claim: 7, ..fence };
    for (fence, spent) in [(None, 100), (Some(late), 100), (Some(fence), 70)] {
        store.note_spending(&first, fence, used(70)).unwrap();
        assert_eq!(store.spent_today().unwrap()[0].cents, spent, "{fence:?}");
    }
    assert_eq!(store.cap_reached(&first).unwrap(), None);
    store.note_spending(&first, Some(fence), used(100)).unwrap();
    let second = store.claim_queued("two", &[], LONG).unwrap().unwrap().run;
    assert_eq!(second.as_str(), "f-3");
    assert_eq!(store.claim_queued("two", &[], LONG).unwrap(), None);
    let row = store
        .queue()
        .unwrap()
        .into_iter()
        .find(|row| row.run.as_str() == "f-2");
    assert_eq!(
        row.unwrap().waits,
        FleetWait::Cap {
            cap: "user ada".to_owned()
        }
    );
    assert!(store.remove_cap(&ada).unwrap() && !store.remove_cap(&ada).unwrap());
    assert!(store.claim_queued("two", &[], LONG).unwrap().is_some());
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
fn what_a_dead_machine_spent_stays_counted_when_another_takes_its_run() {
    let server = Server::start();
    let mut store = open(&ready(&server, "team"));
    queued(&mut store, "f-1", &Placement::default());
    let used = |cost_cents| Usage {
        turns: 1,
        tokens: cost_cents,
        cost_cents,
        ..Usage::default()
    };
    let spent = || store.spent_today().unwrap()[0].cents;
    let dead = store.claim_queued("one", &[], Duration::ZERO);
    let dead = dead.unwrap().unwrap();
    let note = |fence, cents| store.note_spending(&dead.run, Some(fence), used(cents));
    note(dead.lease.fence, 0).unwrap();
    // 40 are in the journal; the rest was in flight when it was killed.
    note(dead.lease.fence, 100_040).unwrap();
    let next = store.claim_queued("two", &[], LONG).unwrap().unwrap();
    note(next.lease.fence, 40).unwrap();
    assert_eq!(spent(), 100_040);
    note(next.lease.fence, 80).unwrap();
    assert_eq!(spent(), 100_080);
    // Its own estimate it may correct, and the dead one could only add.
    note(next.lease.fence, 60).unwrap();
    assert_eq!(spent(), 100_060);
    note(dead.lease.fence, 40).unwrap();
    assert_eq!(spent(), 100_060);
}

#[test]
fn a_correction_after_midnight_makes_no_day_negative() {
    let server = Server::start();
    let mut store = open(&ready(&server, "team"));
    queued(&mut store, "f-1", &Placement::default());
    let claimed = store.claim_queued("one", &[], LONG).unwrap().unwrap();
    let note = |cost_cents| {
        let used = Usage {
            turns: 1,
            tokens: 10,
            cost_cents,
            ..Usage::default()
        };
        let fence = Some(claimed.lease.fence);
        store.note_spending(&claimed.run, fence, used).unwrap();
    };
    note(1_000);
    server.sql("team", "UPDATE gatewright.spending SET day = day - 1");
    note(900);
    let days = "SELECT sum(cost), min(cost) >= 0 FROM gatewright.spending";
    assert_eq!(server.sql("team", days), "900|t");
    note(950);
    let today = "SELECT sum(cost) FROM gatewright.spending WHERE day = gatewright.today()";
    assert_eq!(server.sql("team", today), "50");
    assert_eq!(store.spent_today().unwrap()[0].cents, 50);
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
