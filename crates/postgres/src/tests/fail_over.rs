//! A replica that was behind takes over: it may give a fence again, and only one of its two holders can write.

use std::time::Duration;

use store::conformance::test_run::{TestRun, cancelled, decision, note};
use store::{Backend as _, Claim, Commit, Error, Fence, SharedBackend as _, Transacted};
use testkit::database::Server;
use testkit::until;

use super::{begun, open, ready};
use crate::{Address, LetGo, Placement, Postgres};

const LONG: Duration = Duration::from_secs(3_600);

/// A server with one queued run, and a replica that has it and follows no more.
fn cut_off() -> (Server, Server, TestRun) {
    let primary = Server::start();
    let mut store = open(&ready(&primary, "team"));
    let test_run = begun(&mut store, "f-1");
    store.enqueue(&test_run.id, &Placement::default()).unwrap();
    let replica = Server::replica_of(&primary);
    let queued = "SELECT count(*) FROM gatewright.queue";
    until("the replica has the run", || {
        replica.sql("team", queued) == "1"
    });
    replica.sql("team", "ALTER SYSTEM SET primary_conninfo = ''");
    replica.sql("team", "SELECT pg_reload_conf()");
    let followers = "SELECT count(*) FROM pg_stat_replication";
    until("the replica follows no more", || {
        primary.sql("team", followers) == "0"
    });
    (primary, replica, test_run)
}

fn write(store: &mut Postgres, test_run: &TestRun, fence: Fence) -> Result<Transacted, Error> {
    let commit = Commit {
        fence: Some(fence),
        ..test_run.commit(1)
    };
    store.transact(&commit, &mut |_| decision(&[note("work"), cancelled()]))
}

#[test]
fn of_two_holders_of_one_fence_one_can_write() {
    let (primary, replica, test_run) = cut_off();
    let before = open(&Address::parse(&primary.address("team")).unwrap());
    let lost = before.claim_queued("box 7", &[], LONG).unwrap().unwrap();
    primary.kill();
    replica.promote();
    let mut store = open(&Address::parse(&replica.address("team")).unwrap());
    // Even if both have the same name.
    let second = store.claim_queued("box 7", &[], LONG).unwrap().unwrap();
    let (lost, held) = (lost.lease.fence, second.lease.fence);
    assert_eq!((lost.number, held.number), (1, 1));

    let id = &test_run.id;
    let refused = [
        write(&mut store, &test_run, lost).map(drop),
        store
            .claim(
                id,
                &Claim::Renew {
                    fence: lost,
                    term: LONG,
                },
            )
            .map(drop),
        store.claim(id, &Claim::Release { fence: lost }).map(drop),
        store.keep_tree(id, lost, "aaaa"),
    ];
    for refused in refused {
        assert!(
            matches!(&refused, Err(Error::Fenced { given, last, .. }) if *given == lost && *last == held),
            "{refused:?}"
        );
    }
    let other = Claim::Acquire {
        holder: "other",
        term: LONG,
        dead: Some(lost),
    };
    let refused = store.claim(id, &other);
    assert!(matches!(refused, Err(Error::Held { .. })), "{refused:?}");

    store.keep_tree(id, held, "bbbb").unwrap();
    let done = write(&mut store, &test_run, held).unwrap();
    assert!(matches!(done, Transacted::Done { .. }), "{done:?}");
    assert_eq!(store.kept_tree(id).unwrap().as_deref(), Some("bbbb"));
    assert!(store.verify(id).unwrap().intact);
}

#[test]
fn who_lost_a_run_says_nothing_about_its_future() {
    let server = Server::start();
    let mut store = open(&ready(&server, "team"));
    let test_run = begun(&mut store, "f-1");
    store.enqueue(&test_run.id, &Placement::default()).unwrap();
    let take = |holder, term| store.claim_queued(holder, &[], term).unwrap().unwrap();
    let one = take("one", Duration::ZERO).lease.fence;
    let two = take("two", LONG).lease.fence;
    let failed = LetGo::Failed {
        why: "another one drives it",
        delay: LONG,
    };
    let queued = "SELECT tries, coalesce(last_failure, '-') FROM gatewright.queue";
    store.leave_queued(&test_run.id, one, failed).unwrap();
    assert_eq!(server.sql("team", queued), "2|-");
    store.leave_queued(&test_run.id, two, failed).unwrap();
    assert_eq!(server.sql("team", queued), "2|another one drives it");
}
