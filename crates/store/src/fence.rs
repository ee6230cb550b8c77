//! Fences: numbers that distinguish an old writer of a run from the current one.

/// The number of a lease. It only grows; writers with an old number are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fence(pub u64);
