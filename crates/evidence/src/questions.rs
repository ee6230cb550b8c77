//! A worker's questions, read from a captured artifact, and the artifact of a person's answers.

use std::collections::{BTreeMap, BTreeSet};

use engine::{ArtifactName, Definition, Format, Question, Questions, Work};
use serde_json::{Value, json};

use crate::content::Content;
use crate::redaction::redact_document;
use crate::{bundle, document, text};

const MOST_QUESTIONS: usize = 50;
const MOST_OPTIONS: usize = 50;
const LONGEST_ID: usize = 64;
const LONGEST_TEXT: usize = 4_000;

/// The questions in a field of a captured artifact, or a reason that tells what to write.
pub fn read(content: &str, format: &Format, field: &str) -> Result<Vec<Question>, String> {
    let items = list(content, format, field)?;
    if items.len() > MOST_QUESTIONS {
        return Err(format!(
            "`{field}` has more than {MOST_QUESTIONS} questions; ask fewer"
        ));
    }
    let mut questions = Vec::new();
    let mut ids = BTreeSet::new();
    for (index, item) in items.iter().enumerate() {
        let number = index + 1;
        let question = question(item, number).map_err(|reason| {
            format!(
                "question {number} of `{field}` {reason}; write a text, or id, question and options"
            )
        })?;
        if !ids.insert(question.id.clone()) {
            return Err(format!(
                "the id `{}` of `{field}` appears twice; number them",
                question.id
            ));
        }
        questions.push(question);
    }
    Ok(questions)
}

/// Can a stage ask a person the questions in this artifact? If not, its author learns it while it
/// can still fix them.
pub fn check(content: &str, name: &ArtifactName, definition: &Definition) -> Result<(), String> {
    let Some(artifact) = definition.artifacts.get(name) else {
        return Ok(());
    };
    for stage in &definition.stages {
        let Work::Ask(work) = &stage.work else {
            continue;
        };
        // The engine judges whether an artifact may have no questions.
        if let Questions::From { field, .. } = &work.questions
            && field.artifact == *name
            && list(content, &artifact.format, &field.field).is_ok()
        {
            read(content, &artifact.format, &field.field)?;
        }
    }
    Ok(())
}

/// What is missing in a field that ought to list questions. An artifact may have none if its outcome leads
/// elsewhere, which the engine judges.
pub(crate) fn unlisted(content: &str, format: &Format, field: &str) -> Option<String> {
    let reason = list(content, format, field).err()?;
    Some(format!(
        "{reason}, each entry a text, or an object with id, question and options"
    ))
}

/// The artifact of a person's answers: each with its question, for the worker who reads it.
pub fn answers_content(
    questions: &[Question],
    given: &BTreeMap<String, String>,
    secrets: &[String],
) -> Content {
    let asked = |id: &str| questions.iter().find(|question| question.id == id);
    let answers: Vec<Value> = given
        .iter()
        .map(|(id, answer)| {
            let question = asked(id).map(|question| question.text.as_str());
            json!({ "id": id, "question": question, "answer": answer })
        })
        .collect();
    let written = json!({ "answers": answers }).to_string();
    Content::of(redact_document(&written, secrets).into_bytes())
}

/// The list in a field, which must not be empty.
pub(crate) fn list(content: &str, format: &Format, field: &str) -> Result<Vec<Value>, String> {
    list_in(&fields(content, format)?, field)
}

/// The fields of an artifact.
pub(crate) fn fields(content: &str, format: &Format) -> Result<Value, String> {
    match format {
        Format::Bundle => bundle::front_matter(content),
        Format::Json { .. } => document::json(content)
            .map_err(|error| format!("it is not valid JSON ({})", text::line(&error, 200))),
        Format::Text => Err(String::from(
            "a text has no fields; make it json or a bundle",
        )),
    }
}

pub(crate) fn list_in(value: &Value, field: &str) -> Result<Vec<Value>, String> {
    match document::field(value, field) {
        Some(Value::Array(items)) if !items.is_empty() => Ok(items.clone()),
        Some(Value::Array(_)) => Err(format!("`{field}` is an empty list; write at least one")),
        Some(other) => Err(format!(
            "`{field}` is {}; write a list",
            document::kind(other)
        )),
        None => Err(format!("it has no `{field}`; add the list")),
    }
}

fn question(item: &Value, number: usize) -> Result<Question, &'static str> {
    let numbered = format!("q{number}");
    match item {
        Value::String(text) => Ok(Question {
            id: numbered,
            text: asked(text)?,
            options: Vec::new(),
            context: None,
        }),
        Value::Object(fields) => Ok(Question {
            id: fields.get("id").map_or(Ok(numbered), id)?,
            text: asked(
                fields
                    .get("question")
                    .and_then(Value::as_str)
                    .ok_or("has no question")?,
            )?,
            options: options(fields.get("options"))?,
            context: context(fields.get("context"))?,
        }),
        _ => Err("is neither a text nor an object"),
    }
}

fn id(value: &Value) -> Result<String, &'static str> {
    let id = document::scalar(value).ok_or("has an id that is not one word")?;
    let is_word = !id.is_empty() && id.len() <= LONGEST_ID && !id.contains(char::is_whitespace);
    if is_word && text::safe(&id) == id && !id.contains('=') {
        Ok(id)
    } else {
        Err("has an id that is not one short word")
    }
}

fn asked(question: &str) -> Result<String, &'static str> {
    let question = text::safe(question.trim());
    if question.trim().is_empty() || question.chars().count() > LONGEST_TEXT {
        Err("is empty or too long")
    } else {
        Ok(question)
    }
}

fn options(value: Option<&Value>) -> Result<Vec<String>, &'static str> {
    let items = match value {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(items)) if items.len() <= MOST_OPTIONS => items,
        Some(_) => return Err("has options that are not a short list"),
    };
    items.iter().map(option).collect()
}

fn option(value: &Value) -> Result<String, &'static str> {
    let option = document::scalar(value).ok_or("has an option that is not a text")?;
    asked(&option).map_err(|_| "has an option that is empty or too long")
}

fn context(value: Option<&Value>) -> Result<Option<String>, &'static str> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
        Some(Value::String(text)) => asked(text)
            .map(Some)
            .map_err(|_| "has a context that is too long"),
        Some(_) => Err("has a context that is not a text"),
    }
}
