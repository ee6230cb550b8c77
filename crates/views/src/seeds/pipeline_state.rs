//! `pipeline-state`: the state, what agents said, and which of them led from state to state.

use engine::{ArtifactName, Pipeline, Source, Stage, Work};
use serde_json::{Map, Value, json};

use super::chronicle::{By, Passage};
use super::shown;
use crate::file::Material;
use crate::json::{json_line, json_text};
use crate::time::rfc3339;

/// The version of the format, which is older than we are.
const VERSION: &str = "1.0";

pub fn pipeline_state(material: &Material<'_>) -> String {
    let run = material.run;
    let session = run.session.as_ref();
    let head = json_text(&json!({
        "version": VERSION,
        "state": shown(material.pipeline, &run.position.stage),
        "timestamp": rfc3339(run.touched_at),
        "session_id": session.map_or("", |binding| binding.session.as_str()),
        "context": context(material),
    }));
    // The items are lines of JSON already, and there may be many.
    let items = &material.chronicle.history;
    let history = match items.is_empty() {
        true => "[]".to_owned(),
        false => format!("[\n    {}\n  ]", items.join(",\n    ")),
    };
    let head = head.strip_suffix("\n}\n").unwrap_or(&head);
    format!("{head},\n  \"history\": {history}\n}}\n")
}

/// What agents said last, by the artifacts that take it, in the order of the stages.
fn context(material: &Material<'_>) -> Value {
    let definition = material.pipeline.definition();
    let is_said = |name: &&ArtifactName| {
        let artifact = definition.artifacts.get(*name);
        artifact.is_some_and(|artifact| artifact.source == Source::Reply)
    };
    let mut context = Map::new();
    for name in definition.stages.iter().flat_map(left).filter(is_said) {
        let said = || said(material, name).unwrap_or_default();
        context
            .entry(name.as_str())
            .or_insert_with(|| said().into());
    }
    Value::Object(context)
}

fn left(stage: &Stage) -> Vec<&ArtifactName> {
    match &stage.work {
        Work::Agent(work) => work.leaves.all(),
        Work::Open(work) => work.leaves.iter().flat_map(|(_, names)| names).collect(),
        Work::End(work) => work.leaves.iter().flat_map(|(_, names)| names).collect(),
        Work::Review(work) => work.panel.iter().map(|member| &member.leaves).collect(),
        Work::Steps(work) => work.leaves.iter().collect(),
        Work::Check(_) | Work::Ask(_) => Vec::new(),
    }
}

fn said(material: &Material<'_>, name: &ArtifactName) -> Option<String> {
    let captured = material.run.artifacts.get(name)?;
    let text = (material.contents)(&captured.content)?;
    Some(unwrapped(&text).unwrap_or(text))
}

/// A message that was no JSON was wrapped when it was captured.
fn unwrapped(text: &str) -> Option<String> {
    let value: Value = serde_json::from_str(text).ok()?;
    let object = value.as_object()?;
    match object.len() {
        1 => object.get("text")?.as_str().map(str::to_owned),
        _ => None,
    }
}

/// One item of the history, on a line.
pub fn item(pipeline: &Pipeline, passage: &Passage) -> String {
    let agent = match &passage.by {
        By::Agent(agent) => agent.as_str(),
        By::Engine => "gatewright",
        By::Person(_) => "person",
        By::Reset { .. } => "reset",
    };
    let name = |stage| shown(pipeline, stage);
    let to = passage.to.as_ref().unwrap_or(&passage.from);
    let mut item = json!({
        "agent": agent,
        "timestamp": rfc3339(passage.at),
        "state_before": name(&passage.from),
        "state_after": name(to),
    });
    if let By::Reset { reason } = &passage.by {
        item["reason"] = reason.as_str().into();
    }
    json_line(&item)
}
