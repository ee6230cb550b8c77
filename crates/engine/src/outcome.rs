//! Outcomes: the words with which a stage ends. Those that the engine knows are variants.

use alloc::string::String;
use core::cmp::Ordering;
use core::fmt;

use crate::names::{NameError, parse};

/// The word with which a stage ends.
///
/// Holding one means that it has passed `parse`, which finds the variant of every known word.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Work that tells no verdict of its own is done, and so is a task graph.
    Done,
    /// A check passed.
    Passed,
    /// A check or a task graph failed.
    Failed,
    /// A reviewer, and in the end the whole panel, approves.
    Approved,
    /// A reviewer found something that the owner fixes.
    NeedsChanges,
    /// A reviewer cannot judge before a person has answered.
    NeedsClarification,
    /// A review has used up its rounds.
    Exceeded,
    /// A person has answered a worker's questions.
    Answered,
    /// A person ends an open stage.
    Finish,
    /// A person continues a stopped run.
    Continue,
    /// No rule of a route holds.
    Otherwise,
    /// Work went wrong in a way that the engine names.
    Fault(Fault),
    /// A word that only its definition uses.
    Custom(CustomOutcome),
}

/// A word without a meaning of the engine's own. Only `Outcome::parse` makes one.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct CustomOutcome(String);

impl Outcome {
    /// The known words that are not faults.
    const KNOWN: [Self; 11] = [
        Self::Done,
        Self::Passed,
        Self::Failed,
        Self::Approved,
        Self::NeedsChanges,
        Self::NeedsClarification,
        Self::Exceeded,
        Self::Answered,
        Self::Finish,
        Self::Continue,
        Self::Otherwise,
    ];

    pub fn parse(text: &str) -> Result<Self, NameError> {
        if let Some(known) = Self::KNOWN.into_iter().find(|known| known.as_str() == text) {
            return Ok(known);
        }
        if let Some(fault) = Fault::parse(text) {
            return Ok(Self::Fault(fault));
        }
        parse(text, &[]).map(|word| Self::Custom(CustomOutcome(word)))
    }

    pub fn as_str(&self) -> &str {
        match self {
            Self::Done => "done",
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Approved => "approved",
            Self::NeedsChanges => "needs_changes",
            Self::NeedsClarification => "needs_clarification",
            Self::Exceeded => "exceeded",
            Self::Answered => "answered",
            Self::Finish => "finish",
            Self::Continue => "continue",
            Self::Otherwise => "otherwise",
            Self::Fault(fault) => fault.word(),
            Self::Custom(CustomOutcome(word)) => word,
        }
    }

    pub fn is_fault(&self) -> bool {
        matches!(self, Self::Fault(_))
    }
}

/// By their words, whatever the engine knows of them: people read them in this order.
impl Ord for Outcome {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl PartialOrd for Outcome {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Debug for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Outcome").field(&self.as_str()).finish()
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

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
    /// Its changes conflict with what others did meanwhile.
    Conflict,
    /// The service that it uses is rate-limited.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_word_is_its_variant_and_every_word_reads_as_it_was_written() {
        let known = Outcome::KNOWN.into_iter();
        for outcome in known.chain(Fault::ALL.map(Outcome::Fault)) {
            assert_eq!(Outcome::parse(outcome.as_str()), Ok(outcome));
        }
        for word in ["retry_later", "Done", "approved-2"] {
            let outcome = Outcome::parse(word).unwrap();
            assert!(matches!(outcome, Outcome::Custom(_)), "{word}");
            assert_eq!(outcome.as_str(), word);
        }
        assert_eq!(Outcome::parse(""), Err(NameError::Empty));
    }

    #[test]
    fn outcomes_are_ordered_by_their_words() {
        let words = ["approved", "crashed", "done", "else", "passed"];
        let outcomes = words.map(|word| Outcome::parse(word).unwrap());
        assert!(outcomes.is_sorted());
    }
}
