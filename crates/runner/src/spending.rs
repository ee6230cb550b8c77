//! What the workers of a run use together before the journal has it, and whether that is too much.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use engine::{DispatchId, Usage};

/// Shared by all workers of a run.
#[derive(Debug, Default)]
pub struct Spending {
    in_flight: Mutex<BTreeMap<DispatchId, Usage>>,
    is_over: AtomicBool,
}

impl Spending {
    /// This worker has used this much that the journal does not have. Returns the sum of all workers.
    pub fn note(&self, dispatch: DispatchId, usage: Usage) -> Usage {
        let mut in_flight = self
            .in_flight
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        in_flight.insert(dispatch, usage);
        let all = in_flight.values().copied();
        all.fold(Usage::default(), Usage::and)
    }

    /// What all workers have used that the journal does not have.
    pub fn in_flight(&self) -> Usage {
        let in_flight = self
            .in_flight
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let all = in_flight.values().copied();
        all.fold(Usage::default(), Usage::and)
    }

    /// The journal has what this worker used.
    pub fn settled(&self, dispatch: DispatchId) {
        let mut in_flight = self
            .in_flight
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        in_flight.remove(&dispatch);
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
