//! Documents that agents write: JSON and YAML, read strictly into one type.
//!
//! A duplicate key is refused: two readers could see two verdicts in one file.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};

/// Front matter has a few fields; anything longer is not front matter.
pub(crate) const LONGEST_YAML: usize = 64 * 1024;

/// Deeper documents are refused. JSON has the same limit from its reader (128).
const DEEPEST_YAML: usize = 24;

/// Reads JSON. The error says what is wrong and where.
pub(crate) fn json(text: &str) -> Result<Value, String> {
    let Strict(value) = serde_json::from_str(text).map_err(|error| format!("{error}"))?;
    Ok(value)
}

/// Reads the plain part of YAML: no anchors, aliases, merges, custom tags or second documents.
pub(crate) fn yaml(text: &str) -> Result<Value, String> {
    if text.len() > LONGEST_YAML {
        return Err(format!("it is longer than {} KiB", LONGEST_YAML / 1024));
    }
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_aliases: 0,
            max_anchors: 0,
            max_depth: DEEPEST_YAML,
            flow_nesting_limit: DEEPEST_YAML,
            max_documents: 1,
            max_inclusion_depth: 0,
            max_merge_keys: 0,
            max_nodes: 20_000,
            max_events: 60_000,
            max_total_scalar_bytes: LONGEST_YAML,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Error,
        reject_unsupported_tags: true,
        strict_booleans: true,
        with_snippet: false,
    };
    let read = serde_saphyr::from_str_with_options(text, options);
    let Strict(value) = read.map_err(|error| format!("{error}"))?;
    Ok(value)
}

/// The value of a dotted field, as `signal.questions`. Keys that contain a dot are never used: a
/// file could have one verdict in `a.b` and another in `b` of `a`.
pub(crate) fn field<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.')
        .try_fold(value, |value, key| value.as_object()?.get(key))
}

/// Is it empty? `false` and `0` are not.
pub(crate) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(_) | Value::Number(_) => false,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}

/// The text of a scalar value.
pub(crate) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(String::from(text.trim())),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The type of a value, in words.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// A value without duplicate keys.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Strict)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, number, list or object")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        let number = Number::from_f64(value);
        number
            .map(Value::Number)
            .ok_or_else(|| E::custom("a number must be finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(String::from(value)))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Strict(value)) = items.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some((Strict(key), Strict(value))) = fields.next_entry()? {
            let key = match key {
                Value::String(key) => key,
                Value::Bool(_) | Value::Number(_) => key.to_string(),
                Value::Null | Value::Array(_) | Value::Object(_) => {
                    return Err(de::Error::custom("a key must be one word"));
                }
            };
            if map.contains_key(&key) {
                return Err(de::Error::custom(format_args!(
                    "the key `{key}` appears twice"
                )));
            }
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}
