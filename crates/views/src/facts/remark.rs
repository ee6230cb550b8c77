//! Remarks: what a reader of a run must not overlook, and what people did, each with its entry.

use engine::{Entry, Fact, Time};

use crate::fact::{AgentNames, sentence};
use crate::safe::Untrusted;

/// One entry of the journal that somebody must be able to find again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// `gatewright why RUN NUMBER` explains it.
    pub number: u64,
    pub at: Time,
    pub kind: RemarkKind,
    /// Who caused it.
    pub by: Untrusted,
    /// The code of the rule by which it was decided.
    pub rule: &'static str,
    pub text: Untrusted,
}

/// Why an entry is remarkable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemarkKind {
    /// Something was not allowed.
    Refused,
    /// A person skipped a stage.
    Overridden,
    /// A person switched the guards off for a while.
    Bypassed,
    /// The host continued without a judgement.
    Unjudged,
    /// No hook saw it.
    Unguarded,
    /// Something outside a worker's folder changed.
    Outside,
    /// A warning of the run itself.
    Warned,
    /// What a person decided or said otherwise.
    Person,
}

impl RemarkKind {
    pub fn word(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Overridden => "overridden",
            Self::Bypassed => "bypassed",
            Self::Unjudged => "unjudged",
            Self::Unguarded => "unguarded",
            Self::Outside => "outside",
            Self::Warned => "warned",
            Self::Person => "person",
        }
    }

    fn of(fact: &Fact) -> Option<Self> {
        match fact {
            Fact::Refused { .. } => Some(Self::Refused),
            Fact::Overridden { .. } => Some(Self::Overridden),
            Fact::Bypassed { .. } => Some(Self::Bypassed),
            Fact::Unevaluated { .. } => Some(Self::Unjudged),
            Fact::Unguarded(_) => Some(Self::Unguarded),
            Fact::ChangedOutside(_) => Some(Self::Outside),
            Fact::Warned { .. } | Fact::DeliveryFailed { .. } => Some(Self::Warned),
            Fact::AcceptedUnguarded { .. }
            | Fact::Answered { .. }
            | Fact::Approved { .. }
            | Fact::Continued { .. }
            | Fact::Cancelled { .. }
            | Fact::Reset { .. }
            | Fact::Restored { .. }
            | Fact::Adopted { .. }
            | Fact::Unstuck
            | Fact::Halted { .. }
            | Fact::TaskGiven { .. }
            | Fact::Vouched { .. } => Some(Self::Person),
            // The rest is the ordinary course of a run.
            _ => None,
        }
    }
}

impl Remark {
    /// The remark that this entry is, if it is one.
    pub(super) fn of(number: u64, entry: &Entry, names: &AgentNames) -> Option<Self> {
        Some(Self {
            kind: RemarkKind::of(&entry.fact)?,
            number,
            at: entry.at,
            by: Untrusted::new(entry.by.name()),
            rule: entry.rule.code(),
            text: sentence(entry, names),
        })
    }

    /// What a reader must not overlook, other than what people decided.
    pub fn is_mark(&self) -> bool {
        self.kind != RemarkKind::Person
    }
}
