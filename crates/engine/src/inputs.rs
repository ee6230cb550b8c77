//! Inputs: what a piece of work gets to read.

use alloc::vec::Vec;

use crate::definition::Source;
use crate::evidence::Input;
use crate::names::{ArtifactName, Hash, StepId};
use crate::pipeline::Pipeline;
use crate::run::{Duty, Run};
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
