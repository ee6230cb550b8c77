//! JSON Schema: the definition's schema against an agent's JSON, with no network and no backtracking.

use jsonschema::PatternOptions;
use serde_json::Value;

use crate::{document, text};

/// How many faults a worker is told at once.
const TOLD: usize = 5;

/// Is the value as the schema wants it? The inner error is for the worker. The outer one is for
/// whoever wrote the schema.
pub fn validate(schema: &str, value: &Value) -> Result<Result<(), String>, String> {
    let schema = document::json(schema)?;
    let validator = jsonschema::options()
        .offline()
        .with_pattern_options(PatternOptions::regex())
        .build(&schema)
        .map_err(|error| text::line(&error.to_string(), 300))?;
    // Masked, because a message with the value in it could be as long as the artifact.
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
            "it is not as its schema wants it: {}",
            faults.join("; ")
        )))
    }
}
