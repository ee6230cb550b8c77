//! The Responses API, as far as Codex needs it.

use serde_json::{Value, json};

use super::answer::{Answer, event_text, unique};
use super::protocol::{Messages, THOUGHT, Tools, WRITTEN, call_as};
use super::script::{Block, Speech};

const TOOLS: Tools = Tools {
    shell: |line| ("exec_command".to_owned(), json!({ "cmd": line })),
    // It has no tool that writes a file but for models that it knows.
    write: |path, content| {
        let line = format!(
            "mkdir -p \"$(dirname '{path}')\" && cat > '{path}' <<'END OF FILE'\n{content}\nEND OF FILE"
        );
        ("exec_command".to_owned(), json!({ "cmd": line }))
    },
};

pub(super) fn request(body: &Value) -> Value {
    let mut messages = Messages::default();
    let mut system = Vec::new();
    let items = body["input"].as_array().map_or(&[][..], Vec::as_slice);
    for item in items {
        match (item["type"].as_str(), item["role"].as_str()) {
            (Some("message"), Some("user")) => messages.push("user", text(item)),
            (Some("message"), Some("assistant")) => messages.push("assistant", text(item)),
            (Some("message"), _) => system.push(text(item)),
            (Some("function_call" | "custom_tool_call"), _) => {
                let called = json!({
                    "type": "tool_use", "id": item["call_id"], "name": item["name"],
                });
                messages.push("assistant", called);
            }
            (Some("function_call_output" | "custom_tool_call_output"), _) => {
                messages.push("user", result(item));
            }
            _ => {}
        }
    }
    json!({
        "messages": messages.into_value(),
        "system": system,
        "tools": body["tools"],
        "model": body["model"],
    })
}

fn text(item: &Value) -> Value {
    let parts = item["content"].as_array().map_or(&[][..], Vec::as_slice);
    let texts: Vec<_> = parts
        .iter()
        .filter_map(|part| part["text"].as_str())
        .collect();
    json!({ "type": "text", "text": texts.join("\n") })
}

fn result(item: &Value) -> Value {
    let output = match &item["output"] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    json!({ "type": "tool_result", "tool_use_id": item["call_id"], "content": output })
}

pub(super) fn answer(speech: &Speech) -> Answer {
    let id = unique("resp");
    let created = json!({ "type": "response.created", "response": { "id": id } });
    let items = speech
        .blocks
        .iter()
        .map(|block| json!({ "type": "response.output_item.done", "item": item(block) }));
    let usage = json!({
        "input_tokens": speech.input_tokens,
        "input_tokens_details": { "cached_tokens": speech.input_tokens / 2 },
        "output_tokens": WRITTEN,
        "output_tokens_details": { "reasoning_tokens": THOUGHT },
        "total_tokens": speech.input_tokens + WRITTEN,
    });
    let response = json!({ "id": id, "usage": usage });
    let completed = json!({ "type": "response.completed", "response": response });
    let events = [created].into_iter().chain(items).chain([completed]);
    Answer {
        status: 200,
        content_type: "text/event-stream",
        body: events.map(|event| event_text(&event)).collect(),
    }
}

fn item(block: &Block) -> Value {
    match (block, call_as(block, &TOOLS)) {
        (_, Some((name, arguments))) => json!({
            "type": "function_call",
            "call_id": unique("call"),
            "name": name,
            "arguments": arguments.to_string(),
        }),
        (Block::Text(text), None) => {
            let content = json!([{ "type": "output_text", "text": text }]);
            json!({ "type": "message", "role": "assistant", "content": content })
        }
        (Block::Call { .. }, None) => Value::Null,
    }
}
