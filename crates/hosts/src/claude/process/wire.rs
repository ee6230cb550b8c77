//! The shapes of Claude Code's output: the only place that knows the names of its fields.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::agent_process::{EndedTurns, TokenCounts, reset_time};

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
    RateLimitEvent {
        #[serde(default)]
        rate_limit_info: RateLimit,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
pub(super) struct Message {
    #[serde(default)]
    id: String,
    #[serde(default)]
    usage: Option<MessageUsage>,
    #[serde(default)]
    content: Content,
}

/// What one message of the model used. The output grows while it is written, and its last size is not told.
#[derive(Default, Deserialize)]
#[serde(default)]
struct MessageUsage {
    input_tokens: u64,
    output_tokens: u64,
    cache_read_input_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_creation: Option<CacheCreation>,
}

/// What was written to the cache, by how long it is kept.
#[derive(Default, Deserialize)]
#[serde(default)]
struct CacheCreation {
    ephemeral_1h_input_tokens: u64,
}

impl MessageUsage {
    fn counts(&self) -> TokenCounts {
        let kept = self.cache_creation.as_ref();
        TokenCounts {
            input: self.input_tokens,
            output: self.output_tokens,
            cache_read: self.cache_read_input_tokens,
            cache_write: self.cache_creation_input_tokens,
            long_cache_write: kept.map_or(0, |kept| kept.ephemeral_1h_input_tokens),
        }
    }
}

/// What the service says about a limit of the account.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct RateLimit {
    status: String,
    #[serde(rename = "resetsAt")]
    resets_at: Option<u64>,
}

impl RateLimit {
    /// When the limit ends, in seconds since 1970, if it is reached.
    pub(super) fn resets(&self) -> Option<u64> {
        let resets_at = self.resets_at.filter(|_| self.status == "rejected")?;
        reset_time::moment_of_number(resets_at)
    }
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
    /// Its id, and the tokens that it has used so far.
    pub(super) fn used(&self) -> Option<(&str, TokenCounts)> {
        let usage = self.usage.as_ref().filter(|_| !self.id.is_empty())?;
        Some((&self.id, usage.counts()))
    }

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
    /// How the last message of the model ended.
    pub stop_reason: Option<String>,
    pub total_cost_usd: f64,
    pub api_error_status: Option<u64>,
    pub api_error_type: Option<String>,
    pub permission_denials: Vec<Denial>,
    errors: Vec<String>,
    /// By model. It covers the worker and its subagents.
    model_usage_since_last_result: Option<BTreeMap<String, ModelUsage>>,
    /// Of the main conversation in this turn.
    usage: MessageUsage,
}

/// The use of one model.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ModelUsage {
    input_tokens: u64,
    output_tokens: u64,
    cache_read_input_tokens: u64,
    cache_creation_input_tokens: u64,
    #[serde(rename = "cacheCreationEphemeral1hInputTokens")]
    long_cache_creation_input_tokens: u64,
    #[serde(rename = "costUSD")]
    cost_usd: f64,
}

impl ModelUsage {
    fn counts(&self) -> TokenCounts {
        TokenCounts {
            input: self.input_tokens,
            output: self.output_tokens,
            cache_read: self.cache_read_input_tokens,
            cache_write: self.cache_creation_input_tokens,
            long_cache_write: self.long_cache_creation_input_tokens,
        }
    }
}

impl ResultLine {
    /// What was used since the result before.
    pub(super) fn used(&self) -> EndedTurns {
        let counts = self.counts();
        let sum = |number: fn(TokenCounts) -> u64| {
            let each = counts.iter().copied().map(number);
            each.fold(0, u64::saturating_add)
        };
        EndedTurns {
            tokens: sum(TokenCounts::total),
            weight: sum(TokenCounts::weight),
            cost_micros: self.cost_micros(),
        }
    }

    /// The tokens by model. A version that does not say that names those of the turn.
    fn counts(&self) -> Vec<TokenCounts> {
        match &self.model_usage_since_last_result {
            Some(by_model) => by_model.values().map(ModelUsage::counts).collect(),
            None => vec![self.usage.counts()],
        }
    }

    /// The cost since the result before, in millionths. A version that does not say it names the cost of the
    /// whole conversation: rather too much than too little.
    fn cost_micros(&self) -> u64 {
        match &self.model_usage_since_last_result {
            Some(by_model) => {
                let each = by_model.values().map(|usage| micros(usage.cost_usd));
                each.fold(0, u64::saturating_add)
            }
            None => micros(self.total_cost_usd),
        }
    }

    /// Did the service end the turn? Otherwise the text is the model's, which proves nothing.
    pub(super) fn is_of_service(&self) -> bool {
        self.terminal_reason.as_deref() == Some("api_error")
    }

    /// Did the service end the turn, with neither a status nor a kind of error?
    pub(super) fn is_unnamed_failure(&self) -> bool {
        self.is_of_service() && self.api_error_status.is_none() && self.api_error_type.is_none()
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

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast of a float saturates: a cost below zero becomes 0, and no cost is that high"
)]
fn micros(dollars: f64) -> u64 {
    (dollars * 1e6).round() as u64
}
