//! A server that crashes and comes back loses nothing that was acknowledged, and stores nothing twice.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use store::conformance::test_run::{decision, note};
use store::{Backend as _, Claim, Commit, Key, Transacted};
use testkit::database::Server;
use testkit::proxy::Proxy;

use super::{begun, open, ready};
use crate::Address;

#[test]
fn a_writer_goes_on_over_a_crash_of_the_server() {
    const CRASHES: usize = 3;
    let server = Server::start();
    let address = ready(&server, "team");
    let test_run = begun(&mut open(&address), "r-1");
    let is_over = AtomicBool::new(false);
    let acknowledged = thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let (mut store, mut seen) = (open(&address), 1);
            while !is_over.load(Ordering::Relaxed) {
                let key = Key::parse(&format!("event {seen}")).unwrap();
                let commit = Commit {
                    key: Some(&key),
                    ..test_run.commit(seen)
                };
                let fact = note(&format!("{seen}"));
                let done = store
                    .transact(&commit, &mut |_| decision(std::slice::from_ref(&fact)))
                    .unwrap();
                assert!(matches!(done, Transacted::Done { .. }), "{done:?}");
                seen += 1;
            }
            seen
        });
        for _ in 0..CRASHES {
            let before = open(&address).run(&test_run.id).unwrap().unwrap().version;
            let version = || open(&address).run(&test_run.id).unwrap().unwrap().version;
            testkit::until("it has written for a while", || {
                version() >= before + 20 || writer.is_finished()
            });
            server.crash();
            server.start_again();
        }
        is_over.store(true, Ordering::Relaxed);
        writer.join().unwrap()
    });
    let store = open(&address);
    let verification = store.verify(&test_run.id).unwrap();
    assert_eq!(
        (verification.intact, verification.entries),
        (true, acknowledged),
        "{verification:?}"
    );
}

#[test]
fn a_lost_answer_is_neither_a_lost_nor_a_second_change() {
    let server = Server::start();
    let address = ready(&server, "team");
    let test_run = begun(&mut open(&address), "r-1");
    let proxy = Proxy::to(server.port());
    let through = server
        .address("team")
        .replace(&server.port().to_string(), &proxy.port().to_string());
    let mut store = open(&Address::parse(&through).unwrap());
    let key = Key::parse("k").unwrap();
    for (seen, key) in [(1, None), (2, Some(&key)), (3, None)] {
        let known = store.run(&test_run.id).unwrap().unwrap();
        let commit = Commit {
            key,
            ..test_run.commit(seen)
        };
        proxy.lose_the_next_answer();
        let done = store
            .transact_on(&known, &commit, &mut |_| decision(&[note("once")]))
            .unwrap();
        assert!(proxy.has_lost_it());
        assert!(matches!(done, Transacted::Done { .. }), "{done:?}");
    }
    // A lease that is taken twice has a higher number, and the first one writes nothing any more.
    proxy.lose_the_next_answer();
    let claim = Claim::Acquire {
        holder: "one",
        term: Duration::from_secs(60),
        dead: None,
    };
    assert_eq!(store.claim(&test_run.id, &claim).unwrap().fence.number, 2);
    let verification = store.verify(&test_run.id).unwrap();
    assert_eq!(
        (verification.intact, verification.entries),
        (true, 4),
        "{verification:?}"
    );
}

/// Its value makes the next test start a server and wait to be killed.
const HOLD: &str = "PG_STORE_HOLD";

#[test]
fn a_server_ends_with_a_test_that_is_killed() {
    if std::env::var_os(HOLD).is_some() {
        let server = Server::start();
        eprintln!("server {}", server.process().unwrap());
        // It is killed in its sleep.
        thread::sleep(Duration::from_secs(600));
    }
    let mut test = Command::new(std::env::current_exe().unwrap());
    test.args([
        "--exact",
        "tests::crashes::a_server_ends_with_a_test_that_is_killed",
        "--nocapture",
    ]);
    let mut test = test
        .env(HOLD, "1")
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(test.stderr.take().unwrap())
        .lines()
        .map(Result::unwrap);
    let server = lines
        .find_map(|line| line.strip_prefix("server ").map(str::to_owned))
        .unwrap();
    let server = std::path::PathBuf::from(format!("/proc/{server}"));
    assert!(server.exists());
    test.kill().unwrap();
    test.wait().unwrap();
    // PostgreSQL itself notices within a minute that its folder is gone. The watchdog is faster.
    let ended = || (!server.exists()).then_some(());
    let ended = testkit::within(Duration::from_secs(30), ended);
    assert!(ended.is_some(), "the server is still there");
}

#[test]
fn a_server_ends_with_its_test() {
    let server = Server::start();
    let process = server.process().unwrap();
    let is_there = || std::path::Path::new(&format!("/proc/{process}")).exists();
    assert!(is_there());
    drop(server);
    assert!(!is_there());
}
