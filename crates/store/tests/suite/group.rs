//! A group under load, and a process that is killed in the middle of it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

use engine::Fact;
use store::conformance::test_run::{TestRun, decision, note};
use store::{Access, Backend, Commit, Group, Key, Sqlite, Transacted};

const RUNS: usize = 64;
const EVENTS: u64 = 50;

/// Tells the child where to write.
const FOLDER: &str = "STORE_GROUP_FOLDER";

fn test_run(run: usize) -> TestRun {
    TestRun::new(&format!("r-{run}")).unwrap()
}

/// Adds events to each run in a thread of its own, and tells of each when it is acknowledged.
fn write(folder: &Path, events: u64, tell: impl Fn(usize, u64) + Sync) {
    let group = Group::open(folder).unwrap();
    for run in 0..RUNS {
        test_run(run).begin(&mut group.clone()).unwrap();
    }
    thread::scope(|scope| {
        for run in 0..RUNS {
            let (mut group, tell) = (group.clone(), &tell);
            scope.spawn(move || {
                for seen in 1..=events {
                    add(&mut group, &test_run(run), seen);
                    tell(run, seen + 1);
                }
            });
        }
    });
}

fn add(group: &mut Group, test_run: &TestRun, seen: u64) {
    let key = Key::parse(&format!("event {seen}")).unwrap();
    let commit = Commit {
        key: Some(&key),
        ..test_run.commit(seen)
    };
    let facts = [note(&format!("event {seen}"))];
    let done = group.transact(&commit, &mut |_| decision(&facts)).unwrap();
    assert!(matches!(done, Transacted::Done { .. }), "{done:?}");
}

/// Each run is whole, and has its events once and in order; returns how many entries each has.
fn entries(folder: &Path) -> Vec<u64> {
    let store = Sqlite::open(folder, Access::Read).unwrap();
    assert_eq!(store.check_pages().unwrap(), Vec::<String>::new());
    let entries = |run: usize| {
        let id = &test_run(run).id;
        let verification = store.verify(id).unwrap();
        assert!(verification.intact, "{verification:?}");
        for stored in store.journal(id, 2, 1_000).unwrap() {
            let event = format!("event {}", stored.number - 1);
            assert_eq!(stored.key.unwrap().as_str(), event);
            assert_eq!(stored.entry.fact, Fact::Noted { message: event });
        }
        verification.entries
    };
    (0..RUNS).map(entries).collect()
}

#[test]
fn sixty_four_threads_lose_nothing() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("state");
    write(&folder, EVENTS, |_, _| ());
    assert_eq!(entries(&folder), vec![1 + EVENTS; RUNS]);
}

/// The process that is killed by the test below. Where nobody kills it, it writes a little and ends.
#[test]
fn a_process_that_writes_until_it_is_killed() {
    let root = tempfile::tempdir().unwrap();
    let given = env::var_os(FOLDER);
    let is_listened_to = given.is_some();
    let (folder, events) = match given {
        Some(folder) => (folder.into(), 1_000_000),
        None => (root.path().join("state"), 2),
    };
    write(&folder, events, |run, number| {
        if is_listened_to {
            let line = format!("stored {run} {number}\n");
            std::io::stdout().write_all(line.as_bytes()).unwrap();
        }
    });
    assert_eq!(entries(&folder), vec![1 + events; RUNS]);
}

fn start(folder: &Path) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "group::a_process_that_writes_until_it_is_killed"]);
    command.arg("--nocapture");
    command.env(FOLDER, folder).stdout(Stdio::piped());
    command.spawn().unwrap()
}

#[test]
fn what_was_acknowledged_before_a_kill_is_there_and_every_run_is_whole() {
    for acknowledged in [1, 2, 40, 65, 128, 500, 1_000, 2_000] {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("state");
        let mut child = start(&folder);
        let mut told = BTreeMap::new();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let stored = lines.filter_map(|line| {
            let line = line.unwrap();
            let (run, number) = line.strip_prefix("stored ")?.split_once(' ')?;
            Some((run.parse::<usize>().ok()?, number.parse::<u64>().ok()?))
        });
        // What it said before its end is read to the end, since all of it was acknowledged.
        for (count, (run, number)) in (1..).zip(stored) {
            told.insert(run, number);
            if count == acknowledged {
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        for (run, found) in entries(&folder).into_iter().enumerate() {
            let told = told.get(&run).copied().unwrap_or(1);
            // One more may have been stored that nobody was told of.
            assert!((told..=told + 1).contains(&found), "{run}: {told}, {found}");
        }
        let mut group = Group::open(&folder).unwrap();
        let next = group.run(&test_run(0).id).unwrap().unwrap().version;
        add(&mut group, &test_run(0), next);
    }
}
