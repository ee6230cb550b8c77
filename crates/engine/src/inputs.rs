//! Inputs: what a piece of work gets to read.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::definition::Source;
use crate::evidence::Input;
use crate::names::{ArtifactName, Hash, StepId};
use crate::pipeline::Pipeline;
use crate::run::{Duty, Run, TreeAccess};
use crate::stage::{Stage, Work};

/// What the work with this duty gets: the stage's reads, and the artifacts of needed steps.
pub fn inputs(pipeline: &Pipeline, run: &Run, duty: &Duty) -> Vec<Input> {
    let Some(stage) = pipeline.stage(&run.position.stage) else {
        return Vec::new();
    };
    let (reads, found) = match (&stage.work, duty) {
        (Work::Agent(work), Duty::Work) => (&work.reads, None),
        (Work::Review(work), Duty::Review { .. }) => (&work.reads, None),
        (Work::Review(work), Duty::Fix { reviewer }) => (
            &work.reads,
            work.panel
                .get(*reviewer as usize)
                .map(|member| &member.leaves),
        ),
        (Work::Steps(work), Duty::Step { .. }) => (&work.reads, None),
        _ => return Vec::new(),
    };
    let captured = reads
        .all()
        .chain(found)
        .flat_map(|artifact| captured(run, artifact));
    captured.chain(handed_on(run, stage, duty)).collect()
}

/// The artifacts with this name: from each step of a task graph, or from the last worker.
fn captured(run: &Run, artifact: &ArtifactName) -> Vec<Input> {
    let input = |step: Option<&StepId>, content: Hash| Input {
        artifact: artifact.clone(),
        step: step.cloned(),
        content,
    };
    let members = run.graphs.values().flat_map(|graph| &graph.members);
    let by_steps: Vec<Input> = members
        .filter_map(|member| Some(input(Some(&member.step.id), *member.left.get(artifact)?)))
        .collect();
    if !by_steps.is_empty() {
        return by_steps;
    }
    let last = run.artifacts.get(artifact);
    last.map(|last| input(None, last.content))
        .into_iter()
        .collect()
}

/// What the stages that may change files have left so far. What gates and readers leave does not belong to the work.
pub fn products(pipeline: &Pipeline, run: &Run) -> Vec<Input> {
    let stages = &pipeline.definition().stages;
    let working = stages
        .iter()
        .filter(|stage| TreeAccess::of(stage) == TreeAccess::MayWrite);
    let mut names: BTreeSet<&ArtifactName> = working.flat_map(left_in).collect();
    for work in stages.iter().filter_map(|stage| stage.work.as_review()) {
        for reviewer in &work.panel {
            names.remove(&reviewer.leaves);
        }
    }
    names
        .into_iter()
        .flat_map(|name| captured(run, name))
        .collect()
}

fn left_in(stage: &Stage) -> Vec<&ArtifactName> {
    match &stage.work {
        Work::Agent(work) => work.leaves.all(),
        Work::Open(work) => work.leaves.iter().flat_map(|(_, names)| names).collect(),
        Work::End(work) => work.leaves.iter().flat_map(|(_, names)| names).collect(),
        Work::Review(work) => work.fixes.iter().collect(),
        Work::Steps(work) => work.leaves.iter().collect(),
        Work::Ask(_) | Work::Check(_) | Work::Route(_) => Vec::new(),
    }
}

/// What the steps that this one needs have left.
fn handed_on(run: &Run, stage: &Stage, duty: &Duty) -> Vec<Input> {
    let Duty::Step { step } = duty else {
        return Vec::new();
    };
    let Some(graph) = run.graphs.get(&stage.name) else {
        return Vec::new();
    };
    let needs = graph
        .members
        .iter()
        .filter(|member| member.step.id == *step);
    let needs: Vec<&StepId> = needs.flat_map(|member| &member.step.needs).collect();
    let needed = graph
        .members
        .iter()
        .filter(|member| needs.contains(&&member.step.id));
    needed
        .flat_map(|member| {
            member.left.iter().map(|(artifact, content)| Input {
                artifact: artifact.clone(),
                step: Some(member.step.id.clone()),
                content: *content,
            })
        })
        .collect()
}

/// What the work with this duty gets to read from files, which others can change.
pub fn file_inputs(pipeline: &Pipeline, run: &Run, duty: &Duty) -> Vec<Input> {
    let artifacts = &pipeline.definition().artifacts;
    let mut inputs = inputs(pipeline, run, duty);
    inputs.retain(|input| {
        let declared = artifacts.get(&input.artifact);
        declared.is_some_and(|artifact| matches!(artifact.source, Source::File(_)))
    });
    inputs
}
