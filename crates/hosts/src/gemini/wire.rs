//! The shapes of Gemini CLI's output, hooks and settings: the only place that knows the names of its fields.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::hook::Raw;

/// One line of `gemini -o stream-json`.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum OutputLine {
    Init {
        session_id: String,
    },
    Message {
        role: String,
        content: String,
        /// The content is one piece of a message.
        #[serde(default)]
        delta: bool,
    },
    ToolUse {
        tool_name: String,
        #[serde(default)]
        parameters: ToolArguments,
    },
    ToolResult {
        status: String,
    },
    Error {
        message: String,
    },
    Result {
        status: String,
        error: Option<ErrorMessage>,
        #[serde(default)]
        stats: Stats,
    },
    #[serde(other)]
    Other,
}

/// The arguments of a tool call that are worth showing to a person.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ToolArguments {
    command: Option<String>,
    file_path: Option<String>,
    pattern: Option<String>,
    agent_name: Option<String>,
}

impl ToolArguments {
    pub(super) fn detail(&self) -> Option<&str> {
        let details = [
            &self.command,
            &self.file_path,
            &self.pattern,
            &self.agent_name,
        ];
        details.into_iter().find_map(Option::as_deref)
    }
}

#[derive(Deserialize)]
pub(super) struct ErrorMessage {
    pub message: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Stats {
    pub total_tokens: u64,
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
    pub source: Raw<'a>,
    pub reason: Raw<'a>,
    pub prompt: Raw<'a>,
    pub tool_name: Raw<'a>,
    #[serde(default)]
    pub tool_input: ToolInput<'a>,
}

/// The arguments of tool calls that we use, for all tools.
#[derive(Default, Deserialize)]
pub(super) struct ToolInput<'a> {
    #[serde(borrow)]
    pub command: Raw<'a>,
    pub dir_path: Raw<'a>,
    pub file_path: Raw<'a>,
    pub absolute_path: Raw<'a>,
    pub path: Raw<'a>,
    pub source: Raw<'a>,
    pub destination: Raw<'a>,
    pub agent_name: Raw<'a>,
}

/// A parsed settings file.
pub(super) type Settings = serde_json::Map<String, Value>;

/// Do these settings disable all hooks, or some?
pub(super) fn switches_off(settings: &Value) -> bool {
    let switch = &settings["hooksConfig"];
    let disabled = switch["disabled"].as_array();
    switch["enabled"] == json!(false) || disabled.is_some_and(|names| !names.is_empty())
}

/// Adds our hooks, given as event, command and timeout in milliseconds, and enables hooks.
pub(super) fn with_hooks(mut settings: Settings, hooks: &[(&str, String, u64)]) -> String {
    let switch = settings.entry("hooksConfig").or_insert_with(|| json!({}));
    if !switch.is_object() {
        *switch = json!({});
    }
    switch["enabled"] = json!(true);
    let all = settings.entry("hooks").or_insert_with(|| json!({}));
    if !all.is_object() {
        *all = json!({});
    }
    for (event, command, timeout) in hooks {
        let hook = json!({ "type": "command", "command": command, "timeout": timeout });
        let group = json!({ "hooks": [hook] });
        match all[*event].as_array_mut() {
            Some(groups) => groups.push(group),
            None => all[*event] = json!([group]),
        }
    }
    format!("{:#}\n", Value::Object(settings))
}
