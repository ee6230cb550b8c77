//! Guarantees about many runs that are written to at once.

use std::sync::atomic::{AtomicUsize, Ordering};

use engine::{Fact, SessionId};

use super::journals::{MANY, at_once};
use super::leases::{LONG, acquire};
use super::test_run::{TestRun, decision, note};
use super::{Checked, Open};
use crate::{Backend, Commit, Error, Fence, Key, Transacted};

/// How many events each run gets.
const EVENTS: u64 = 5;

fn stories(open: Open<'_>) -> Result<Vec<TestRun>, Box<dyn std::error::Error>> {
    let test_run = |number| -> Result<TestRun, Box<dyn std::error::Error>> {
        let test_run = TestRun::new(&format!("r-{number}"))?;
        test_run.begin(&mut *open())?;
        Ok(test_run)
    };
    (0..MANY).map(test_run).collect()
}

pub(super) fn sixty_four_runs_advance_at_once(open: Open<'_>) -> Checked {
    let stories = stories(open)?;
    at_once(open, |index, store| {
        let test_run = &stories[index];
        for seen in 1..=EVENTS {
            let key = Key::parse(&format!("event {seen}")).ok();
            let commit = Commit {
                key: key.as_ref(),
                ..test_run.commit(seen)
            };
            let fact = note(&format!("{index}: {seen}"));
            let done = store.transact(&commit, &mut |_| decision(std::slice::from_ref(&fact)))?;
            assert!(
                matches!(&done, Transacted::Done { numbers, .. } if *numbers == (seen + 1..seen + 2)),
                "{done:?}"
            );
            // Acknowledged means that every reader sees it.
            assert_eq!(
                open().run(&test_run.id)?.map(|run| run.version),
                Some(seen + 1)
            );
        }
        Ok(())
    })?;
    for (index, test_run) in stories.iter().enumerate() {
        let journal = open().journal(&test_run.id, 2, 100)?;
        let said: Vec<Fact> = journal.into_iter().map(|it| it.entry.fact).collect();
        let expected = (1..=EVENTS).map(|seen| note(&format!("{index}: {seen}")));
        assert_eq!(said, expected.collect::<Vec<_>>());
        let verification = open().verify(&test_run.id)?;
        assert!(verification.intact, "{verification:?}");
    }
    Ok(())
}

/// What is wrong with a write, if anything.
#[derive(Clone, Copy, Debug)]
enum Flaw {
    None,
    StaleFence,
    /// The number of the lease, and another claim.
    OtherClaim,
    StaleVersion,
    UsedKey,
    UnknownRun,
    Unfit,
    Nothing,
}

const FLAWS: [Flaw; 8] = [
    Flaw::None,
    Flaw::StaleFence,
    Flaw::OtherClaim,
    Flaw::StaleVersion,
    Flaw::UsedKey,
    Flaw::UnknownRun,
    Flaw::Unfit,
    Flaw::Nothing,
];

pub(super) fn a_refusal_among_many_undoes_nobody(open: Open<'_>) -> Checked {
    let (stories, used) = (stories(open)?, Key::parse("used")?);
    for test_run in &stories {
        let commit = Commit {
            key: Some(&used),
            ..test_run.commit(1)
        };
        open().transact(&commit, &mut |_| decision(&[note("before")]))?;
        for _ in 0..2 {
            open().claim(&test_run.id, &acquire("driver", LONG))?;
        }
    }
    let unknown = TestRun::new("nobody")?;
    at_once(open, |index, store| {
        let flaw = FLAWS[index % FLAWS.len()];
        let answer = write(store, &stories[index], &unknown, flaw, &used);
        let is_right = match flaw {
            Flaw::None => {
                matches!(&answer, Ok(Transacted::Done { numbers, .. }) if *numbers == (3..4))
            }
            Flaw::Nothing => {
                matches!(&answer, Ok(Transacted::Done { numbers, .. }) if numbers.is_empty())
            }
            Flaw::StaleFence | Flaw::OtherClaim => matches!(&answer, Err(Error::Fenced { .. })),
            Flaw::StaleVersion => matches!(&answer, Ok(Transacted::Moved { version: 2 })),
            Flaw::UsedKey => {
                matches!(&answer, Ok(Transacted::Repeated { entries }) if entries.len() == 1)
            }
            Flaw::UnknownRun => matches!(&answer, Err(Error::UnknownRun { .. })),
            Flaw::Unfit => matches!(&answer, Err(Error::Unfit { .. })),
        };
        assert!(is_right, "{flaw:?}: {answer:?}");
        Ok(())
    })?;
    for (index, test_run) in stories.iter().enumerate() {
        let flaw = FLAWS[index % FLAWS.len()];
        let verification = open().verify(&test_run.id)?;
        assert!(verification.intact, "{flaw:?}: {verification:?}");
        let entries = if matches!(flaw, Flaw::None) { 3 } else { 2 };
        assert_eq!(verification.entries, entries, "{flaw:?}");
    }
    Ok(())
}

fn write(
    store: &mut dyn Backend,
    test_run: &TestRun,
    unknown: &TestRun,
    flaw: Flaw,
    used: &Key,
) -> Result<Transacted, Error> {
    let held = store.lease(&test_run.id)?.map(|lease| lease.fence);
    let good = Commit {
        fence: held,
        ..test_run.commit(2)
    };
    let commit = match flaw {
        Flaw::None | Flaw::Unfit | Flaw::Nothing => good,
        Flaw::StaleFence => Commit {
            fence: held.map(|fence| Fence { number: 1, ..fence }),
            ..good
        },
        Flaw::OtherClaim => Commit {
            fence: held.map(|fence| Fence {
                claim: fence.claim ^ 1,
                ..fence
            }),
            ..good
        },
        Flaw::StaleVersion => Commit { seen: 1, ..good },
        Flaw::UsedKey => Commit {
            key: Some(used),
            ..good
        },
        Flaw::UnknownRun => unknown.commit(2),
    };
    let nobody = SessionId::parse("nobody").ok();
    let detached = nobody.map(|session| Fact::Detached { session });
    let facts = match flaw {
        Flaw::Nothing => Vec::new(),
        Flaw::Unfit => detached.into_iter().collect(),
        _ => vec![note("after")],
    };
    store.transact(&commit, &mut |_| decision(&facts))
}

pub(super) fn two_holders_of_each_run_make_one_lease(open: Open<'_>) -> Checked {
    let stories = stories(open)?;
    let taken = AtomicUsize::new(0);
    at_once(open, |index, store| {
        let holder = format!("holder {index}");
        match store.claim(&stories[index / 2].id, &acquire(&holder, LONG)) {
            Ok(lease) => {
                assert_eq!((lease.holder, lease.fence.number), (holder, 1));
                taken.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
            Err(Error::Held { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    })?;
    assert_eq!(taken.into_inner(), MANY / 2);
    for (index, test_run) in stories.iter().enumerate() {
        assert_eq!(open().lease(&test_run.id)?.is_some(), index < MANY / 2);
    }
    Ok(())
}
