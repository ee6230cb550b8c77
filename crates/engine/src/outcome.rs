//! Outcomes that the engine itself knows: the verdicts of a review, and faults.

/// The words that a reviewer's verdict may mean.
pub const APPROVED: &str = "approved";
pub const NEEDS_CHANGES: &str = "needs_changes";
pub const NEEDS_CLARIFICATION: &str = "needs_clarification";
pub const EXCEEDED: &str = "exceeded";

/// Outcomes that the engine adds to every stage in which an agent works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    Crashed,
    /// No artifact, an invalid one, or one of an earlier attempt.
    Missing,
    /// No tool use and nothing left.
    Hollow,
    Timeout,
    /// The tree changed outside the stage's `writes`.
    Strayed,
    /// Its changes do not go together with what others did meanwhile.
    Conflict,
    /// The service that it works with says: later.
    Limited,
}

impl Fault {
    pub const ALL: [Self; 7] = [
        Self::Crashed,
        Self::Missing,
        Self::Hollow,
        Self::Timeout,
        Self::Strayed,
        Self::Conflict,
        Self::Limited,
    ];

    /// The word that `on` knows it by.
    pub fn word(self) -> &'static str {
        match self {
            Self::Crashed => "crashed",
            Self::Missing => "missing",
            Self::Hollow => "hollow",
            Self::Timeout => "timeout",
            Self::Strayed => "strayed",
            Self::Conflict => "conflict",
            Self::Limited => "limited",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fault| fault.word() == word)
    }
}
