//! Generates a minimal example for a JSON Schema.
//!
//! A schema can require things that cannot be guessed, such as a pattern. So the caller validates the
//! example against the schema.

use serde_json::{Map, Value, json};

/// A deeper schema is probably recursive.
const DEEPEST: u32 = 12;

/// The smallest example.
pub(super) fn of(schema: &str) -> Result<Value, String> {
    let schema: Value = serde_json::from_str(schema)
        .map_err(|problem| format!("its schema is not JSON: {problem}"))?;
    let examples = Examples { root: &schema };
    examples.value(&schema, DEEPEST)
}

struct Examples<'a> {
    root: &'a Value,
}

impl Examples<'_> {
    fn value(&self, schema: &Value, depth: u32) -> Result<Value, String> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err("its schema has no end".to_owned());
        };
        let schema = &self.whole(schema, depth)?;
        if let Some(value) = schema.get("const").or_else(|| schema["enum"].get(0)) {
            return Ok(value.clone());
        }
        if let Some(value) = schema["examples"].get(0).or_else(|| schema.get("default")) {
            return Ok(value.clone());
        }
        match kind(schema) {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, depth),
            "string" => Ok(string(schema)),
            "integer" | "number" => Ok(number(schema)),
            "boolean" => Ok(json!(true)),
            _ => Ok(Value::Null),
        }
    }

    /// The schema, merged with its references and parts.
    fn whole(&self, schema: &Value, depth: u32) -> Result<Value, String> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err("its schema has no end".to_owned());
        };
        let mut whole = schema.clone();
        let referred = schema["$ref"].as_str().map(|path| self.referred(path));
        let choices = ["oneOf", "anyOf"]
            .into_iter()
            .filter_map(|key| schema[key].get(0));
        let all = schema["allOf"].as_array().into_iter().flatten();
        // We do not know which branch applies, so the example satisfies both.
        let either = ["then", "else"]
            .into_iter()
            .filter_map(|key| schema.get(key));
        let parts = choices
            .chain(all)
            .chain(either)
            .cloned()
            .map(Ok)
            .chain(referred);
        for part in parts.collect::<Vec<_>>() {
            merge(&mut whole, self.whole(&part?, depth)?);
        }
        Ok(whole)
    }

    fn referred(&self, path: &str) -> Result<Value, String> {
        let found = path
            .strip_prefix('#')
            .and_then(|path| self.root.pointer(path));
        let found = found.cloned();
        found.ok_or_else(|| format!("its schema refers to {path} in another file"))
    }

    fn object(&self, schema: &Value, depth: u32) -> Result<Value, String> {
        let mut object = Map::new();
        let required = schema["required"].as_array().into_iter().flatten();
        for name in required.filter_map(Value::as_str) {
            let of_name = schema["properties"].get(name);
            let value = match of_name {
                Some(schema) => self.value(schema, depth)?,
                None => json!("made up"),
            };
            object.insert(name.to_owned(), value);
        }
        Ok(Value::Object(object))
    }

    fn array(&self, schema: &Value, depth: u32) -> Result<Value, String> {
        let least = schema["minItems"].as_u64().unwrap_or(0).min(100);
        let first = schema["prefixItems"].as_array();
        let item = |place: u64| {
            let own = first.and_then(|first| first.get(usize::try_from(place).ok()?));
            match own.or_else(|| schema.get("items")) {
                Some(schema) => self.value(schema, depth),
                None => Ok(json!(place)),
            }
        };
        (0..least).map(item).collect()
    }
}

/// If both define a key, the first one wins.
fn merge(whole: &mut Value, part: Value) {
    let (Value::Object(whole), Value::Object(part)) = (whole, part) else {
        return;
    };
    for (key, value) in part {
        match whole.get_mut(&key) {
            Some(present) if key == "properties" => merge_properties(present, value),
            Some(Value::Array(present)) if key == "required" => {
                present.extend(value.as_array().into_iter().flatten().cloned());
            }
            Some(_) => {}
            None => drop(whole.insert(key, value)),
        }
    }
}

