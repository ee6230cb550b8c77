//! A network that says nothing: nobody hangs, and what is only slow gets its time.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use store::{Backend as _, Claim, DatabaseFault, Error, SharedBackend as _};
use testkit::database::Server;
use testkit::proxy::Proxy;

use super::{begun, open, ready};
use crate::Address;

/// A hang is longer than this, and nothing else is.
const HANGS: Duration = Duration::from_secs(300);

fn is_unreachable<T>(answer: &Result<T, Error>) -> bool {
    let unreachable = DatabaseFault::Unreachable;
    matches!(answer, Err(Error::Database { fault, .. }) if *fault == unreachable)
}

#[test]
fn a_connection_that_falls_silent_is_given_up() {
    let server = Server::start();
    let test_run = begun(&mut open(&ready(&server, "team")), "f-1");
    let proxy = Proxy::to(server.port());
    let through = server
        .address("team")
        .replace(&server.port().to_string(), &proxy.port().to_string());
    for address in [
        Address::parse(&through).unwrap(),
        Address::parse(&through).unwrap().for_screens(),
    ] {
        let (sender, answers) = mpsc::channel();
        let store = open(&address);
        proxy.stall();
        let id = test_run.id.clone();
        thread::spawn(move || {
            // Both for a read and for what is new.
            sender.send(is_unreachable(&store.run(&id))).unwrap();
            sender.send(is_unreachable(&store.for_thread())).unwrap();
            // The same handle goes on when the network does.
            while !matches!(store.run(&id), Ok(Some(_))) {}
            sender.send(true).unwrap();
        });
        assert_eq!(answers.recv_timeout(HANGS), Ok(true));
        assert_eq!(answers.recv_timeout(HANGS), Ok(true));
        proxy.open();
        assert_eq!(answers.recv_timeout(HANGS), Ok(true));
    }
}

#[test]
fn a_statement_that_waits_for_a_lock_is_slow_and_not_lost() {
    let server = Server::start();
    let address = ready(&server, "team");
    let test_run = begun(&mut open(&address), "f-1");
    let mut store = open(&address.for_screens());
    thread::scope(|scope| {
        let locked = scope.spawn(|| {
            let held =
                "BEGIN; SELECT 1 FROM gatewright.runs FOR UPDATE; SELECT pg_sleep(9); COMMIT";
            server.sql("team", held)
        });
        let waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
        testkit::until("the lock is held", || {
            server.sql("postgres", waits) == "1" || locked.is_finished()
        });
        let claim = Claim::Acquire {
            holder: "one",
            term: HANGS,
            dead: None,
        };
        let lease = store.claim(&test_run.id, &claim).unwrap();
        assert_eq!(lease.holder, "one");
    });
}
