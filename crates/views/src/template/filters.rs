//! The filters that templates have besides those of Jinja.

use minijinja::{Environment, Error, ErrorKind, Value};
use serde_json::Value as Json;

use crate::json::{json_inside, json_line, json_string};
use crate::markdown::escaped;
use crate::safe::line;
use crate::yaml::{quoted, scalar};

pub(super) fn add(environment: &mut Environment<'_>) {
    environment.add_filter("tojson", tojson);
    environment.add_filter("yaml", |value: Value| safe(yaml(&value)?));
    environment.add_filter("quoted", |value: Value| safe(quoted(&text(&value)?)));
    environment.add_filter("markdown", |value: Value| safe(escaped(&text(&value)?)));
    environment.add_filter("line", |value: Value| safe(line(&text(&value)?)));
    environment.add_filter("text", |value: Value| text(&value));
}

/// A text that is not escaped again.
fn safe(text: String) -> Result<Value, Error> {
    Ok(Value::from_safe_string(text))
}

/// JSON on one line, or on several lines with this indentation.
fn tojson(value: Value, indent: Option<usize>) -> Result<Value, Error> {
    let Some(indent) = indent else {
        return safe(json(&value)?);
    };
    safe(json_inside(&tree(&value)?, indent))
}

/// A text as a scalar, and all else as JSON, which is YAML, too.
pub(super) fn yaml(value: &Value) -> Result<String, Error> {
    match value.as_str() {
        Some(text) => Ok(scalar(text)),
        None => json(value),
    }
}

pub(super) fn json(value: &Value) -> Result<String, Error> {
    match value.as_str() {
        Some(text) => Ok(json_string(text)),
        None => Ok(json_line(&tree(value)?)),
    }
}

/// A text as it is, nothing for null, and JSON for all else.
pub(super) fn text(value: &Value) -> Result<String, Error> {
    match value.as_str() {
        Some(text) => Ok(text.to_owned()),
        None if value.is_none() || value.is_undefined() => Ok(String::new()),
        None => Ok(tree(value)?.to_string()),
    }
}

fn tree(value: &Value) -> Result<Json, Error> {
    serde_json::to_value(value)
        .map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string()))
}
