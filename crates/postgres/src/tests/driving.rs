//! What keeps a queued run from being taken, the trees that are handed on, and what runs use.

use std::time::Duration;

use engine::Usage;
use store::{Backend as _, Claim, Error, Fence, SharedBackend as _};
use testkit::database::Server;

use super::{begun, open, ready};
use crate::{CapScope, FleetWait, LetGo, Machine, Placement, Postgres};

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
    assert!(matches!(until.1, FleetWait::Until(_)));
    assert_eq!(worker, &("f-4".to_owned(), FleetWait::Worker));
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
        .leave_queued(&run, "one", LetGo::UntilItChanges { version })
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
        store.note_spending(&first, None, used(cents)).unwrap();
    }
    assert_eq!(store.spent_today().unwrap()[0].cents, 99);
    assert!(!store.caps().unwrap()[0].is_reached);
    assert_eq!(store.cost_left(&first).unwrap(), Some(1));
    store.set_cap(&CapScope::All, 500).unwrap();
    assert_eq!(store.cost_left(&first).unwrap(), Some(1), "the least");
    store.remove_cap(&CapScope::All).unwrap();
    store.note_spending(&first, None, used(100)).unwrap();
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
