//! JSON Schema: validates an agent's JSON, without network and backtracking.

use jsonschema::PatternOptions;
use serde_json::Value;

use crate::{document, text};

/// How many problems a worker gets at once.
const TOLD: usize = 5;

/// Does the value match the schema? The inner error is for the worker. The outer one is for the
/// author of the schema.
pub(crate) fn validate(schema: &str, value: &Value) -> Result<Result<(), String>, String> {
    let schema = document::json(schema)?;
    let validator = jsonschema::options()
        .offline()
        .with_pattern_options(PatternOptions::regex())
        .build(&schema)
        .map_err(|error| text::line(&error.to_string(), 300))?;
    // Masked, because a message with the value could be as long as the artifact.
    let told = |error: jsonschema::ValidationError<'_>| {
        let place = error.instance_path().to_string();
        let place = if place.is_empty() {
            String::from("at the top")
        } else {
            format!("at `{place}`")
        };
        format!(
            "{}: {}",
            text::line(&place, 100),
            text::line(&error.masked().to_string(), 160)
        )
    };
    let faults: Vec<String> = validator.iter_errors(value).take(TOLD).map(told).collect();
    if faults.is_empty() {
        Ok(Ok(()))
    } else {
        Ok(Err(format!(
            "it does not match its schema: {}",
            faults.join("; ")
        )))
    }
}
