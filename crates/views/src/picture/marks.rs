//! What a run adds to the picture of its pipeline: where it is, where it was, and how often.

use std::collections::BTreeMap;

use engine::{Entry, Fact, Run, StageName, arrival};

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
        let mut marks = Self::before_journal(run);
        for entry in entries {
            marks.add(entry);
        }
        marks.after_journal()
    }

    /// For those who read the journal entry by entry: nothing is counted yet.
    pub fn before_journal(run: &'a Run) -> Self {
        Self {
            run,
            entered: BTreeMap::new(),
            taken: BTreeMap::new(),
        }
    }

    /// All entries were added.
    pub fn after_journal(mut self) -> Self {
        let here = self.run.position.stage.clone();
        self.entered.entry(here).or_insert(1);
        self
    }

    pub fn add(&mut self, entry: &Entry) {
        let fact = &entry.fact;
        if let Fact::Moved(way) = fact {
            let taken = self.taken.entry((way.from.clone(), way.to.clone()));
            *taken.or_insert(0) += 1;
            self.entered.entry(way.from.clone()).or_insert(1);
        }
        if let Some(stage) = arrival(fact) {
            *self.entered.entry(stage.clone()).or_insert(0) += 1;
        }
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
