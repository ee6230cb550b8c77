//! Writes that come together share a transaction, and a failure of one does not affect the others.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use super::super::Group;
use super::super::folder::Folder;
use super::super::writer_lock::WriterLock;
use super::*;
use crate::conformance::test_run::decision;
use crate::{Commit, Error, Fence, Transacted};

/// How many come while the first one waits for its turn.
const FOLLOWERS: usize = 7;

/// The runs of `FOLLOWERS` and of one more, which comes first.
fn stories(group: &Group) -> Vec<TestRun> {
    let begun = |number| {
        let test_run = TestRun::new(&format!("r-{number}")).unwrap();
        test_run.begin(&mut group.clone()).unwrap();
        test_run
    };
    (0..=FOLLOWERS).map(begun).collect()
}

/// Counts the transactions that change something.
fn count_commits(group: &Group) -> Arc<AtomicUsize> {
    let commits = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&commits);
    let count = move || {
        counter.fetch_add(1, Ordering::Relaxed);
        false
    };
    let mut writer = group.writer();
    writer.connection.commit_hook(Some(count)).unwrap();
    commits
}

/// Most are written without a lease.
fn without_lease(_: &TestRun) -> Option<Fence> {
    None
}

/// Every run is written to while another process has the turn, which goes on as long as `meanwhile`.
fn write_to_all(
    place: &Place,
    group: &Group,
    stories: &[TestRun],
    fence: fn(&TestRun) -> Option<Fence>,
    meanwhile: impl FnOnce(WriterLock),
) -> Vec<Result<Transacted, Error>> {
    let turn = WriterLock::try_now(&Folder::find(&place.path).unwrap()).unwrap();
    thread::scope(|scope| {
        let write = |test_run| {
            let mut group = group.clone();
            scope.spawn(move || {
                let commit = Commit {
                    fence: fence(test_run),
                    ..TestRun::commit(test_run, 1)
                };
                group.transact(&commit, &mut |_| decision(&[note("together")]))
            })
        };
        let first = write(&stories[0]);
        group.wait_for_leader();
        let others: Vec<_> = stories[1..].iter().map(write).collect();
        group.wait_for_followers(FOLLOWERS);
        meanwhile(turn);
        let all = [first].into_iter().chain(others);
        all.map(|thread| thread.join().unwrap()).collect()
    })
}

fn is_done(answer: &Result<Transacted, Error>) -> bool {
    matches!(answer, Ok(Transacted::Done { .. }))
}

#[test]
fn what_comes_during_a_transaction_shares_the_next_one() {
    let place = Place::new();
    let group = Group::open(&place.path).unwrap();
    let stories = stories(&group);
    let commits = count_commits(&group);
    let answers = write_to_all(&place, &group, &stories, without_lease, drop);
    assert!(answers.iter().all(is_done), "{answers:?}");
    assert_eq!(commits.load(Ordering::Relaxed), 2);
    for test_run in &stories {
        let verification = place.open().verify(&test_run.id).unwrap();
        assert!(verification.intact, "{verification:?}");
        assert_eq!((verification.entries, verification.anchored), (2, 2));
    }
}

#[test]
fn a_refusal_costs_the_others_no_transaction_of_their_own() {
    let place = Place::new();
    let group = Group::open(&place.path).unwrap();
    let stories = stories(&group);
    let commits = count_commits(&group);
    let stale = |test_run: &TestRun| (test_run.id.as_str() == "r-3").then_some(Fence::numbered(7));
    let answers = write_to_all(&place, &group, &stories, stale, drop);
    for (number, answer) in answers.iter().enumerate() {
        match number {
            3 => assert!(matches!(answer, Err(Error::Fenced { .. })), "{answer:?}"),
            _ => assert!(is_done(answer), "{number}: {answer:?}"),
        }
    }
    assert_eq!(commits.load(Ordering::Relaxed), 2);
}

