//! The Gemini API, as far as Gemini CLI needs it.

use serde_json::{Value, json};

use super::answer::Answer;
use super::protocol::{Messages, THOUGHT, Tools, WRITTEN, call_as};
use super::script::{Block, Speech};

const TOOLS: Tools = Tools {
    shell: |line| {
        let input = json!({ "command": line, "description": "a line" });
        ("run_shell_command".to_owned(), input)
    },
    write: |path, content| {
        let input = json!({ "file_path": path, "content": content });
        ("write_file".to_owned(), input)
    },
};

pub(super) fn request(body: &Value) -> Value {
    let mut messages = Messages::default();
    for content in list(&body["contents"]) {
        let role = match content["role"].as_str() {
            Some("model") => "assistant",
            _ => "user",
        };
        for part in list(&content["parts"]) {
            messages.push(role, block(part));
        }
    }
    let tools = list(&body["tools"]).iter();
    let tools = tools.flat_map(|tool| list(&tool["functionDeclarations"]));
    json!({
        "messages": messages.into_value(),
        "system": body["systemInstruction"]["parts"],
        "tools": tools.collect::<Vec<_>>(),
    })
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn block(part: &Value) -> Value {
    let (call, response) = (&part["functionCall"], &part["functionResponse"]);
    if call.is_object() {
        return json!({ "type": "tool_use", "id": call["id"], "name": call["name"] });
    }
    if !response.is_object() {
        return json!({ "type": "text", "text": part["text"] });
    }
    let (output, error) = (
        &response["response"]["output"],
        &response["response"]["error"],
    );
    json!({
        "type": "tool_result",
        "tool_use_id": response["id"],
        "content": output.as_str().or(error.as_str()).unwrap_or_default(),
        "is_error": error.is_string(),
    })
}

pub(super) fn answer(speech: &Speech) -> Value {
    let parts: Vec<_> = speech.blocks.iter().map(part).collect();
    let content = json!({ "role": "model", "parts": parts });
    json!({
        "candidates": [{ "content": content, "finishReason": "STOP", "index": 0 }],
        "usageMetadata": {
            "promptTokenCount": speech.input_tokens,
            "cachedContentTokenCount": speech.input_tokens / 2,
            "candidatesTokenCount": WRITTEN - THOUGHT,
            "thoughtsTokenCount": THOUGHT,
            "totalTokenCount": speech.input_tokens + WRITTEN,
        },
        "modelVersion": "scripted",
    })
}

fn part(block: &Block) -> Value {
    match (block, call_as(block, &TOOLS)) {
        (_, Some((name, args))) => json!({ "functionCall": { "name": name, "args": args } }),
        (Block::Text(text), None) => json!({ "text": text }),
        (Block::Call { .. }, None) => Value::Null,
    }
}

pub(super) fn stream(speech: &Speech) -> Answer {
    Answer {
        status: 200,
        content_type: "text/event-stream",
        body: format!("data: {}\r\n\r\n", answer(speech)),
    }
}

pub(super) fn error(status: u16, message: &str) -> Answer {
    let kind = match status {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        _ => "INTERNAL",
    };
    let error = json!({ "code": status, "message": message, "status": kind });
    Answer::json(status, &json!({ "error": error }))
}
