//! The shapes of Codex's output, hooks and settings: the only place that knows the names of its fields.

use serde::{Deserialize, Serialize};

use crate::hook::Raw;

/// One line of `codex exec --json`.
#[derive(Deserialize)]
#[serde(tag = "type")]
pub(super) enum OutputLine {
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
        usage: TokenCounts,
    },
    #[serde(rename = "turn.failed")]
    TurnFailed { error: ErrorMessage },
    #[serde(rename = "error")]
    Error { message: String },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Item {
    AgentMessage {
        text: String,
    },
    CommandExecution {
        status: Option<String>,
        command: Option<String>,
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
pub(super) struct TokenCounts {
    pub input_tokens: u64,
    pub output_tokens: u64,
}

#[derive(Deserialize)]
pub(super) struct ErrorMessage {
    pub message: String,
}

pub(super) fn parse(line: &[u8]) -> Option<OutputLine> {
    serde_json::from_slice(line).ok()
}

/// A hook's input.
#[derive(Deserialize)]
pub(super) struct HookInput<'a> {
    #[serde(borrow)]
    pub session_id: Raw<'a>,
    pub hook_event_name: Raw<'a>,
    pub cwd: Raw<'a>,
    pub agent_id: Raw<'a>,
    pub agent_type: Raw<'a>,
    pub source: Raw<'a>,
    pub reason: Raw<'a>,
    pub prompt: Raw<'a>,
    pub tool_name: Raw<'a>,
    pub tool_use_id: Raw<'a>,
    pub tool_input: Option<ToolInput<'a>>,
    pub last_assistant_message: Raw<'a>,
}

#[derive(Default, Deserialize)]
pub(super) struct ToolInput<'a> {
    /// Shell text, or the patch of `apply_patch`.
    #[serde(borrow)]
    pub command: Raw<'a>,
    /// The agent that `spawn_agent` starts.
    pub agent_type: Raw<'a>,
}

/// What Codex hashes when a person trusts a hook. The fields are in alphabetical order.
#[derive(Serialize)]
pub(super) struct Trusted<'a> {
    pub event_name: &'static str,
    pub hooks: [TrustedHook<'a>; 1],
}

#[derive(Serialize)]
pub(super) struct TrustedHook<'a> {
    pub r#async: bool,
    pub command: &'a str,
    pub timeout: u64,
    pub r#type: &'static str,
}

/// A TOML string, for an argument on the command line.
pub(super) fn toml_text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
