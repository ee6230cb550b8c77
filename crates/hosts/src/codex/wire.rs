//! The shapes of Codex's output: the only place that knows the names of its fields.

use serde::Deserialize;

/// One line of `codex exec --json`.
#[derive(Deserialize)]
#[serde(tag = "type")]
pub enum Line {
    #[serde(rename = "thread.started")]
    ThreadStarted { thread_id: String },
    #[serde(rename = "item.started")]
    ItemStarted { item: Item },
    #[serde(rename = "item.updated")]
    ItemUpdated { item: Item },
    #[serde(rename = "item.completed")]
    ItemCompleted { item: Item },
    #[serde(rename = "turn.completed")]
    TurnCompleted {
        #[serde(default)]
        usage: Used,
    },
    #[serde(rename = "turn.failed")]
    TurnFailed { error: Complaint },
    #[serde(rename = "error")]
    Error { message: String },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Item {
    AgentMessage {
        text: String,
    },
    CommandExecution {
        status: Option<String>,
    },
    FileChange {
        status: Option<String>,
    },
    McpToolCall {
        status: Option<String>,
    },
    CollabToolCall {
        status: Option<String>,
    },
    WebSearch,
    #[serde(other)]
    Other,
}

/// Cached and reasoning tokens are part of these two.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Used {
    pub input_tokens: u64,
    pub output_tokens: u64,
}

#[derive(Deserialize)]
pub struct Complaint {
    pub message: String,
}

pub fn parse(line: &[u8]) -> Option<Line> {
    serde_json::from_slice(line).ok()
}
