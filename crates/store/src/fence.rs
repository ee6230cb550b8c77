//! Fences: the numbers that tell an old writer of a run from the present one.

/// The number of a lease. It only grows; a writer with an old one is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fence(pub u64);
