//! Copies of journals: what continues a copy is added once, and nothing is ever replaced.

use std::collections::BTreeMap;

use engine::RunId;
use store::conformance::test_run::note;
use store::parts::Line;
use store::{Access, Announcement, Backend as _, Files, JournalCopies as _, Memory, Receipt};
use testkit::database::Server;

use super::ready;
use crate::{Address, ShippedCopies};

/// The lines of a run with five entries.
fn lines(word: &str) -> Vec<Line> {
    let mut home = Memory::default();
    let test_run = store::conformance::test_run::TestRun::new("r-1").unwrap();
    test_run.begin(&mut home).unwrap();
    for number in 1..5 {
        test_run.add(&mut home, number, &[note(word)]).unwrap();
    }
    let journal = home.journal(&run(), 1, 100).unwrap();
    let line = |stored: store::StoredEntry| Line {
        number: stored.number,
        decision: stored.decision,
        text: store::entry_to_json(&stored.entry),
        key: stored.key,
        previous: stored.previous,
        hash: stored.hash,
    };
    journal.into_iter().map(line).collect()
}

fn run() -> RunId {
    RunId::parse("r-1").unwrap()
}

fn copies(address: &Address, machine: &str) -> ShippedCopies {
    ShippedCopies::open(address, Access::Write, machine).unwrap()
}

fn announced(copies: &ShippedCopies) {
    let files = [("b/z", b"1".to_vec()), ("B.toml", b"\xff".to_vec())];
    let files = files.map(|(path, bytes)| (path.to_owned(), bytes));
    let files = Files::new("B.toml", BTreeMap::from(files)).unwrap();
    let announcement = Announcement {
        run: &run(),
        project: "/p",
        files: &files,
    };
    copies.announce(&announcement).unwrap();
    copies.announce(&announcement).unwrap();
}

#[test]
fn a_copy_takes_what_continues_it_and_the_same_lines_again() {
    let server = Server::start();
    let address = ready(&server, "team");
    let (copies, lines) = (copies(&address, "m"), lines("one"));
    let add = |lines: &[Line]| copies.add(&run(), lines).unwrap();
    assert_eq!(add(&lines[..2]), Receipt::Unknown);
    announced(&copies);
    assert_eq!(add(&lines[1..3]), Receipt::Gap { last: 0 });
    assert_eq!(add(&lines[..2]), Receipt::Stored);
    assert_eq!(add(&lines[3..]), Receipt::Gap { last: 2 });
    assert_eq!(add(&lines[..4]), Receipt::Stored);
    assert_eq!(add(&lines[..4]), Receipt::Stored);
    assert_eq!(add(&lines[4..]), Receipt::Stored);
    let hashes: Vec<_> = lines.iter().map(|line| line.hash).collect();
    assert_eq!(copies.hashes(&run()).unwrap(), hashes);
    let state = copies.states(&[run()]).unwrap().remove(0);
    assert_eq!(state.tip.map(|tip| tip.version), Some(5));
}

#[test]
fn another_line_with_the_same_number_is_refused() {
    let server = Server::start();
    let address = ready(&server, "team");
    let (first, second) = (lines("one"), lines("two"));
    let copy = copies(&address, "m");
    announced(&copy);
    copy.add(&run(), &first[..3]).unwrap();
    let add = |lines: &[Line]| copy.add(&run(), lines).unwrap();
    assert_eq!(add(&second[..4]), Receipt::Differs { at: 2 });
    assert_eq!(add(&second[3..]), Receipt::Differs { at: 3 });
    // A line that was made up has not the hash of its text.
    let mut forged = first[3].clone();
    forged.text.push(' ');
    assert!(copy.add(&run(), &[forged]).is_err());
    assert_eq!(copy.hashes(&run()).unwrap().len(), 3);
    // Another machine has a copy of its own.
    let other = copies(&address, "n");
    announced(&other);
    assert_eq!(other.add(&run(), &second).unwrap(), Receipt::Stored);
}

#[test]
fn what_has_another_hash_is_not_stored() {
    let server = Server::start();
    let address = ready(&server, "team");
    copies(&address, "m").put_content(b"x").unwrap();
    copies(&address, "m").put_content(b"x").unwrap();
    let count = "SELECT count(*) FROM gatewright.shipped_contents";
    assert_eq!(server.sql("team", count), "1");
    let place = server.address("team");
    for statement in [
        "SELECT gatewright.ship_content(sha256('x'), 'y')",
        "SELECT gatewright.announce('m', 'r', '/p', sha256('x'), 'a', ARRAY['a'], ARRAY['x'::bytea])",
        "UPDATE gatewright.shipped_contents SET bytes = 'y'",
        "DELETE FROM gatewright.shipped_contents",
        "TRUNCATE gatewright.adoptions",
    ] {
        assert!(server.try_sql(&place, statement).is_err(), "{statement}");
    }
}
