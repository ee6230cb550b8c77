//! A pipeline: a definition that has passed every check and proof.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::check;
use crate::definition::Definition;
use crate::names::StageName;
use crate::problem::{Problem, Severity};
use crate::stage::Stage;

/// Holding one means that the definition has passed `new`: names resolve, loops end, proofs hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    definition: Definition,
    places: BTreeMap<StageName, usize>,
}

/// A pipeline with the warnings of the checker.
#[derive(Clone, Debug)]
pub struct Checked {
    pub pipeline: Pipeline,
    pub warnings: Vec<Problem>,
}

impl Pipeline {
    /// Checks a definition. `lint`, `start` and every other way to a run come through here.
    #[expect(
        clippy::new_ret_no_self,
        reason = "the warnings come with the pipeline"
    )]
    pub fn new(definition: Definition) -> Result<Checked, Vec<Problem>> {
        let problems = check::check(&definition);
        if problems
            .iter()
            .any(|problem| problem.rule.severity() == Severity::Error)
        {
            return Err(problems);
        }
        Ok(Checked {
            pipeline: Self::index(definition),
            warnings: problems,
        })
    }

    /// Takes a definition back out of our own cache, where only checked ones are put.
    pub fn from_cache(definition: Definition) -> Self {
        Self::index(definition)
    }

    fn index(definition: Definition) -> Self {
        let names = definition.stages.iter().enumerate();
        let places = names
            .map(|(place, stage)| (stage.name.clone(), place))
            .collect();
        Self { definition, places }
    }

    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    pub fn stage(&self, name: &StageName) -> Option<&Stage> {
        self.definition.stages.get(*self.places.get(name)?)
    }
}
