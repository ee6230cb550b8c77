//! Leases: at most one orchestrator drives a run, and each lease has its own number.

use engine::{RunId, Time};

use crate::error::Error;
use crate::fence::Fence;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub holder: String,
    pub fence: Fence,
    pub until: Time,
}

/// A request about a run's lease. The caller gives the time: the store has no clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim<'a> {
    /// Takes it, if nobody else holds it at `now`. The same holder gets a new number.
    Acquire {
        holder: &'a str,
        now: Time,
        until: Time,
    },
    /// Extends it. An expired lease can be extended as long as nobody else took it.
    Renew {
        fence: Fence,
        until: Time,
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

impl LeaseState {
    pub(crate) fn lease(&self) -> Option<Lease> {
        let (holder, until) = self.held.clone()?;
        Some(Lease {
            holder,
            fence: Fence(self.last_fence),
            until,
        })
    }

    /// The lease and the state after the claim, or why it is refused.
    pub(crate) fn claimed(&self, run: &RunId, claim: &Claim<'_>) -> Result<(Lease, Self), Error> {
        let lease = match *claim {
            Claim::Acquire { holder, now, until } => {
                self.free_for(run, holder, now)?;
                Lease {
                    holder: holder.to_owned(),
                    fence: Fence(self.last_fence.saturating_add(1)),
                    until,
                }
            }
            Claim::Renew { fence, until } => Lease {
                until,
                ..self.current(run, fence)?
            },
            Claim::Release { fence } => self.current(run, fence)?,
        };
        let held = match claim {
            Claim::Release { .. } => None,
            Claim::Acquire { .. } | Claim::Renew { .. } => {
                Some((lease.holder.clone(), lease.until))
            }
        };
        let state = Self {
            last_fence: lease.fence.0,
            held,
        };
        Ok((lease, state))
    }

    fn free_for(&self, run: &RunId, asking: &str, now: Time) -> Result<(), Error> {
        match &self.held {
            Some((holder, until)) if *until > now && holder != asking => Err(Error::Held {
                run: run.clone(),
                holder: holder.clone(),
                until: *until,
            }),
            _ => Ok(()),
        }
    }

    /// The current lease, if it has this number.
    pub(crate) fn current(&self, run: &RunId, fence: Fence) -> Result<Lease, Error> {
        let last = Fence(self.last_fence);
        let lease = self.lease().filter(|lease| lease.fence == fence);
        lease.ok_or_else(|| Error::Fenced {
            run: run.clone(),
            given: fence,
            last,
        })
    }
}
