//! Routes: rules over evidence that choose between a shorter and a longer way.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::names::{ParamName, StageName};
use crate::outcome::Outcome;
use crate::pattern::PathGlob;

/// A stage in which the engine itself chooses the way. The first rule that holds gives the outcome;
/// without one it is `otherwise`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteWork {
    pub rules: Vec<RouteRule>,
}

/// One rule of a route. All of its conditions must hold.
///
/// Every condition on the change bounds it from above: what grows can only fall out of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteRule {
    pub outcome: Outcome,
    /// No more files have changed since the run began.
    pub files: Option<u32>,
    /// No more lines were added and removed in them.
    pub lines: Option<u32>,
    /// Every path that changed is covered by one of these; any path where the list is empty.
    pub within: Vec<PathGlob>,
    /// No path that changed is covered by one of these.
    pub avoids: Vec<PathGlob>,
    /// The values that parameters of the run must have.
    pub params: BTreeMap<ParamName, alloc::string::String>,
    /// The outcomes with which these stages were last left: an agent's classification.
    pub verdicts: BTreeMap<StageName, Outcome>,
}

impl RouteRule {
    /// Does it ask for the change since the run began?
    pub fn asks_for_change(&self) -> bool {
        self.files.is_some()
            || self.lines.is_some()
            || !self.within.is_empty()
            || !self.avoids.is_empty()
    }

    /// Can it hold now and no longer hold later? Parameters never change.
    pub(crate) fn can_be_outgrown(&self) -> bool {
        self.asks_for_change() || !self.verdicts.is_empty()
    }

    /// Does it hold whenever that rule holds? Then that rule is never reached behind it.
    pub(crate) fn covers(&self, later: &Self) -> bool {
        let bounds = |mine: Option<u32>, theirs: Option<u32>| {
            mine.is_none_or(|mine| theirs.is_some_and(|theirs| theirs <= mine))
        };
        let within = self.within.is_empty()
            || (!later.within.is_empty()
                && later.within.iter().all(|glob| self.within.contains(glob)));
        let avoids = self.avoids.iter().all(|glob| later.avoids.contains(glob));
        let params = self.params.iter();
        let verdicts = self.verdicts.iter();
        bounds(self.files, later.files)
            && bounds(self.lines, later.lines)
            && within
            && avoids
            && params
                .into_iter()
                .all(|(name, value)| later.params.get(name) == Some(value))
            && verdicts
                .into_iter()
                .all(|(name, word)| later.verdicts.get(name) == Some(word))
    }
}

impl RouteWork {
    pub fn rule(&self, outcome: &Outcome) -> Option<&RouteRule> {
        self.rules.iter().find(|rule| rule.outcome == *outcome)
    }
}
