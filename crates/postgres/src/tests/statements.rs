//! What a change costs: one statement, so one round trip.

use store::conformance::test_run::{decision, note};
use store::{Backend as _, Claim, Commit, Content, Key, Transacted, content_hash};
use testkit::database::Server;

use super::{begun, open, ready};

/// The statements that handles of the store have sent so far.
fn statements(server: &Server) -> usize {
    let log = server.log();
    let ours = log.lines().filter(|line| line.starts_with("gatewright|"));
    let sent =
        ours.filter(|line| line.contains("LOG:  execute") || line.contains("LOG:  statement:"));
    sent.count()
}

#[test]
fn a_change_is_one_statement() {
    let server = Server::with_settings("log_statement = 'all'");
    let address = ready(&server, "counted");
    let mut store = open(&address);
    let test_run = begun(&mut store, "r-1");
    let known = store.run(&test_run.id).unwrap().unwrap();
    let term = std::time::Duration::from_secs(60);
    let claim = Claim::Acquire {
        holder: "one",
        term,
        dead: None,
    };
    let fence = Some(store.claim(&test_run.id, &claim).unwrap().fence);
    let (key, bytes) = (Key::parse("k").unwrap(), b"the plan");
    let contents = [Content {
        hash: content_hash(bytes),
        bytes,
    }];
    let before = statements(&server);
    let commit = Commit {
        key: Some(&key),
        contents: &contents,
        fence,
        ..test_run.commit(1)
    };
    let facts = [note("one"), note("two"), note("three")];
    let done = store
        .transact_on(&known, &commit, &mut |_| decision(&facts))
        .unwrap();
    assert!(matches!(done, Transacted::Done { .. }), "{done:?}");
    assert_eq!(statements(&server) - before, 1);
    // The handle knows the run now, so the next change is one statement as well.
    let next = Commit {
        fence,
        ..test_run.commit(4)
    };
    store
        .transact(&next, &mut |_| decision(&[note("four")]))
        .unwrap();
    assert_eq!(statements(&server) - before, 2);
    assert_eq!(store.journal(&test_run.id, 1, 9).unwrap().len(), 5);
}
