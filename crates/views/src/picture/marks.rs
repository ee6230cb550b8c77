//! What a run adds to the picture of its pipeline: where it is, where it was, and how often.

use std::collections::BTreeMap;

use engine::{Entry, Run, StageName};

use crate::facts::WayCounts;

/// A run, with the stages that it entered and the ways that it took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunMarks<'a> {
    pub run: &'a Run,
    /// How often the run entered each stage.
    pub entered: BTreeMap<StageName, u32>,
    /// How often it went from one stage to another.
    pub taken: BTreeMap<(StageName, StageName), u32>,
}

impl<'a> RunMarks<'a> {
    /// The place and the counts of a run whose journal is not at hand.
    pub fn of_place(run: &'a Run) -> Self {
        Self {
            run,
            entered: BTreeMap::from([(run.position.stage.clone(), 1)]),
            taken: BTreeMap::new(),
        }
    }

    /// The same, with every way that the journal tells of.
    pub fn of_journal<'e>(run: &'a Run, entries: impl IntoIterator<Item = &'e Entry>) -> Self {
        let mut ways = WayCounts::default();
        for entry in entries {
            ways.add(&entry.fact);
        }
        Self::of_ways(run, &ways)
    }

    /// The same, with ways that somebody has counted.
    pub fn of_ways(run: &'a Run, ways: &WayCounts) -> Self {
        let WayCounts { entered, taken } = ways.clone();
        let mut marks = Self {
            run,
            entered,
            taken,
        };
        marks.entered.entry(run.position.stage.clone()).or_insert(1);
        marks
    }

    pub(super) fn is_here(&self, stage: &StageName) -> bool {
        self.run.position.stage == *stage
    }

    /// How often the run has left the stage.
    pub(super) fn passed(&self, stage: &StageName) -> u32 {
        let entered = self.entered.get(stage).copied().unwrap_or(0);
        entered.saturating_sub(u32::from(self.is_here(stage)))
    }

    pub(super) fn taken(&self, from: &StageName, to: &StageName) -> u32 {
        let way = (from.clone(), to.clone());
        self.taken.get(&way).copied().unwrap_or(0)
    }
}
