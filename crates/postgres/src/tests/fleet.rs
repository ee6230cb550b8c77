//! Machines with their names and clocks, and the queue with many claimers at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::Duration;

use store::conformance::test_run::{cancelled, decision, note};
use store::{Backend as _, Claim, Commit, Error, Fence, Transacted};
use testkit::database::Server;

use super::{begun, open, ready};
use crate::{LetGo, Machine, Placement, QueueWatch, WorkerSign};

const LONG: Duration = Duration::from_secs(3_600);

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn two_machines_with_one_name_are_told_apart() {
    let server = Server::start();
    let store = open(&ready(&server, "team"));
    let labels = words(&["linux"]);
    let join = |id| {
        let machine = Machine {
            id,
            name: "build",
            labels: &labels,
            version: "1.0.0",
        };
        store.join(&machine).unwrap().name
    };
    assert_eq!(join("aaaa1111"), "build");
    assert_eq!(join("bbbb2222"), "build-bbbb");
    assert_eq!(join("aaaa1111"), "build");
    assert_eq!(join("bbbb3333"), "build-bbbb3");
    let status = store.fleet_status().unwrap();
    let names: Vec<&str> = status
        .machines
        .iter()
        .map(|machine| machine.name.as_str())
        .collect();
    assert_eq!(names, ["build", "build-bbbb", "build-bbbb3"]);
    let sign = WorkerSign {
        machine: "aaaa1111",
        process: "build 7 1",
        labels: &labels,
        version: "1.0.1",
        skew: Some(7),
    };
    server.sql("team", "UPDATE gatewright.machines SET seen_at = 1");
    store.worker_is_there(&sign).unwrap();
    store
        .worker_is_there(&WorkerSign { skew: None, ..sign })
        .unwrap();
    let status = store.fleet_status().unwrap();
    assert_eq!(status.workers.len(), 1);
    // The machine is there with its worker, as it is now.
    let machine = &status.machines[0];
    assert_eq!((machine.version.as_str(), machine.skew), ("1.0.1", 7));
    assert!(machine.silent < 600_000, "{machine:?}");
    assert_eq!(store.leave("aaaa1111").unwrap().as_deref(), Some("build"));
    assert_eq!(store.leave("aaaa1111").unwrap(), None);
    assert_eq!(store.fleet_status().unwrap().workers, []);
}

#[test]
fn a_run_goes_to_a_machine_with_its_labels() {
    let server = Server::start();
    let address = ready(&server, "team");
    let mut store = open(&address);
    let (gpu, both) = (words(&["gpu"]), words(&["gpu", "linux"]));
    let test_run = begun(&mut store, "r-1");
    let watch = QueueWatch::open(&address).unwrap();
    store
        .enqueue(
            &test_run.id,
            &Placement {
                labels: &gpu,
                ..Placement::default()
            },
        )
        .unwrap();
    watch.wait(LONG).unwrap();
    assert_eq!(store.machines_with(&gpu).unwrap(), 0);
    assert_eq!(
        store.claim_queued("one", &words(&["linux"]), LONG).unwrap(),
        None
    );
    let claimed = store.claim_queued("one", &both, LONG).unwrap().unwrap();
    assert_eq!(
        (claimed.run, claimed.lease.fence.number),
        (test_run.id.clone(), 1)
    );
    assert_eq!(store.claim_queued("two", &both, LONG).unwrap(), None);
    let status = store.fleet_status().unwrap();
    let lease = status.runs[0].lease.clone().unwrap();
    assert_eq!((lease.holder.as_str(), lease.fence), ("one", 1));
    assert_eq!(status.runs[0].queued, Some(gpu));
}

#[test]
fn a_label_counts_where_a_live_worker_has_it_and_a_lost_machine_counts_no_more() {
    let server = Server::start();
    let store = open(&ready(&server, "team"));
    let (gpu, mac) = (words(&["gpu"]), words(&["mac"]));
    let machine = Machine {
        id: "aaaa1111",
        name: "build",
        labels: &gpu,
        version: "1.0.0",
    };
    store.join(&machine).unwrap();
    let count = || {
        (
            store.machines_with(&gpu).unwrap(),
            store.machines_with(&mac).unwrap(),
        )
    };
    assert_eq!(count(), (1, 0));
    let sign = WorkerSign {
        machine: "aaaa1111",
        process: "build 7 1",
        labels: &words(&["gpu", "mac"]),
        version: "1.0.0",
        skew: None,
    };
    store.worker_is_there(&sign).unwrap();
    assert_eq!(count(), (1, 1));
    server.sql(
        "team",
        "UPDATE gatewright.workers SET seen_at = seen_at - 60000",
    );
    assert_eq!(count(), (1, 0));
    server.sql(
        "team",
        "UPDATE gatewright.machines SET seen_at = seen_at - 100000000",
    );
    assert_eq!(count(), (0, 0));
}

#[test]
fn an_account_has_no_more_runs_at_once_than_it_may() {
    let server = Server::start();
    let mut store = open(&ready(&server, "team"));
    for number in 0..4 {
        let test_run = begun(&mut store, &format!("r-{number}"));
        let placement = Placement {
            account: Some(("model", 2)),
            ..Placement::default()
        };
        store.enqueue(&test_run.id, &placement).unwrap();
    }
    let claim = |holder| store.claim_queued(holder, &[], LONG).unwrap();
    let first = claim("one").unwrap();
    assert!(claim("two").is_some());
    assert_eq!(claim("three"), None);
    store
        .leave_queued(&first.run, first.lease.fence, LetGo::For(LONG))
        .unwrap();
    assert!(claim("three").is_some());
    assert_eq!(claim("four"), None);
}

