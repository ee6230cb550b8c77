//! Guarantees about leases. A term of nothing has expired at once, and a long one outlasts every test.

use std::time::Duration;

use super::test_run::{TestRun, decision, note};
use super::{Checked, Open};
use crate::{Claim, Commit, Error, Fence, Transacted};

/// It outlasts every test.
pub(super) const LONG: Duration = Duration::from_secs(3_600);

/// It has expired when the store answers.
const NONE: Duration = Duration::ZERO;

pub(super) fn acquire(holder: &str, term: Duration) -> Claim<'_> {
    Claim::Acquire {
        holder,
        term,
        dead: None,
    }
}

pub(super) fn a_run_is_held_by_one_holder(open: Open<'_>) -> Checked {
    let test_run = TestRun::new("r-1")?;
    test_run.begin(&mut *open())?;
    let claim = |claim| open().claim(&test_run.id, &claim);
    let is_held = |holder| {
        let refused = claim(acquire(holder, LONG));
        matches!(&refused, Err(Error::Held { holder, .. }) if holder == "one")
    };
    assert_eq!(open().lease(&test_run.id)?, None);
    let held = claim(acquire("one", LONG))?;
    assert_eq!((held.holder.as_str(), held.fence.number), ("one", 1));
    assert!(!held.is_expired);
    assert_eq!(open().lease(&test_run.id)?, Some(held.clone()));
    assert!(is_held("two"));

    let fence = held.fence;
    let renewed = claim(Claim::Renew { fence, term: LONG })?;
    assert!(renewed.until >= held.until, "{renewed:?} {held:?}");
    assert!(is_held("two"));
    assert!(claim(Claim::Renew { fence, term: NONE })?.is_expired);
    let read = open().lease(&test_run.id)?;
    assert!(read.is_some_and(|lease| lease.is_expired && lease.fence == fence));
    let second = claim(acquire("two", LONG))?.fence;
    assert_eq!(second.number, 2);

    assert!(matches!(
        claim(Claim::Release { fence }),
        Err(Error::Fenced { .. })
    ));
    claim(Claim::Release { fence: second })?;
    assert_eq!(open().lease(&test_run.id)?, None);
    assert_eq!(claim(acquire("one", LONG))?.holder, "one");
    Ok(())
}

pub(super) fn an_expired_lease_is_its_holders_until_it_is_taken(open: Open<'_>) -> Checked {
    let test_run = TestRun::new("r-1")?;
    test_run.begin(&mut *open())?;
    let fence = open().claim(&test_run.id, &acquire("one", NONE))?.fence;
    let commit = Commit {
        fence: Some(fence),
        ..test_run.commit(1)
    };
    let written = open().transact(&commit, &mut |_| decision(&[note("late")]))?;
    assert!(matches!(written, Transacted::Done { .. }), "{written:?}");
    let renewed = open().claim(&test_run.id, &Claim::Renew { fence, term: LONG })?;
    assert_eq!((renewed.fence, renewed.is_expired), (fence, false));
    Ok(())
}

pub(super) fn the_lease_of_a_dead_holder_is_taken_at_once(open: Open<'_>) -> Checked {
    let test_run = TestRun::new("r-1")?;
    test_run.begin(&mut *open())?;
    let take = |holder, dead| {
        let claim = Claim::Acquire {
            holder,
            term: LONG,
            dead,
        };
        open().claim(&test_run.id, &claim)
    };
    let first = take("one", None)?;
    assert_eq!(take("two", Some(first.fence))?.fence.number, 2);
    // A process that saw the first one die knows nothing about the second.
    let refused = take("three", Some(first.fence));
    assert!(matches!(refused, Err(Error::Held { .. })), "{refused:?}");
    Ok(())
}

pub(super) fn the_number_of_a_lease_only_grows(open: Open<'_>) -> Checked {
    let test_run = TestRun::new("r-1")?;
    test_run.begin(&mut *open())?;
    // The same holder, an expired one, a release in between: always a new number.
    let mut fence = Fence::numbered(0);
    for (number, term) in [(1, LONG), (2, LONG), (3, NONE)] {
        fence = open().claim(&test_run.id, &acquire("one", term))?.fence;
        assert_eq!(fence.number, number);
    }
    open().claim(&test_run.id, &Claim::Release { fence })?;
    for claim in [Claim::Renew { fence, term: LONG }, Claim::Release { fence }] {
        let refused = open().claim(&test_run.id, &claim);
        assert!(matches!(refused, Err(Error::Fenced { .. })), "{refused:?}");
    }
    let next = open().claim(&test_run.id, &acquire("two", LONG))?;
    assert_eq!(next.fence.number, 4);
    Ok(())
}

pub(super) fn a_stale_fence_stores_nothing(open: Open<'_>) -> Checked {
    let test_run = TestRun::new("r-1")?;
    test_run.begin(&mut *open())?;
    let old = open().claim(&test_run.id, &acquire("one", NONE))?;
    let new = open().claim(&test_run.id, &acquire("two", LONG))?;
    let write = |seen, fence| {
        let commit = Commit {
            fence: Some(fence),
            ..test_run.commit(seen)
        };
        open().transact(&commit, &mut |_| decision(&[note("driven")]))
    };
    let refused = write(1, old.fence);
    let told = matches!(
        &refused,
        Err(Error::Fenced { given, last, .. }) if *given == old.fence && *last == new.fence
    );
    assert!(told, "{refused:?}");
    assert_eq!(open().journal(&test_run.id, 1, 100)?.len(), 1);
    assert!(matches!(write(1, new.fence)?, Transacted::Done { .. }));
    open().claim(&test_run.id, &Claim::Release { fence: new.fence })?;
    assert!(matches!(write(2, new.fence), Err(Error::Fenced { .. })));
    // Hooks write without a lease: the version alone keeps them in order.
    assert!(matches!(
        test_run.add(&mut *open(), 2, &[note("a hook")])?,
        Transacted::Done { .. }
    ));
    Ok(())
}
