//! What a stage leaves behind, and which of it carries the verdict.

use alloc::vec::Vec;

use crate::definition::{Artifact, Definition, OutcomeField};
use crate::names::ArtifactName;
use crate::outcome::Outcome;
use crate::stage::{Leaves, Stage, Work};

impl Leaves {
    /// Everything that may be left, each artifact once.
    pub fn all(&self) -> Vec<&ArtifactName> {
        let mut all: Vec<&ArtifactName> = self
            .always
            .iter()
            .chain(self.by_outcome.values().flatten())
            .collect();
        all.sort();
        all.dedup();
        all
    }

    pub fn of(artifacts: &[ArtifactName]) -> Self {
        Self {
            always: artifacts.to_vec(),
            ..Self::default()
        }
    }
}

impl Stage {
    /// The artifacts whose writing is over when the stage is left with this outcome, or after an agent.
    /// A fault and an unfinished review deliver nothing.
    pub fn delivers(&self, outcome: Option<&Outcome>) -> Vec<&ArtifactName> {
        if outcome.is_some_and(Outcome::is_fault) {
            return Vec::new();
        }
        match &self.work {
            Work::Agent(work) => {
                let told = outcome.and_then(|outcome| work.leaves.by_outcome.get(outcome));
                let told = told.into_iter().flatten();
                work.leaves.always.iter().chain(told).collect()
            }
            Work::Open(work) => work.leaves.iter().flat_map(|(_, names)| names).collect(),
            Work::End(work) => work.leaves.iter().flat_map(|(_, names)| names).collect(),
            Work::Review(work) if outcome == Some(&Outcome::Approved) => {
                work.fixes.iter().collect()
            }
            Work::Steps(work) if outcome == Some(&Outcome::Done) => work.leaves.iter().collect(),
            Work::Review(_) | Work::Steps(_) | Work::Check(_) | Work::Ask(_) | Work::Route(_) => {
                Vec::new()
            }
        }
    }
}

/// The artifact whose field decides the outcome, if there is one.
pub(crate) fn verdict<'a>(
    definition: &'a Definition,
    leaves: &Leaves,
) -> Option<(ArtifactName, &'a OutcomeField)> {
    leaves.all().into_iter().find_map(|name| {
        let Artifact { outcome, .. } = definition.artifacts.get(name)?;
        outcome.as_ref().map(|outcome| (name.clone(), outcome))
    })
}