#[test]
fn many_claimers_of_one_account_take_no_more_than_it_may() {
    const CLAIMERS: usize = 6;
    const ROUNDS: usize = 20;
    let server = Server::start();
    let address = ready(&server, "team");
    let mut store = open(&address);
    let labels: Vec<String> = (0..ROUNDS).map(|round| format!("round-{round}")).collect();
    for label in &labels {
        for number in 0..CLAIMERS {
            let test_run = begun(&mut store, &format!("r-{label}-{number}"));
            let placement = Placement {
                labels: std::slice::from_ref(label),
                account: Some((label, 1)),
                ..Placement::default()
            };
            store.enqueue(&test_run.id, &placement).unwrap();
        }
    }
    let together = Barrier::new(CLAIMERS);
    thread::scope(|scope| {
        for number in 0..CLAIMERS {
            let (address, labels, together) = (&address, &labels, &together);
            scope.spawn(move || {
                let (store, holder) = (open(address), format!("claimer {number}"));
                for label in labels {
                    together.wait();
                    store
                        .claim_queued(&holder, std::slice::from_ref(label), LONG)
                        .unwrap();
                }
            });
        }
    });
    let held = "SELECT count(*) FROM gatewright.queue q JOIN gatewright.runs r ON r.id = q.run \
                WHERE r.lease_holder IS NOT NULL GROUP BY q.account HAVING count(*) > 1";
    assert_eq!(server.sql("team", held), "");
    // Who was in the way of another tries again.
    for label in &labels {
        let _ = store.claim_queued("late", std::slice::from_ref(label), LONG);
    }
    let held = "SELECT count(*) FROM gatewright.runs WHERE lease_holder IS NOT NULL";
    assert_eq!(server.sql("team", held), ROUNDS.to_string());
}

#[test]
fn a_run_that_kills_its_workers_is_set_aside() {
    let server = Server::start();
    let mut store = open(&ready(&server, "team"));
    let test_run = begun(&mut store, "r-1");
    store.enqueue(&test_run.id, &Placement::default()).unwrap();
    let claims = std::iter::from_fn(|| store.claim_queued("one", &[], Duration::ZERO).unwrap());
    assert_eq!(claims.take(100).count(), 5);
    assert!(store.fleet_status().unwrap().runs[0].set_aside.is_some());
}

#[test]
fn many_claimers_take_each_run_once_and_an_old_fence_writes_nothing() {
    const RUNS: usize = 40;
    const CLAIMERS: usize = 8;
    let server = Server::start();
    let address = ready(&server, "team");
    let mut store = open(&address);
    for number in 0..RUNS {
        let test_run = begun(&mut store, &format!("r-{number}"));
        // A claimer died here before, and its lease has expired.
        let dead = Claim::Acquire {
            holder: "dead",
            term: Duration::ZERO,
            dead: None,
        };
        store.claim(&test_run.id, &dead).unwrap();
        store.enqueue(&test_run.id, &Placement::default()).unwrap();
    }
    let taken: Mutex<BTreeMap<String, Vec<u64>>> = Mutex::default();
    thread::scope(|scope| {
        for number in 0..CLAIMERS {
            let (address, taken) = (&address, &taken);
            scope.spawn(move || {
                let (mut store, holder) = (open(address), format!("claimer {number}"));
                while let Some(claimed) = store.claim_queued(&holder, &[], LONG).unwrap() {
                    let id = claimed.run.as_str().to_owned();
                    taken
                        .lock()
                        .unwrap()
                        .entry(id.clone())
                        .or_default()
                        .push(claimed.lease.fence.number);
                    let test_run = store::conformance::test_run::TestRun::new(&id).unwrap();
                    let write = |store: &mut crate::Postgres, seen, fence| {
                        let commit = Commit {
                            fence: Some(fence),
                            ..test_run.commit(seen)
                        };
                        store.transact(&commit, &mut |_| decision(&[note(&id), cancelled()]))
                    };
                    let old = write(
                        &mut store,
                        1,
                        Fence {
                            number: 1,
                            ..claimed.lease.fence
                        },
                    );
                    assert!(matches!(old, Err(Error::Fenced { .. })), "{old:?}");
                    let done = write(&mut store, 1, claimed.lease.fence).unwrap();
                    assert!(matches!(done, Transacted::Done { .. }), "{done:?}");
                }
            });
        }
    });
    let taken = taken.into_inner().unwrap();
    assert_eq!(taken.len(), RUNS);
    assert_eq!(
        taken.values().flatten().collect::<BTreeSet<_>>(),
        BTreeSet::from([&2])
    );
    assert!(taken.values().all(|fences| fences.len() == 1), "{taken:?}");
    for run in store.runs(None).unwrap() {
        let verification = store.verify(&run.id).unwrap();
        assert_eq!(
            (verification.intact, verification.entries),
            (true, 3),
            "{verification:?}"
        );
    }
}
