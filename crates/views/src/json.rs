//! JSON as text: exact for machines, and harmless when a person prints it.

use serde_json::Value;

use crate::safe::{has_forbidden, is_forbidden};

/// Indented JSON with a newline at its end. What `safe` would drop is escaped instead: nothing is
/// lost, and a terminal does not interpret it.
pub fn json_text(value: &Value) -> String {
    let mut text = harmless(format!("{value:#}"));
    text.push('\n');
    text
}

/// The same on one line, without a newline.
pub(crate) fn json_line(value: &Value) -> String {
    // A newline or tab inside a text is escaped by JSON itself.
    harmless(value.to_string())
}

/// A text as JSON, the same as `json_line` of its value.
pub(crate) fn json_string(text: &str) -> String {
    // A text can always be written.
    harmless(serde_json::to_string(text).unwrap_or_default())
}

/// Indented JSON inside of a text with this indentation, without a newline at its end.
pub(crate) fn json_inside(value: &Value, indentation: usize) -> String {
    let text = json_text(value);
    text.trim_end()
        .replace('\n', &format!("\n{:indentation$}", ""))
}

fn harmless(json: String) -> String {
    if !has_forbidden(&json) {
        return json;
    }
    let mut text = String::with_capacity(json.len());
    for found in json.chars() {
        if is_forbidden(found) {
            push_escaped(&mut text, found);
        } else {
            text.push(found);
        }
    }
    text
}

fn push_escaped(text: &mut String, found: char) {
    for unit in found.encode_utf16(&mut [0; 2]) {
        text.push_str(&format!("\\u{unit:04x}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_random::TestRandom;

    #[test]
    fn hostile_text_survives_exactly_and_is_never_printed_raw() {
        let mut random = TestRandom::new(5);
        for _ in 0..2_000 {
            let value = serde_json::json!({ random.hostile_text(9): random.hostile_text(30) });
            let text = json_text(&value);
            assert!(!text.chars().any(is_forbidden), "{text:?}");
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
            let text = random.hostile_text(30);
            assert_eq!(json_string(&text), json_line(&text.as_str().into()));
        }
    }
}