/// Merges properties that both define.
fn merge_properties(whole: &mut Value, part: Value) {
    let (Value::Object(whole), Value::Object(part)) = (whole, part) else {
        return;
    };
    for (name, schema) in part {
        match whole.get_mut(&name) {
            Some(present) => merge(present, schema),
            None => drop(whole.insert(name, schema)),
        }
    }
}

/// The type that the schema names, or that its keywords imply.
fn kind(schema: &Value) -> &str {
    let named = schema["type"]
        .as_str()
        .or_else(|| schema["type"][0].as_str());
    let has = |words: &[&str]| words.iter().any(|word| schema.get(word).is_some());
    let implied = || match () {
        () if has(&["properties", "required"]) => "object",
        () if has(&["items", "minItems"]) => "array",
        () if has(&["minimum", "maximum"]) => "number",
        () => "string",
    };
    named.unwrap_or_else(implied)
}

fn string(schema: &Value) -> Value {
    match schema["format"].as_str() {
        Some("date-time") => json!("2020-01-01T00:00:00Z"),
        Some("date") => json!("2020-01-01"),
        Some("uri") => json!("https://example.invalid/"),
        Some("email") => json!("a@example.invalid"),
        Some("uuid") => json!("00000000-0000-4000-8000-000000000000"),
        Some(_) | None => {
            let least = schema["minLength"].as_u64().unwrap_or(0).min(10_000);
            let least = usize::try_from(least).unwrap_or_default();
            let most = schema["maxLength"]
                .as_u64()
                .and_then(|most| usize::try_from(most).ok());
            let text = format!("{:x<least$}", "made up");
            json!(
                text.chars()
                    .take(most.unwrap_or(usize::MAX))
                    .collect::<String>()
            )
        }
    }
}

fn number(schema: &Value) -> Value {
    let above = schema["exclusiveMinimum"].as_i64().map(|least| least + 1);
    let least = schema["minimum"].as_i64().or(above);
    let most = schema["maximum"].as_i64().filter(|most| *most < 0);
    json!(least.or(most).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_has_what_its_schema_asks_for() {
        for (schema, expected) in [
            (r#"{"type":"string"}"#, json!("made up")),
            (r#"{"type":"string","minLength":9}"#, json!("made upxx")),
            (r#"{"type":"string","maxLength":4}"#, json!("made")),
            (r#"{"type":["integer","string"],"minimum":3}"#, json!(3)),
            (r#"{"type":"number","maximum":-2}"#, json!(-2)),
            (r#"{"enum":["b","c"]}"#, json!("b")),
            (r#"{"const":7}"#, json!(7)),
            (r#"{"type":"array"}"#, json!([])),
            (
                r#"{"type":"array","minItems":2,"items":{"type":"boolean"}}"#,
                json!([true, true]),
            ),
            (
                r#"{"required":["a"],"properties":{"a":{"type":"array"}}}"#,
                json!({ "a": [] }),
            ),
            (
                r##"{"required":["a"],"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"const":1}}}"##,
                json!({ "a": 1 }),
            ),
            (
                r#"{"allOf":[{"required":["a"]},{"required":["b"],"properties":{"b":{"type":"integer"}}}]}"#,
                json!({ "a": "made up", "b": 0 }),
            ),
            (
                r#"{"required":["a"],"properties":{"a":{"type":"array","items":{"const":1}}},
                    "if":{"required":["c"]},"then":{"required":["b"]},
                    "else":{"properties":{"a":{"minItems":1}}}}"#,
                json!({ "a": [1], "b": "made up" }),
            ),
            (
                r#"{"oneOf":[{"type":"integer"},{"type":"string"}]}"#,
                json!(0),
            ),
        ] {
            assert_eq!(of(schema), Ok(expected), "{schema}");
        }
    }

    #[test]
    fn a_schema_that_cannot_be_followed_is_told() {
        for schema in [
            "{",
            r#"{"$ref":"https://example.invalid/x"}"#,
            r##"{"$ref":"#"}"##,
            r##"{"required":["a"],"properties":{"a":{"$ref":"#"}}}"##,
        ] {
            assert!(of(schema).is_err(), "{schema}");
        }
    }
}
