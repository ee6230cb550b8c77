//! The shapes of Gemini CLI's output: the only place that knows the names of its fields.

use serde::Deserialize;

/// One line of `gemini -o stream-json`.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Line {
    Init {
        session_id: String,
    },
    Message {
        role: String,
        content: String,
        /// A piece of a message, not all of it.
        #[serde(default)]
        delta: bool,
    },
    ToolUse,
    ToolResult {
        status: String,
    },
    Error {
        message: String,
    },
    Result {
        status: String,
        error: Option<Complaint>,
        #[serde(default)]
        stats: Stats,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
pub struct Complaint {
    pub message: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Stats {
    pub total_tokens: u64,
}

pub fn parse(line: &[u8]) -> Option<Line> {
    serde_json::from_slice(line).ok()
}
