//! Transitions: where an edge can lead, and where `@interrupted` leads back to.

use alloc::vec::Vec;

use crate::definition::Definition;
use crate::names::StageName;
use crate::run::Resume;
use crate::stage::{Edge, Stage, Target};

/// Where an edge can lead, ignoring counters: one stage, or one for each choice of a parameter.
pub fn edge_targets(
    definition: &Definition,
    edge: &Edge,
    resume: Option<&Resume>,
) -> Vec<StageName> {
    match &edge.to {
        Target::Stage(stage) => Vec::from([stage.clone()]),
        Target::Interrupted => resume.map(|resume| resume.to.clone()).into_iter().collect(),
        Target::Param(param) => {
            let choices = definition
                .params
                .get(param)
                .map(|param| param.choices.as_slice());
            let stages = choices.unwrap_or_default().iter();
            stages
                .filter_map(|choice| StageName::parse(choice).ok())
                .collect()
        }
    }
}

/// Where `@interrupted` leads from a stage that is entered: to the target that a full counter blocked,
/// else back to where the run came from. Stages without such an edge remember nothing.
pub(crate) fn resume_at(to: &Stage, from: &StageName, barred: Option<Resume>) -> Option<Resume> {
    let back = || Resume {
        to: from.clone(),
        count: None,
        artifact: None,
    };
    to.resumes().then(|| barred.unwrap_or_else(back))
}
