//! Files that a definition refers to, and the JSON Schemas among them.

use std::collections::BTreeMap;

use jsonschema::PatternOptions;
use jsonschema::error::ValidationErrorKind;
use serde_json::Value as Json;

use super::Reader;
use crate::diagnostic::quote;
use crate::rule::LanguageRule;
use crate::source::is_below;
use crate::tree::{Node, Value};

/// All schemas of a definition together. Each one is compiled, which takes time.
const MOST_SCHEMA_BYTES: usize = 128 * 1024;
/// The memory of one compiled pattern; a larger one is slow, or meant to be.
const MOST_PATTERN_BYTES: usize = 32 * 1024;

/// What is known of the schemas of one definition: several artifacts may share one.
#[derive(Default)]
pub(super) struct Schemas {
    judged: BTreeMap<String, Result<(), String>>,
    bytes: usize,
}

impl Schemas {
    fn judge(&mut self, text: &str) -> Result<(), String> {
        if let Some(judged) = self.judged.get(text) {
            return judged.clone();
        }
        self.bytes += text.len();
        if self.bytes > MOST_SCHEMA_BYTES {
            return Err(format!(
                "all schemas together have more than {MOST_SCHEMA_BYTES} bytes"
            ));
        }
        let judged = usable(text);
        self.judged.insert(String::from(text), judged.clone());
        judged
    }
}

impl Reader<'_> {
    /// A JSON Schema, in a file or written here, as its text.
    pub(super) fn schema_text(&mut self, node: &Node) -> Option<String> {
        let text = match &node.value {
            Value::Text(_) => self.file_text(node)?,
            Value::Table(_) => node.to_json().to_string(),
            _ => {
                let hint = "write \"schemas/name.json\"";
                return self.wrong_type(node, "a file or a schema", hint);
            }
        };
        match self.schemas.judge(&text) {
            Ok(()) => Some(text),
            Err(reason) => {
                let message = format!("this schema cannot be used: {reason}");
                let hint = "write a JSON Schema (draft 2020-12) that refers to no other file";
                self.report(LanguageRule::BadSchema, &node.span, message, hint);
                None
            }
        }
    }

    pub(super) fn file_text(&mut self, node: &Node) -> Option<String> {
        let path = self.existing_file(node)?;
        let bytes = self.files.get(&path)?;
        match std::str::from_utf8(bytes) {
            Ok(text) => Some(String::from(text)),
            Err(_) => {
                let message = format!("{} is not UTF-8 text", quote(&path));
                self.report(
                    LanguageRule::NotUtf8,
                    &node.span,
                    message,
                    "save it as UTF-8",
                );
                None
            }
        }
    }

    /// A path to a file that the caller has read.
    pub(super) fn existing_file(&mut self, node: &Node) -> Option<String> {
        let path = self.filled(node)?;
        if !is_below(&path) {
            let message = format!("{} is not next to the definition", quote(&path));
            let hint =
                "put the file next to the definition or below it, and write its path with `/`";
            self.report(LanguageRule::BadReference, &node.span, message, hint);
            return None;
        }
        if !self.files.contains_key(&path) {
            let message = format!("there is no file {}", quote(&path));
            let hint = "create it, relative to the definition, or fix the path";
            self.report(LanguageRule::MissingFile, &node.span, message, hint);
            return None;
        }
        Some(path)
    }
}

/// Only a schema that needs nothing from outside can be judged by, and only patterns without
/// backtracking end in time whatever an agent writes.
fn usable(text: &str) -> Result<(), String> {
    let schema: Json = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let patterns = PatternOptions::regex().size_limit(MOST_PATTERN_BYTES);
    match jsonschema::options()
        .offline()
        .with_pattern_options(patterns)
        .build(&schema)
    {
        Ok(_) => Ok(()),
        Err(error) => Err(match error.kind() {
            ValidationErrorKind::Referencing(_) => String::from("it refers to something outside"),
            _ => error.to_string().chars().take(200).collect(),
        }),
    }
}
