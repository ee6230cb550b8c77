//! What agents said last, where the pipeline captures it.

use engine::{ArtifactName, Hash, Pipeline, Run, Source, Stage, Work};
use serde_json::{Map, Value};

/// The text of every artifact that is taken from a reply, in the order of the stages that leave them.
/// A reply that does not exist yet is empty.
pub(crate) fn replies(
    pipeline: &Pipeline,
    run: &Run,
    contents: &dyn Fn(&Hash) -> Option<String>,
) -> Value {
    let mut replies = Map::new();
    for name in said_artifacts(pipeline) {
        let said = || said(run, contents, name).unwrap_or_default();
        replies
            .entry(name.as_str())
            .or_insert_with(|| said().into());
    }
    Value::Object(replies)
}

/// The artifacts that are taken from a reply, in the order of the stages that leave them.
pub(crate) fn said_artifacts(pipeline: &Pipeline) -> impl Iterator<Item = &ArtifactName> {
    let definition = pipeline.definition();
    let is_said = |name: &&ArtifactName| {
        let artifact = definition.artifacts.get(*name);
        artifact.is_some_and(|artifact| artifact.source == Source::Reply)
    };
    definition.stages.iter().flat_map(left).filter(is_said)
}

fn left(stage: &Stage) -> Vec<&ArtifactName> {
    match &stage.work {
        Work::Agent(work) => work.leaves.all(),
        Work::Open(work) => work.leaves.iter().flat_map(|(_, names)| names).collect(),
        Work::End(work) => work.leaves.iter().flat_map(|(_, names)| names).collect(),
        Work::Review(work) => work.panel.iter().map(|member| &member.leaves).collect(),
        Work::Steps(work) => work.leaves.iter().collect(),
        Work::Check(_) | Work::Ask(_) | Work::Route(_) => Vec::new(),
    }
}

fn said(
    run: &Run,
    contents: &dyn Fn(&Hash) -> Option<String>,
    name: &ArtifactName,
) -> Option<String> {
    let captured = run.artifacts.get(name)?;
    let text = contents(&captured.content)?;
    Some(unwrapped(&text).unwrap_or(text))
}

/// A message that was not JSON was wrapped when it was captured.
fn unwrapped(text: &str) -> Option<String> {
    let value: Value = serde_json::from_str(text).ok()?;
    let object = value.as_object()?;
    match object.len() {
        1 => object.get("text")?.as_str().map(str::to_owned),
        _ => None,
    }
}
