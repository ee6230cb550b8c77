//! Guarantees about leases.

use engine::Time;

use super::test_run::{TestRun, decision, note};
use super::{Checked, Open};
use crate::{Claim, Commit, Error, Fence, Lease, Transacted};

fn acquire(holder: &str, now: u64) -> Claim<'_> {
    Claim::Acquire {
        holder,
        now: Time(now),
        until: Time(now + 100),
    }
}

pub(super) fn a_run_is_held_by_one_holder(open: Open<'_>) -> Checked {
    let test_run = TestRun::new("r-1")?;
    test_run.begin(&mut *open())?;
    let claim = |claim| open().claim(&test_run.id, &claim);
    assert_eq!(open().lease(&test_run.id)?, None);
    let held = claim(acquire("one", 1_000))?;
    assert_eq!(
        held,
        Lease {
            holder: "one".to_owned(),
            fence: Fence(1),
            until: Time(1_100)
        }
    );
    assert_eq!(open().lease(&test_run.id)?, Some(held));
    let refused = claim(acquire("two", 1_099));
    assert!(
        matches!(&refused, Err(Error::Held { holder, .. }) if holder == "one"),
        "{refused:?}"
    );

    let renewed = claim(Claim::Renew {
        fence: Fence(1),
        until: Time(1_500),
    })?;
    assert_eq!(renewed.until, Time(1_500));
    assert!(matches!(
        claim(acquire("two", 1_499)),
        Err(Error::Held { .. })
    ));
    assert_eq!(claim(acquire("two", 1_500))?.fence, Fence(2));

    assert!(matches!(
        claim(Claim::Release { fence: Fence(1) }),
        Err(Error::Fenced { .. })
    ));
    claim(Claim::Release { fence: Fence(2) })?;
    assert_eq!(open().lease(&test_run.id)?, None);
    assert_eq!(claim(acquire("one", 0))?.holder, "one");
    Ok(())
}

pub(super) fn the_number_of_a_lease_only_grows(open: Open<'_>) -> Checked {
    let test_run = TestRun::new("r-1")?;
    test_run.begin(&mut *open())?;
    // The same holder, a clock that goes backwards, a release in between: always a new number.
    for (number, now) in [(1, 5_000), (2, 5_000), (3, 1)] {
        let lease = open().claim(&test_run.id, &acquire("one", now))?;
        assert_eq!(lease.fence, Fence(number));
    }
    open().claim(&test_run.id, &Claim::Release { fence: Fence(3) })?;
    for claim in [
        Claim::Renew {
            fence: Fence(3),
            until: Time(9_000),
        },
        Claim::Release { fence: Fence(3) },
    ] {
        let refused = open().claim(&test_run.id, &claim);
        assert!(matches!(refused, Err(Error::Fenced { .. })), "{refused:?}");
    }
    assert_eq!(
        open().claim(&test_run.id, &acquire("two", 1))?.fence,
        Fence(4)
    );
    Ok(())
}

pub(super) fn a_stale_fence_stores_nothing(open: Open<'_>) -> Checked {
    let test_run = TestRun::new("r-1")?;
    test_run.begin(&mut *open())?;
    let old = open().claim(&test_run.id, &acquire("one", 1_000))?;
    let new = open().claim(&test_run.id, &acquire("two", 2_000))?;
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
