//! What a piece of work must leave behind, and which of it carries the verdict.

use alloc::vec::Vec;

use crate::decide::APPROVED;
use crate::definition::{Artifact, Definition, OutcomeField};
use crate::names::{AgentName, ArtifactName};
use crate::pattern::AgentPattern;
use crate::pipeline::Pipeline;
use crate::run::{Dispatch, Duty, Fault};
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
    /// The artifacts whose writing is over when the stage is left with this word. A fault and a review
    /// that goes on deliver nothing.
    pub fn delivers(&self, word: &str) -> Vec<&ArtifactName> {
        if Fault::parse(word).is_some() {
            return Vec::new();
        }
        match &self.work {
            Work::Agent(work) => {
                let told = work.leaves.by_outcome.iter();
                let told = told.filter(|(outcome, _)| outcome.as_str() == word);
                let told = told.flat_map(|(_, names)| names);
                work.leaves.always.iter().chain(told).collect()
            }
            Work::Open(work) => work.leaves.iter().flat_map(|(_, names)| names).collect(),
            Work::End(work) => work.leaves.iter().flat_map(|(_, names)| names).collect(),
            Work::Review(work) if word == APPROVED => work.fixes.iter().collect(),
            Work::Steps(work) if word == "done" => work.leaves.iter().collect(),
            Work::Review(_) | Work::Steps(_) | Work::Check(_) | Work::Ask(_) => Vec::new(),
        }
    }
}

/// What the work of this dispatch must leave behind.
pub fn leaves_of(pipeline: &Pipeline, dispatch: &Dispatch) -> Leaves {
    let Some(stage) = pipeline.stage(&dispatch.stage) else {
        return Leaves::default();
    };
    duty_leaves(
        pipeline.definition(),
        stage,
        &dispatch.duty,
        &dispatch.agent,
    )
}

pub(crate) fn duty_leaves(
    definition: &Definition,
    stage: &Stage,
    duty: &Duty,
    agent: &AgentName,
) -> Leaves {
    match (&stage.work, duty) {
        (Work::Agent(work), Duty::Work) => work.leaves.clone(),
        (Work::Open(work), Duty::Open) => left_by(definition, &work.leaves, agent),
        (Work::End(work), Duty::Open) => left_by(definition, &work.leaves, agent),
        (Work::Review(work), Duty::Review { reviewer }) => {
            let member = work.panel.get(*reviewer as usize);
            Leaves {
                always: member.map(|m| m.leaves.clone()).into_iter().collect(),
                ..Leaves::default()
            }
        }
        (Work::Review(work), Duty::Fix { .. }) => Leaves::of(&work.fixes),
        (Work::Steps(work), Duty::Step { .. }) => Leaves::of(&work.leaves),
        _ => Leaves::default(),
    }
}

fn left_by(
    definition: &Definition,
    leaves: &[(AgentPattern, Vec<ArtifactName>)],
    agent: &AgentName,
) -> Leaves {
    let mine = leaves
        .iter()
        .filter(|(who, _)| definition.covers(who, agent.as_str()));
    let always = mine
        .flat_map(|(_, artifacts)| artifacts.iter().cloned())
        .collect();
    Leaves {
        always,
        ..Leaves::default()
    }
}

/// The artifact whose field tells the outcome, if one of these does.
pub(crate) fn verdict<'a>(
    definition: &'a Definition,
    leaves: &Leaves,
) -> Option<(ArtifactName, &'a OutcomeField)> {
    leaves.all().into_iter().find_map(|name| {
        let Artifact { outcome, .. } = definition.artifacts.get(name)?;
        outcome.as_ref().map(|outcome| (name.clone(), outcome))
    })
}
