//! A server that crashes and comes back loses nothing that was acknowledged, and stores nothing twice.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use store::conformance::test_run::{decision, note};
use store::{Backend as _, Commit, Key, Transacted};
use testkit::database::Server;

use super::{begun, open, ready};

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
            while version() < before + 20 && !writer.is_finished() {
                thread::yield_now();
            }
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
fn a_server_ends_with_its_test() {
    let server = Server::start();
    let process = server.process().unwrap();
    let is_there = || std::path::Path::new(&format!("/proc/{process}")).exists();
    assert!(is_there());
    drop(server);
    assert!(!is_there());
}
