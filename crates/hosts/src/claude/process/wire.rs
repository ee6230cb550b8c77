//! The shapes of Claude Code's output: the only place that knows the names of its fields.

use std::collections::BTreeMap;

use serde::Deserialize;

/// One line of `claude -p --output-format stream-json --verbose`.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum OutputLine {
    System {
        subtype: String,
        #[serde(default)]
        session_id: String,
    },
    Assistant {
        message: Message,
        /// Set if a subagent wrote the message.
        parent_tool_use_id: Option<String>,
        /// Set if the host reports an error of the service in place of a message.
        error: Option<String>,
    },
    User {
        message: Message,
    },
    Result(ResultLine),
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
pub(super) struct Message {
    #[serde(default)]
    content: Content,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Blocks(Vec<Block>),
    Text(String),
    Other(serde::de::IgnoredAny),
}

impl Default for Content {
    fn default() -> Self {
        Self::Blocks(Vec::new())
    }
}

impl Message {
    pub(super) fn blocks(&self) -> Vec<Block> {
        match &self.content {
            Content::Blocks(blocks) => blocks.clone(),
            Content::Text(text) => vec![Block::Text { text: text.clone() }],
            Content::Other(_) => Vec::new(),
        }
    }
}

#[derive(Clone, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Block {
    Text {
        text: String,
    },
    ToolUse {
        name: String,
        #[serde(default)]
        input: ToolArguments,
    },
    ToolResult(ToolResult),
    #[serde(other)]
    Other,
}

impl Block {
    /// The result of a tool, if the block is one.
    pub(super) fn tool_result(self) -> Option<ToolResult> {
        match self {
            Self::ToolResult(result) => Some(result),
            Self::Text { .. } | Self::ToolUse { .. } | Self::Other => None,
        }
    }
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct ToolResult {
    pub is_error: bool,
    pub tool_use_id: String,
    content: serde_json::Value,
}

impl ToolResult {
    /// Did a hook of ours refuse the call?
    pub(super) fn is_our_refusal(&self) -> bool {
        self.is_error && self.content.to_string().contains("GW-R")
    }
}

/// A call that the program did not allow, or that a hook refused.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Denial {
    pub tool_name: String,
    pub tool_use_id: String,
}

/// The arguments of a tool call that are worth showing to a person.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct ToolArguments {
    command: Option<String>,
    file_path: Option<String>,
    notebook_path: Option<String>,
    pattern: Option<String>,
    subagent_type: Option<String>,
    url: Option<String>,
}

impl ToolArguments {
    pub(super) fn detail(&self) -> Option<&str> {
        let details = [
            &self.command,
            &self.file_path,
            &self.notebook_path,
            &self.pattern,
            &self.subagent_type,
            &self.url,
        ];
        details.into_iter().find_map(Option::as_deref)
    }
}

/// How a turn ended.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ResultLine {
    pub subtype: String,
    pub is_error: bool,
    pub result: Option<String>,
    pub terminal_reason: Option<String>,
    pub total_cost_usd: f64,
    pub api_error_status: Option<u64>,
    pub api_error_type: Option<String>,
    pub permission_denials: Vec<Denial>,
    errors: Vec<String>,
    #[serde(rename = "modelUsage")]
    model_usage: BTreeMap<String, ModelUsage>,
}

/// The use of one model by the worker and its subagents, in the whole conversation.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ModelUsage {
    input_tokens: u64,
    output_tokens: u64,
    cache_read_input_tokens: u64,
    cache_creation_input_tokens: u64,
}

impl ResultLine {
    pub(super) fn tokens(&self) -> u64 {
        let all = self.model_usage.values().flat_map(|usage| {
            [
                usage.input_tokens,
                usage.output_tokens,
                usage.cache_read_input_tokens,
                usage.cache_creation_input_tokens,
            ]
        });
        all.fold(0, u64::saturating_add)
    }

    /// Did the service end the turn? Otherwise the text is the model's, which proves nothing.
    pub(super) fn is_of_service(&self) -> bool {
        self.terminal_reason.as_deref() == Some("api_error")
    }

    /// Why the turn failed.
    pub(super) fn reason(&self) -> String {
        let said = self.errors.first().or(self.result.as_ref());
        let said = said.filter(|said| !said.is_empty());
        let ended = || {
            let why = self.terminal_reason.as_ref().unwrap_or(&self.subtype);
            format!("it ended by {}", why.replace('_', " "))
        };
        said.cloned().unwrap_or_else(ended)
    }
}

pub(super) fn parse(line: &[u8]) -> Option<OutputLine> {
    serde_json::from_slice(line).ok()
}
