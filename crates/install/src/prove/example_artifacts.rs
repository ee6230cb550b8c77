//! Generates example artifacts that the definition accepts. No two have the same bytes.

mod schema_example;

use engine::{Artifact, Definition, Format, StageName, Step, Work};
use serde_json::{Map, Value, json};

/// The id and the text of the question that simulated workers ask.
pub(super) const QUESTION: (&str, &str) = ("q1", "Which of the two?");

/// Contents of artifacts that other stages read.
pub(super) struct ArtifactContents<'a> {
    pub plan: &'a [Step],
    /// Command lines in place of tests.
    pub tests: &'a [String],
    /// Values that the definition requires for fields.
    pub fields: &'a [(String, String)],
}

/// The text of an artifact with this outcome word. `number` makes it different from all others.
pub(super) fn artifact(
    definition: &Definition,
    name: &engine::ArtifactName,
    word: Option<&str>,
    contents: &ArtifactContents<'_>,
    number: u32,
) -> Result<String, String> {
    let Some(artifact) = definition.artifacts.get(name) else {
        return Err(format!("there is no artifact {name}"));
    };
    if artifact.format == Format::Text {
        return Ok(format!("Made up to prove a guard, number {number}.\n"));
    }
    let mut value = base(artifact)?;
    for field in &artifact.require {
        fill(&mut value, field, || json!("made up"));
    }
    for (field, content) in fields_read_by_stages(definition, name, contents) {
        set(&mut value, &field, content);
    }
    for (field, wanted) in contents.fields {
        set(&mut value, field, json!(wanted.replace('*', "made-up")));
    }
    if let (Some(outcome), Some(word)) = (&artifact.outcome, word) {
        set(&mut value, &outcome.field, json!(word));
    }
    Ok(match artifact.format {
        Format::Bundle => bundle(&value, number),
        Format::Json { .. } | Format::Text => {
            // Trailing spaces change the bytes but not the JSON value.
            format!("{value}{}\n", " ".repeat(number as usize))
        }
    })
}

fn base(artifact: &Artifact) -> Result<Value, String> {
    match &artifact.format {
        Format::Json {
            schema: Some(schema),
        } => schema_example::of(schema),
        Format::Json { schema: None } | Format::Bundle | Format::Text => Ok(json!({})),
    }
}

/// The fields of this artifact that stages read questions, steps or commands from.
fn fields_read_by_stages(
    definition: &Definition,
    name: &engine::ArtifactName,
    contents: &ArtifactContents<'_>,
) -> Vec<(String, Value)> {
    let stages = definition.stages.iter();
    let fields = stages.flat_map(|stage| match &stage.work {
        Work::Ask(ask) => match &ask.questions {
            engine::Questions::From { field, .. } => {
                let (id, text) = QUESTION;
                vec![(field, json!([{ "id": id, "question": text }]))]
            }
            engine::Questions::Choice { .. } => Vec::new(),
        },
        Work::Steps(steps) => {
            let field = steps.source.field().into_iter();
            field.map(|field| (field, plan(contents.plan))).collect()
        }
        Work::Check(_) => {
            let fields = stage.command_fields().iter();
            fields.map(|field| (field, json!(contents.tests))).collect()
        }
        Work::Agent(_) | Work::Open(_) | Work::Review(_) | Work::Route(_) | Work::End(_) => {
            Vec::new()
        }
    });
    let own = fields.filter(|(field, _)| field.artifact == *name);
    own.map(|(field, content)| (field.field.clone(), content))
        .collect()
}

/// A plan as JSON, for an artifact or for `--steps`.
pub(super) fn plan(steps: &[Step]) -> Value {
    let step = |step: &Step| {
        let needs: Vec<&str> = step.needs.iter().map(engine::StepId::as_str).collect();
        json!({
            "id": step.id.as_str(),
            "title": step.title,
            "agent": step.agent.as_str(),
            "needs": needs,
        })
    };
    steps.iter().map(step).collect()
}

/// A bundle whose front matter has JSON values.
fn bundle(value: &Value, number: u32) -> String {
    let mut text = String::from("---\n");
    for (key, value) in value.as_object().into_iter().flatten() {
        text.push_str(&format!("{}: {value}\n", json!(key)));
    }
    text.push_str(&format!(
        "---\nMade up to prove a guard, number {number}.\n"
    ));
    text
}

/// Sets a dotted field, and creates the parent objects.
fn set(value: &mut Value, path: &str, content: Value) {
    *place(value, path) = content;
}

fn fill(value: &mut Value, path: &str, content: impl FnOnce() -> Value) {
    let place = place(value, path);
    let is_empty = match &place {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    };
    if is_empty {
        *place = content();
    }
}

fn place<'v>(value: &'v mut Value, path: &str) -> &'v mut Value {
    path.split('.').fold(value, |value, key| {
        if !value.is_object() {
            *value = Value::Object(Map::new());
        }
        &mut value[key]
    })
}

/// A path that this stage may change, apart from its artifacts; `None` if it may change nothing.
pub(super) fn changeable(definition: &Definition, stage: &StageName) -> Option<String> {
    let stage = definition.stages.iter().find(|one| one.name == *stage)?;
    match &stage.writes {
        engine::Writes::Anything => Some("made-up.txt".to_owned()),
        engine::Writes::Only(globs) => {
            let filled = globs
                .iter()
                .map(|glob| (glob, glob.as_str().replace('*', "x")));
            let mut covered = filled.filter(|(glob, path)| glob.covers(path));
            covered.next().map(|(_, path)| path)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_set_wherever_they_are() {
        let mut value = json!({ "a": { "b": "" }, "c": [1] });
        set(&mut value, "x.y", json!(1));
        fill(&mut value, "a.b", || json!("full"));
        fill(&mut value, "c", || json!("never"));
        assert_eq!(
            value,
            json!({ "a": { "b": "full" }, "c": [1], "x": { "y": 1 } })
        );
    }
}
