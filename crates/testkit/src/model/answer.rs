//! How a message of the model looks on the wire: as a stream of events, or whole.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::protocol::WRITTEN;
use super::script::{Block, Speech};

/// What goes back over the wire.
pub(crate) struct Answer {
    pub status: u16,
    pub content_type: &'static str,
    pub body: String,
}

impl Answer {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self {
            status,
            content_type: "application/json",
            body: body.to_string(),
        }
    }

    /// An error in the form of the API.
    pub(crate) fn error(status: u16, message: &str) -> Self {
        let kind = match status {
            400 => "invalid_request_error",
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            _ => "api_error",
        };
        let error = json!({ "type": kind, "message": message });
        Self::json(status, &json!({ "type": "error", "error": error }))
    }

    /// A message, in the form that the request asked for.
    pub(super) fn message(speech: &Speech, request: &Value) -> Self {
        let message = message(speech, &request["model"]);
        if request["stream"] != true {
            return Self::json(200, &message);
        }
        Self {
            status: 200,
            content_type: "text/event-stream",
            body: events(&message).iter().map(event_text).collect(),
        }
    }
}

fn message(speech: &Speech, model: &Value) -> Value {
    let content: Vec<_> = speech.blocks.iter().map(block).collect();
    let calls = content.iter().any(|block| block["type"] == "tool_use");
    json!({
        "id": unique("msg"),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": if calls { "tool_use" } else { "end_turn" },
        "stop_sequence": null,
        "usage": { "input_tokens": speech.input_tokens, "output_tokens": WRITTEN },
    })
}

fn block(block: &Block) -> Value {
    match block {
        Block::Text(text) => json!({ "type": "text", "text": text }),
        Block::Call { tool, input } => {
            json!({ "type": "tool_use", "id": unique("toolu"), "name": tool, "input": input })
        }
    }
}

/// An id that no other answer has, of this or of another process: a session may outlive a model.
pub(super) fn unique(prefix: &str) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    format!(
        "{prefix}_{:x}{:x}x{count}",
        since.as_nanos(),
        std::process::id()
    )
}

/// The same message, as the events of a stream.
fn events(message: &Value) -> Vec<Value> {
    let mut start = message.clone();
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    let mut events = vec![json!({ "type": "message_start", "message": start })];
    let blocks = message["content"].as_array().map_or(&[][..], Vec::as_slice);
    for (index, block) in blocks.iter().enumerate() {
        events.extend(block_events(index, block));
    }
    let delta = json!({ "stop_reason": message["stop_reason"], "stop_sequence": null });
    events.push(json!({ "type": "message_delta", "delta": delta, "usage": message["usage"] }));
    events.push(json!({ "type": "message_stop" }));
    events
}

fn block_events(index: usize, block: &Value) -> [Value; 3] {
    let mut start = block.clone();
    let delta = if block["type"] == "tool_use" {
        start["input"] = json!({});
        json!({ "type": "input_json_delta", "partial_json": block["input"].to_string() })
    } else {
        start["text"] = json!("");
        json!({ "type": "text_delta", "text": block["text"] })
    };
    [
        json!({ "type": "content_block_start", "index": index, "content_block": start }),
        json!({ "type": "content_block_delta", "index": index, "delta": delta }),
        json!({ "type": "content_block_stop", "index": index }),
    ]
}

pub(super) fn event_text(event: &Value) -> String {
    let name = event["type"].as_str().unwrap_or_default();
    format!("event: {name}\ndata: {event}\n\n")
}