#[test]
fn a_run_that_cannot_be_written_leaves_the_others_alone() {
    let place = Place::new();
    let group = Group::open(&place.path).unwrap();
    let stories = stories(&group);
    let head = place.file("heads").join("r-3");
    fs::rename(&head, place.file("elsewhere")).unwrap();
    std::os::unix::fs::symlink(place.file("elsewhere"), &head).unwrap();
    let answers = write_to_all(&place, &group, &stories, without_lease, drop);
    for (number, answer) in answers.iter().enumerate() {
        match number {
            3 => assert!(matches!(answer, Err(Error::Symlink { .. })), "{answer:?}"),
            _ => assert!(is_done(answer), "{number}: {answer:?}"),
        }
    }
    let versions = stories.iter().map(|test_run| place.run(test_run).version);
    assert_eq!(versions.collect::<Vec<_>>(), [2, 2, 2, 1, 2, 2, 2, 2]);
}

#[test]
fn a_store_that_stays_busy_is_told_to_all_and_left_as_it_was() {
    let place = Place::new();
    let group = Group::open(&place.path).unwrap();
    let stories = stories(&group);
    group
        .writer()
        .set_writer_timeout(Duration::from_millis(200));
    let mut kept = None;
    let answers = write_to_all(&place, &group, &stories, without_lease, |turn| {
        kept = Some(turn);
    });
    for answer in &answers {
        assert!(matches!(answer, Err(Error::Busy { .. })), "{answer:?}");
    }
    assert_eq!(group.writer().writer_timeout, Duration::from_millis(200));
    drop(kept);
    let again = stories[3].add(&mut group.clone(), 1, &[note("again")]);
    assert!(is_done(&again), "{again:?}");
}

#[test]
fn damage_stops_all_of_them() {
    let place = Place::new();
    let group = Group::open(&place.path).unwrap();
    let stories = stories(&group);
    fs::write(place.file("heads").join("r-3"), "not a head").unwrap();
    let answers = write_to_all(&place, &group, &stories, without_lease, drop);
    assert!(is_done(&answers[0]), "it was written before");
    for answer in &answers[1..] {
        let told = answer.as_ref().is_err_and(Error::is_damage);
        assert!(told, "{answer:?}");
    }
    assert_eq!(place.run(&stories[7]).version, 1);
}

#[test]
fn another_process_that_was_first_is_noticed() {
    let place = Place::new();
    let group = Group::open(&place.path).unwrap();
    let test_run = &stories(&group)[0];
    let mut driver = group.clone();
    // It remembers the run as it is now.
    driver.run(&test_run.id).unwrap();
    test_run
        .add(&mut place.open(), 1, &[note("a hook")])
        .unwrap();
    let late = test_run.add(&mut driver, 1, &[note("late")]).unwrap();
    assert_eq!(late, Transacted::Moved { version: 2 });
    let next = test_run.add(&mut driver, 2, &[note("in time")]);
    assert!(is_done(&next), "{next:?}");
    assert!(place.open().verify(&test_run.id).unwrap().intact);
}

#[test]
fn a_decision_that_panics_harms_nobody() {
    let place = Place::new();
    let group = Group::open(&place.path).unwrap();
    let stories = stories(&group);
    let mut handle = group.clone();
    let fallen = thread::scope(|scope| {
        let decide = || {
            let commit = stories[0].commit(1);
            handle.transact(&commit, &mut |_| panic!("a rule fell"))
        };
        scope.spawn(decide).join().is_err()
    });
    assert!(fallen);
    for test_run in &stories {
        let done = test_run.add(&mut group.clone(), 1, &[note("on")]);
        assert!(is_done(&done), "{done:?}");
    }
}

/// The log stays as long as it is in a process that stays, and is begun anew in its room.
#[test]
fn the_log_is_used_again_and_does_not_grow() {
    let place = Place::new();
    let group = Group::open(&place.path).unwrap();
    let test_run = &stories(&group)[0];
    let (mut driver, long) = (group.clone(), "x".repeat(20_000));
    let mut lengths = Vec::new();
    for seen in 1..=400 {
        let fact = note(&format!("{seen} {long}"));
        driver
            .transact(&test_run.commit(seen), &mut |_| {
                decision(std::slice::from_ref(&fact))
            })
            .unwrap();
        lengths.push(fs::metadata(place.file("store.db-wal")).unwrap().len());
    }
    let (first, last) = (lengths[199], lengths[399]);
    assert!(first > 1 << 20, "it was cut: {first}");
    assert!(last < first + first / 8, "it grew from {first} to {last}");
    drop((group, driver));
    assert_eq!(place.bytes("store.db-wal").len(), 0, "the last one cuts it");
}
