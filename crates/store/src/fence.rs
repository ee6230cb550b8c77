//! Fences: they distinguish an old writer of a run from the current one.

/// A lease as a writer shows it: its number, and the claim that got it.
///
/// The number only grows, and writers with an old one are refused. A database that lost its last moments, in a fail-over
/// to a replica that was behind, gives a number again; a claim it never gives again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fence {
    pub number: u64,
    /// Random where machines share the store. A store in a folder forgets no lease, so there it is always 0.
    pub claim: u128,
}

impl Fence {
    /// Of a store in a folder.
    pub const fn numbered(number: u64) -> Self {
        Self { number, claim: 0 }
    }
}
