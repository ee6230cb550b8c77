//! A task graph that a worker planned, read from a captured artifact.
//!
//! The engine judges whether its needs exist, have no cycle, and name allowed agents.

use engine::{AgentName, ArtifactName, Definition, Format, Step, StepId, Work};
use serde_json::{Map, Value};

use crate::questions::list;
use crate::{bundle, document, text};

const MOST_STEPS: usize = 1_000;
const LONGEST_TITLE: usize = 500;

/// The steps in a field of a captured artifact, or a reason that tells what to write.
pub fn read(content: &str, format: &Format, field: &str) -> Result<Vec<Step>, String> {
    let items = list(content, format, field)?;
    if items.len() > MOST_STEPS {
        return Err(format!(
            "`{field}` has more than {MOST_STEPS} steps; plan fewer"
        ));
    }
    let step = |(index, item)| {
        step(item).map_err(|reason| {
            format!(
                "step {} of `{field}` {reason}; write id, title, agent and needs",
                index + 1
            )
        })
    };
    items.iter().enumerate().map(step).collect()
}

/// Can a stage work through the steps in this artifact? If not, its author learns it while it can
/// still fix them.
pub fn check(content: &str, name: &ArtifactName, definition: &Definition) -> Result<(), String> {
    let Some(artifact) = definition.artifacts.get(name) else {
        return Ok(());
    };
    for stage in &definition.stages {
        let Work::Steps(work) = &stage.work else {
            continue;
        };
        let field = work.source.field();
        if let Some(field) = field.filter(|field| field.artifact == *name)
            && is_there(content, &artifact.format, &field.field)
        {
            let steps = read(content, &artifact.format, &field.field)?;
            engine::usable_steps(definition, work, &steps)
                .map_err(|reason| format!("`{}` is not a plan: {reason}", field.field))?;
        }
    }
    Ok(())
}

/// What is missing in a field that ought to list steps. An artifact may have none if its outcome leads
/// elsewhere, which the engine judges.
pub(crate) fn unlisted(content: &str, format: &Format, field: &str) -> Option<String> {
    (!is_there(content, format, field)).then(|| {
        format!("it has no `{field}`; add the list, each entry with id, title, agent and needs")
    })
}

fn is_there(content: &str, format: &Format, field: &str) -> bool {
    let value = match format {
        Format::Json { .. } => document::json(content).ok(),
        Format::Bundle => bundle::front_matter(content).ok(),
        Format::Text => None,
    };
    value.is_some_and(|value| document::field(&value, field).is_some())
}

fn step(item: &Value) -> Result<Step, String> {
    let Value::Object(fields) = item else {
        return Err(format!("is {}", document::kind(item)));
    };
    let agent = fields
        .get("agent")
        .and_then(Value::as_str)
        .ok_or("has no agent")?;
    Ok(Step {
        id: id(fields.get("id").ok_or("has no id")?)?,
        title: title(fields)?,
        agent: AgentName::parse(agent.trim())
            .map_err(|error| format!("has a bad agent: {error}"))?,
        needs: needs(fields)?,
    })
}

fn id(value: &Value) -> Result<StepId, String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) if number.is_u64() => number.to_string(),
        other => return Err(format!("has {} for an id", document::kind(other))),
    };
    StepId::parse(&text).map_err(|error| format!("has a bad id: {error}"))
}

fn title(fields: &Map<String, Value>) -> Result<String, String> {
    let written = ["title", "description"]
        .iter()
        .find_map(|key| fields.get(*key)?.as_str());
    let title = text::line(written.unwrap_or_default(), LONGEST_TITLE);
    if title.is_empty() {
        Err(String::from("has no title"))
    } else {
        Ok(title)
    }
}

/// Two spellings are known. With both at once it would be unclear which one counts.
fn needs(fields: &Map<String, Value>) -> Result<Vec<StepId>, String> {
    let value = match (fields.get("needs"), fields.get("depends_on")) {
        (Some(_), Some(_)) => return Err(String::from("has both needs and depends_on")),
        (Some(value), None) | (None, Some(value)) => value,
        (None, None) => return Ok(Vec::new()),
    };
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(items) => items.iter().map(id).collect(),
        other => Err(format!("has {} for its needs", document::kind(other))),
    }
}
