//! Leases: at most one orchestrator drives a run, and each lease has its own number.
//!
//! Whether a lease has expired is judged by the clock of the store and by no other: the machine's for a
//! store in a folder, the database's for one that machines share. So no caller hands a time over.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use engine::{RunId, Time};

use crate::error::Error;
use crate::fence::Fence;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub holder: String,
    pub fence: Fence,
    /// By the clock of the store.
    pub until: Time,
    /// Had it expired when the store answered? Its holder keeps it until somebody else takes it.
    pub is_expired: bool,
}

/// A request about a run's lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim<'a> {
    /// Takes it for this long, if nobody else holds it. The same holder gets a new number.
    Acquire {
        holder: &'a str,
        term: Duration,
        /// The lease whose holder the caller knows to be dead: it is taken before it expires.
        dead: Option<Fence>,
    },
    /// Extends it from now on. An expired lease can be extended as long as nobody else took it.
    Renew {
        fence: Fence,
        term: Duration,
    },
    Release {
        fence: Fence,
    },
}

/// The stored state of a run's lease: the last number outlives the lease.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LeaseState {
    pub last_fence: u64,
    pub held: Option<(String, Time)>,
}

/// The clock of the stores on this machine: milliseconds since 1970 in UTC.
pub(crate) fn machine_clock() -> Time {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Time(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

impl LeaseState {
    /// The lease at this time of the store's clock.
    pub(crate) fn lease(&self, now: Time) -> Option<Lease> {
        let (holder, until) = self.held.clone()?;
        Some(Lease {
            holder,
            fence: Fence::numbered(self.last_fence),
            until,
            is_expired: until <= now,
        })
    }

    /// The lease and the state after the claim, or why it is refused.
    pub(crate) fn claimed(
        &self,
        run: &RunId,
        claim: &Claim<'_>,
        now: Time,
    ) -> Result<(Lease, Self), Error> {
        let (last_fence, holder, until) = match *claim {
            Claim::Acquire { holder, term, dead } => {
                self.free_for(run, holder, dead, now)?;
                let next = self.last_fence.saturating_add(1);
                (next, holder.to_owned(), after(now, term))
            }
            Claim::Renew { fence, term } => {
                let (holder, _) = self.current(run, fence)?;
                (self.last_fence, holder.clone(), after(now, term))
            }
            Claim::Release { fence } => {
                let (holder, until) = self.current(run, fence)?;
                (self.last_fence, holder.clone(), *until)
            }
        };
        let held = match claim {
            Claim::Release { .. } => None,
            Claim::Acquire { .. } | Claim::Renew { .. } => Some((holder.clone(), until)),
        };
        let lease = Lease {
            holder,
            fence: Fence::numbered(last_fence),
            until,
            is_expired: until <= now,
        };
        Ok((lease, Self { last_fence, held }))
    }

    fn free_for(
        &self,
        run: &RunId,
        asking: &str,
        dead: Option<Fence>,
        now: Time,
    ) -> Result<(), Error> {
        match &self.held {
            Some((holder, until))
                if *until > now
                    && holder != asking
                    && dead != Some(Fence::numbered(self.last_fence)) =>
            {
                Err(Error::Held {
                    run: run.clone(),
                    holder: holder.clone(),
                    until: *until,
                })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Holder and end of the current lease, if it has this number.
    pub(crate) fn current(&self, run: &RunId, fence: Fence) -> Result<&(String, Time), Error> {
        let held = self
            .held
            .as_ref()
            .filter(|_| fence == Fence::numbered(self.last_fence));
        held.ok_or_else(|| Error::Fenced {
            run: run.clone(),
            given: fence,
            last: Fence::numbered(self.last_fence),
        })
    }
}

fn after(now: Time, term: Duration) -> Time {
    let term = u64::try_from(term.as_millis()).unwrap_or(u64::MAX);
    Time(now.0.saturating_add(term))
}
