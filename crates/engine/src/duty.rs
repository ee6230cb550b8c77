//! Duties: the settings of the worker with a duty, and what it must leave.

use alloc::vec::Vec;

use crate::definition::Definition;
use crate::names::{AgentName, ArtifactName};
use crate::pattern::AgentPattern;
use crate::pipeline::Pipeline;
use crate::run::{Dispatch, Duty};
use crate::stage::{Fallback, Leaves, Stage, Work, WorkerSettings};

/// How the worker with this duty is started, where its stage says so.
pub(crate) fn settings<'a>(stage: &'a Stage, duty: &Duty) -> Option<&'a WorkerSettings> {
    match (&stage.work, duty) {
        (Work::Agent(work), Duty::Work) => Some(&work.settings),
        (Work::Steps(work), Duty::Step { .. }) => Some(&work.settings),
        (Work::Review(work), Duty::Review { reviewer }) => {
            let member = work.panel.get(*reviewer as usize)?;
            Some(&member.settings)
        }
        (Work::Review(work), Duty::Fix { .. }) => Some(&work.owner_settings),
        _ => None,
    }
}

impl WorkerSettings {
    /// The program and the model of the worker, then those of each fallback. A model belongs to its
    /// program: another program without a named model chooses its own.
    pub fn services(&self) -> impl Iterator<Item = Fallback> {
        let first = Fallback {
            runner: self.runner.clone(),
            model: self.model.clone(),
        };
        let others = self.fallbacks.iter().map(|other| Fallback {
            runner: other.runner.clone().or_else(|| self.runner.clone()),
            model: other.model.clone(),
        });
        core::iter::once(first).chain(others)
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
