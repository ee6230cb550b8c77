//! A task graph that a worker planned, read from a captured artifact.
//!
//! Whether its needs exist, have no cycle, and name agents that may work is the engine's to judge.

use engine::{AgentName, Format, Step, StepId};
use serde_json::{Map, Value};

use crate::questions::list;
use crate::{document, text};

const MOST_STEPS: usize = 1_000;
const LONGEST_TITLE: usize = 500;

/// The steps in a field of a captured artifact, or a reason that tells what to write.
pub fn read(content: &str, format: &Format, field: &str) -> Result<Vec<Step>, String> {
    let items = list(content, format, field)?;
    if items.len() > MOST_STEPS {
        return Err(format!("`{field}` has over {MOST_STEPS} steps; plan fewer"));
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
    match title.is_empty() {
        true => Err(String::from("has no title")),
        false => Ok(title),
    }
}

/// Two spellings are known. Both at once would leave open which one holds.
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
