//! What the workers of a run use together before the journal has it, and whether that is too much.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use engine::{DispatchId, Usage};

/// Shared by all workers of a run.
#[derive(Debug, Default)]
pub struct Spending {
    workers: Mutex<Workers>,
    is_over: AtomicBool,
    /// One at a time tells the fleet what is reserved: a later word replaces an earlier one.
    telling: Mutex<()>,
}

#[derive(Debug, Default)]
struct Workers {
    at_work: BTreeSet<DispatchId>,
    in_flight: BTreeMap<DispatchId, Usage>,
    /// Up to which cost in flight each may go, where a cap of the fleet has reserved it.
    reserved_up_to: BTreeMap<DispatchId, u64>,
}

impl Workers {
    /// What all of them have used that the journal does not have.
    fn used(&self) -> Usage {
        let all = self.in_flight.values().copied();
        all.fold(Usage::default(), Usage::and)
    }

    /// What this worker has used that the journal does not have.
    fn cents_of(&self, dispatch: DispatchId) -> u64 {
        let usage = self.in_flight.get(&dispatch);
        usage.map_or(0, |usage| usage.cost_cents)
    }

    fn reserved_cents(&self) -> u64 {
        let up_to = self.reserved_up_to.iter();
        let left = up_to.map(|(dispatch, most)| most.saturating_sub(self.cents_of(*dispatch)));
        left.fold(0, u64::saturating_add)
    }
}

impl Spending {
    fn workers(&self) -> MutexGuard<'_, Workers> {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// This worker begins to work.
    pub fn begin(&self, dispatch: DispatchId) {
        self.workers().at_work.insert(dispatch);
    }

    /// This worker has used this much that the journal does not have. Returns the sum of all workers.
    pub fn note(&self, dispatch: DispatchId, usage: Usage) -> Usage {
        let mut workers = self.workers();
        workers.in_flight.insert(dispatch, usage);
        workers.used()
    }

    /// What all workers have used that the journal does not have.
    pub fn in_flight(&self) -> Usage {
        self.workers().used()
    }

    /// What each worker gets if all that are at work share this evenly.
    pub fn share(&self, cents: u64) -> u64 {
        let at_work = self.workers().at_work.len();
        cents.div_ceil(u64::try_from(at_work).unwrap_or(u64::MAX).max(1))
    }

    /// Nobody else tells the fleet what is reserved while this is held.
    pub(crate) fn turn_to_tell(&self) -> MutexGuard<'_, ()> {
        self.telling.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same; `None` if somebody else tells now.
    pub(crate) fn turn_if_free(&self) -> Option<MutexGuard<'_, ()>> {
        self.telling.try_lock().ok()
    }

    /// The process of this worker may cost this much more.
    pub(crate) fn reserve(&self, dispatch: DispatchId, cents: u64) {
        let mut workers = self.workers();
        let most = workers.cents_of(dispatch).saturating_add(cents);
        workers.reserved_up_to.insert(dispatch, most);
    }

    /// The process of this worker has ended, so nothing is reserved for it.
    pub(crate) fn release(&self, dispatch: DispatchId) {
        self.workers().reserved_up_to.remove(&dispatch);
    }

    /// What all workers may still use of what is reserved.
    pub(crate) fn reserved_cents(&self) -> u64 {
        self.workers().reserved_cents()
    }

    /// The journal has what this worker used, or it is over.
    pub fn settled(&self, dispatch: DispatchId) {
        let mut workers = self.workers();
        workers.in_flight.remove(&dispatch);
        workers.reserved_up_to.remove(&dispatch);
        workers.at_work.remove(&dispatch);
    }

    /// The budget is used up: every worker ends its turn.
    pub fn stop(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// A person has granted the budget again.
    pub fn start(&self) {
        self.is_over.store(false, Ordering::Relaxed);
    }

    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}
