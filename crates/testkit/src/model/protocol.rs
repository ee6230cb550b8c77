//! The protocols that the model speaks: each program has that of its maker.
//!
//! A request becomes one of the Messages API, in which actors are found and turns are counted. An
//! answer goes back in the program's own form.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::answer::Answer;
use super::script::{Block, Speech};
use super::{generate, responses};

/// How many tokens every answer has.
pub(super) const WRITTEN: u64 = 5;

/// Those of them that it thought.
pub(super) const THOUGHT: u64 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    /// Claude Code's.
    Messages,
    /// Codex's.
    Responses,
    /// Gemini CLI's, where its path asks for all at once.
    Generate,
    /// The same, as a stream.
    StreamGenerate,
}

impl Protocol {
    pub(super) fn of(path: &str) -> Self {
        if path.ends_with("/responses") {
            Self::Responses
        } else if path.ends_with(":streamGenerateContent") {
            Self::StreamGenerate
        } else if path.ends_with(":generateContent") {
            Self::Generate
        } else {
            Self::Messages
        }
    }

    /// The body of a request as the Messages API has it.
    pub(super) fn translated(self, body: Value) -> Value {
        match self {
            Self::Messages => body,
            Self::Responses => responses::request(&body),
            Self::Generate | Self::StreamGenerate => generate::request(&body),
        }
    }

    pub(super) fn message(self, speech: &Speech, request: &Value) -> Answer {
        match self {
            Self::Messages => Answer::message(speech, request),
            Self::Responses => responses::answer(speech),
            Self::Generate => Answer::json(200, &generate::answer(speech)),
            Self::StreamGenerate => generate::stream(speech),
        }
    }

    /// A usage limit that ends in so many seconds, as the vendor of this protocol says it.
    pub(super) fn limit(self, seconds: u64) -> Answer {
        let again = format!(
            "This request would exceed your account's rate limit. Please try again in {seconds}s."
        );
        match self {
            Self::Messages => Answer::error(429, &again),
            Self::Responses => Answer::json(429, &usage_limit(seconds)),
            Self::Generate | Self::StreamGenerate => {
                let quota = "You have exhausted your capacity on this model.";
                let message = format!("{quota} Your quota will reset after {seconds}s.");
                self.error(429, &message)
            }
        }
    }

    pub(super) fn error(self, status: u16, message: &str) -> Answer {
        match self {
            Self::Messages | Self::Responses => Answer::error(status, message),
            Self::Generate | Self::StreamGenerate => generate::error(status, message),
        }
    }
}

/// Messages, of which two by the same speaker in a row are one.
#[derive(Default)]
pub(super) struct Messages(Vec<Value>);

impl Messages {
    pub(super) fn push(&mut self, role: &str, block: Value) {
        let last = self.0.last_mut().filter(|last| last["role"] == role);
        match last.and_then(|last| last["content"].as_array_mut()) {
            Some(blocks) => blocks.push(block),
            None => self.0.push(json!({ "role": role, "content": [block] })),
        }
    }

    pub(super) fn into_value(self) -> Value {
        Value::Array(self.0)
    }
}

/// A tool call of the script, which names Claude Code's tools, in the words of another program.
pub(super) fn call_as(block: &Block, tools: &Tools) -> Option<(String, Value)> {
    let Block::Call { tool, input } = block else {
        return None;
    };
    Some(match tool.as_str() {
        "Bash" => (tools.shell)(input["command"].as_str().unwrap_or_default()),
        "Write" => (tools.write)(
            input["file_path"].as_str().unwrap_or_default(),
            input["content"].as_str().unwrap_or_default(),
        ),
        other => (other.to_owned(), input.clone()),
    })
}

/// How a program runs a line of shell, and writes a file.
pub(super) struct Tools {
    pub shell: fn(&str) -> (String, Value),
    pub write: fn(&str, &str) -> (String, Value),
}

/// What the service behind Codex answers when the plan of an account is used up.
fn usage_limit(seconds: u64) -> Value {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let resets_at = now.unwrap_or_default().as_secs() + seconds;
    json!({ "error": {
        "type": "usage_limit_reached",
        "message": "The usage limit has been reached",
        "plan_type": "plus",
        "resets_at": resets_at,
        "resets_in_seconds": seconds,
    } })
}
