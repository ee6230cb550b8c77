//! What agents said last, where the pipeline captures it.

use engine::{ArtifactName, Source, Stage, Work};
use serde_json::{Map, Value};

use crate::view_input::ViewInput;

/// The text of every artifact that is taken from a reply, in the order of the stages that leave them.
/// A reply that does not exist yet is empty.
pub(crate) fn replies(input: &ViewInput<'_>) -> Value {
    let definition = input.pipeline.definition();
    let is_said = |name: &&ArtifactName| {
        let artifact = definition.artifacts.get(*name);
        artifact.is_some_and(|artifact| artifact.source == Source::Reply)
    };
    let mut replies = Map::new();
    for name in definition.stages.iter().flat_map(left).filter(is_said) {
        let said = || said(input, name).unwrap_or_default();
        replies
            .entry(name.as_str())
            .or_insert_with(|| said().into());
    }
    Value::Object(replies)
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

fn said(input: &ViewInput<'_>, name: &ArtifactName) -> Option<String> {
    let captured = input.run.artifacts.get(name)?;
    let text = (input.contents)(&captured.content)?;
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
