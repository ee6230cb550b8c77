//! Redaction of JSON: each string is redacted as what it means, not as it is escaped.

use std::borrow::Cow;

/// A text without secrets. If it is JSON, its strings are unescaped first: a token after a line break
/// would otherwise begin with the `n` of its escape. What is clean stays byte for byte.
pub fn redact_document(text: &str, secrets: &[String]) -> String {
    let is_json = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    let text = if is_json {
        redact_strings(text, secrets)
    } else {
        Cow::Borrowed(text)
    };
    engine::redact(&text, secrets).into_owned()
}

/// Invariant: the text is valid JSON, so quotes only open and close strings.
fn redact_strings<'t>(text: &'t str, secrets: &[String]) -> Cow<'t, str> {
    let mut clean = String::new();
    let mut done = 0;
    let mut at = 0;
    while let Some(start) = text[at..].find('"').map(|found| at + found) {
        let end = start + string_length(&text[start..]);
        at = end;
        let Ok(value) = serde_json::from_str::<String>(&text[start..end]) else {
            continue;
        };
        if let Cow::Owned(value) = engine::redact(&value, secrets) {
            clean.push_str(&text[done..start]);
            clean.push_str(&serde_json::Value::from(value).to_string());
            done = end;
        }
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    clean.push_str(&text[done..]);
    Cow::Owned(clean)
}

/// The length of the string that begins here, with both quotes.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    });
    end.map_or(text.len(), |end| end + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";

    #[test]
    fn a_token_is_found_however_it_is_escaped() {
        for written in [
            format!(r#"{{"a": "x\n{TOKEN}"}}"#),
            format!(r#"{{"a": "x\u000a{TOKEN}\ny"}}"#),
            format!(r#"{{"a": "\u0067{}"}}"#, &TOKEN[1..]),
            format!(r#"["\"{TOKEN}\""]"#),
            format!(r#"{{"{TOKEN}": 1}}"#),
            format!("plain\n{TOKEN}"),
            format!("not JSON: \"a\\n{TOKEN}\""),
        ] {
            let clean = redact_document(&written, &[]);
            assert!(!clean.contains(&TOKEN[4..]), "{clean}");
            assert!(clean.contains(engine::REDACTED), "{clean}");
            let is_json = |text: &str| serde_json::from_str::<serde_json::Value>(text).is_ok();
            assert_eq!(is_json(&clean), is_json(&written), "{clean}");
            assert_eq!(redact_document(&clean, &[]), clean);
        }
    }

    #[test]
    fn a_secret_with_a_quote_is_found_inside_a_string() {
        let secrets = ["a\"b\nc-d-e-f".to_owned()];
        let clean = redact_document(r#"{"a": "x a\"b\nc-d-e-f y"}"#, &secrets);
        assert_eq!(clean, r#"{"a": "x «redacted» y"}"#);
    }

    #[test]
    fn what_has_no_secret_keeps_every_byte() {
        for written in [
            "",
            "{}",
            r#" { "a" : "\u00e9\/\n" , "b":[1.0, true,null] } "#,
            "text with \" one quote",
            r#""\\""#,
        ] {
            assert_eq!(redact_document(written, &[]), written);
        }
    }
}
