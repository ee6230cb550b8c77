//! What runs use, how much of it is an estimate, and what the caps leave for each of them.

use std::thread;
use std::time::Duration;

use engine::Usage;
use store::{AtWork, Fence, SharedBackend as _};
use testkit::database::Server;

use super::driving::{LONG, joined, queued};
use super::{open, ready};
use crate::{CapScope, Claimed, FleetWait, Placement, Postgres};

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
    store.set_cap(&ada, 100).unwrap();
    // The total so far is noted, so the same total twice counts once.
    for cents in [60, 60, 99] {
        store
            .note_spending(&first, Some(fence), used(cents))
            .unwrap();
    }
    assert_eq!(store.spent_today().unwrap()[0].cents, 99);
    assert!(!store.caps().unwrap()[0].spent.is_used_up());
    assert_eq!(store.cap_reached(&first).unwrap(), None);
    store.note_spending(&first, Some(fence), used(100)).unwrap();
    assert!(store.caps().unwrap()[0].spent.is_used_up());
    let reached = store.cap_reached(&first).unwrap().unwrap();
    assert_eq!(
        (reached.whose.as_str(), reached.spent.cost_cents),
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
    let waits = row.unwrap().waits;
    let FleetWait::Cap { whose, spent } = &waits else {
        panic!("{waits:?}");
    };
    assert_eq!((whose.as_str(), spent.cost_cents), ("user ada", 100));
    assert!(store.remove_cap(&ada).unwrap() && !store.remove_cap(&ada).unwrap());
    assert!(store.claim_queued("two", &[], LONG).unwrap().is_some());
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

fn used(cost_cents: u64, estimated_cents: u64) -> Usage {
    Usage {
        turns: 1,
        tokens: 10,
        cost_cents,
        estimated_cents: Some(estimated_cents).filter(|cents| *cents > 0),
    }
}

fn claimed(store: &Postgres, holder: &str) -> Claimed {
    store.claim_queued(holder, &[], LONG).unwrap().unwrap()
}

/// What the next process of this run gets, when the run has used so much and its other workers may use so much.
fn reserve(store: &Postgres, claimed: &Claimed, cents: u64, others: u64) -> Option<u64> {
    let at_work = AtWork {
        fence: claimed.lease.fence,
        used: used(cents, 0),
        reserved_cents: others,
    };
    store.reserve(&claimed.run, &at_work, None).unwrap()
}

#[test]
fn what_is_an_estimate_stays_one_until_it_is_corrected() {
    let server = Server::start();
    let mut store = open(&ready(&server, "team"));
    queued(&mut store, "f-1", &Placement::default());
    store.set_cap(&CapScope::All, 100).unwrap();
    let first = store
        .claim_queued("one", &[], Duration::ZERO)
        .unwrap()
        .unwrap();
    let note = |claimed: &Claimed, cents, estimated| {
        let fence = Some(claimed.lease.fence);
        let noted = store.note_spending(&claimed.run, fence, used(cents, estimated));
        noted.unwrap();
    };
    let spent = || {
        let row = store.spent_today().unwrap().remove(0);
        (row.cents, row.estimated_cents)
    };
    note(&first, 70, 30);
    assert_eq!(spent(), (70, 30));
    // The program's own figures take the place of the estimate.
    note(&first, 60, 0);
    assert_eq!(spent(), (60, 0));
    note(&first, 90, 30);
    // It dies: nobody will ever know better. The next one has 60 from the journal.
    let second = claimed(&store, "two");
    note(&second, 60, 0);
    note(&second, 80, 10);
    assert_eq!(spent(), (110, 40));
    note(&second, 75, 0);
    assert_eq!(spent(), (105, 30));
    let cap = store.cap_reached(&second.run).unwrap().unwrap();
    assert_eq!(cap.spent.line().text(), "estimated cost 1.05 of 1.00");
    assert_eq!(store.caps().unwrap()[0].spent, cap.spent);
}

#[test]
fn two_machines_do_not_get_the_same_rest_of_a_cap() {
    let server = Server::start();
    let mut store = open(&ready(&server, "team"));
    joined(&store, &[]);
    for id in ["f-1", "f-2", "f-3"] {
        queued(&mut store, id, &Placement::default());
    }
    let (one, two) = (claimed(&store, "one"), claimed(&store, "two"));
    assert_eq!(reserve(&store, &one, 0, 0), None, "there is no cap");
    store.set_cap(&CapScope::All, 1_000).unwrap();
    assert_eq!(reserve(&store, &one, 0, 0), Some(500));
    assert_eq!(reserve(&store, &two, 0, 0), Some(250));
    // A second worker of the same run, beside the first one with its 500.
    assert_eq!(reserve(&store, &one, 0, 500), Some(125));
    assert_eq!(reserve(&store, &two, 200, 0), Some(100), "not less");
    assert_eq!(store.caps().unwrap()[0].spent.reserved_cents, 725);
    // 200 are spent, and 725 reserved: 75 are left.
    let third = claimed(&store, "three");
    assert_eq!(reserve(&store, &third, 0, 0), Some(75));
    assert_eq!(reserve(&store, &two, 300, 0), Some(0));
    // Also for one more worker of a run that has all the rest.
    for run in [&two.run, &third.run] {
        let cap = store.cap_reached(run).unwrap().unwrap();
        assert!(!cap.spent.is_used_up() && cap.spent.reserved_cents == 700);
    }
    // Who needs less, gets less, and a smaller cap of one's own counts first.
    let at_work = AtWork {
        fence: third.lease.fence,
        used: used(0, 0),
        reserved_cents: 0,
    };
    let given = store.reserve(&third.run, &at_work, Some(20)).unwrap();
    assert_eq!(given, Some(20));
}

#[test]
fn what_is_reserved_ends_with_the_process_and_with_the_lease() {
    let server = Server::start();
    let mut store = open(&ready(&server, "team"));
    joined(&store, &[]);
    for id in ["f-1", "f-2", "f-3"] {
        queued(&mut store, id, &Placement::default());
    }
    store.set_cap(&CapScope::All, 100).unwrap();
    let one = claimed(&store, "one");
    assert_eq!(reserve(&store, &one, 0, 0), Some(100));
    assert_eq!(store.claim_queued("two", &[], LONG).unwrap(), None);
    let rows = store.queue().unwrap();
    let row = rows.iter().find(|row| row.run.as_str() == "f-2").unwrap();
    let FleetWait::Cap { spent, .. } = &row.waits else {
        panic!("{row:?}");
    };
    assert_eq!((spent.cost_cents, spent.reserved_cents), (0, 100));
    let ended = AtWork {
        fence: one.lease.fence,
        used: used(40, 0),
        reserved_cents: 0,
    };
    store.note_at_work(&one.run, &ended).unwrap();
    let two = claimed(&store, "two");
    assert_eq!(reserve(&store, &two, 0, 0), Some(60));
    // An old claim reserves nothing, and takes nothing away.
    server.sql("team", "UPDATE gatewright.runs SET lease_until = 0");
    let again = claimed(&store, "three");
    assert_eq!(again.run, one.run);
    assert_eq!(reserve(&store, &again, 40, 0), Some(60));
    store.note_at_work(&one.run, &ended).unwrap();
    assert_eq!(reserve(&store, &one, 40, 0), Some(0));
    assert_eq!(store.caps().unwrap()[0].spent.reserved_cents, 60);
}

#[test]
fn who_asks_while_another_reserves_gets_the_rest() {
    let server = Server::start();
    let address = ready(&server, "team");
    let mut store = open(&address);
    queued(&mut store, "f-1", &Placement::default());
    queued(&mut store, "f-2", &Placement::default());
    store.set_cap(&CapScope::All, 150).unwrap();
    let (_, two) = (claimed(&store, "one"), claimed(&store, "two"));
    let reserving = "BEGIN; SELECT gatewright.reserve(id, 0, 0, 0, last_fence, last_claim, 0, 100, NULL) \
                     FROM gatewright.runs WHERE id = 'f-1'; SELECT pg_sleep(2); COMMIT";
    let has_reserved = "SELECT count(*) FROM pg_locks WHERE mode = 'RowExclusiveLock' AND granted \
                        AND relation = 'gatewright.reservations'::regclass";
    let given = thread::scope(|scope| {
        scope.spawn(|| server.sql("team", reserving));
        while server.sql("team", has_reserved) == "0" {
            thread::yield_now();
        }
        reserve(&store, &two, 0, 0)
    });
    assert_eq!(given, Some(50));
}
