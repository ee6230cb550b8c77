//! How often a run entered each stage and went from one to another, counted entry by entry.

use std::collections::BTreeMap;

use engine::{Fact, StageName, arrival};

/// All stages and ways of a run, however long it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WayCounts {
    /// How often the run entered each stage.
    pub entered: BTreeMap<StageName, u32>,
    /// How often it went from one stage to another.
    pub taken: BTreeMap<(StageName, StageName), u32>,
}

impl WayCounts {
    /// Counts what the next entry says.
    pub fn add(&mut self, fact: &Fact) {
        if let Fact::Moved(way) = fact {
            let taken = self.taken.entry((way.from.clone(), way.to.clone()));
            *taken.or_insert(0) += 1;
            self.entered.entry(way.from.clone()).or_insert(1);
        }
        let stage = match fact {
            Fact::Restored { state, .. } => Some(&state.position.stage),
            other => arrival(other),
        };
        if let Some(stage) = stage {
            *self.entered.entry(stage.clone()).or_insert(0) += 1;
        }
    }
}
