//! Redaction: secrets are removed from every text before it is hashed or stored.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

/// The replacement for a secret.
pub const REDACTED: &str = "«redacted»";

/// A shorter value is too common to be taken for a secret wherever it occurs.
const SHORTEST_SECRET: usize = 8;

/// How the tokens of well-known services begin, and how many characters follow at least.
const TOKEN_SHAPES: [(&str, usize); 16] = [
    ("sk-", 20),
    ("rk_live_", 16),
    ("sk_live_", 16),
    ("ghp_", 30),
    ("gho_", 30),
    ("ghu_", 30),
    ("ghs_", 30),
    ("ghr_", 30),
    ("github_pat_", 30),
    ("glpat-", 18),
    ("xoxb-", 20),
    ("xoxp-", 20),
    ("AKIA", 16),
    ("AIza", 30),
    ("npm_", 30),
    ("eyJ", 40),
];

/// Names whose value is a secret, as in `api_key = …` or `"password": "…"`.
const SECRET_NAMES: [&str; 9] = [
    "password",
    "passwd",
    "secret",
    "api_key",
    "apikey",
    "api-key",
    "access_token",
    "auth_token",
    "private_key",
];

/// The text without secrets: the given values, tokens of known shape, values of secret names, private
/// keys, and long words that look random.
pub fn redact<'a>(text: &'a str, secrets: &[String]) -> Cow<'a, str> {
    let mut found = Vec::new();
    for secret in secrets
        .iter()
        .filter(|secret| secret.len() >= SHORTEST_SECRET)
    {
        found.extend(
            text.match_indices(secret.as_str())
                .map(|(at, hit)| at..at + hit.len()),
        );
    }
    found.extend(private_keys(text));
    for word in words(text) {
        if is_token(&text[word.clone()])
            || looks_random(&text[word.clone()])
            || is_named(text, &word)
        {
            found.push(word);
        }
    }
    replace(text, found)
}

fn replace(text: &str, mut found: Vec<Range<usize>>) -> Cow<'_, str> {
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    found.sort_by_key(|range| (range.start, range.end));
    let mut clean = String::with_capacity(text.len());
    let mut done = 0;
    for range in found {
        if range.start >= done {
            clean.push_str(&text[done..range.start]);
            clean.push_str(REDACTED);
        }
        done = done.max(range.end);
    }
    clean.push_str(&text[done..]);
    Cow::Owned(clean)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'=' | b'.')
}

/// The runs of characters that tokens are made of. They are ASCII, so ranges fall on characters.
fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    core::iter::from_fn(move || {
        let start = at + bytes.get(at..)?.iter().position(|byte| is_word(*byte))?;
        let length = bytes[start..].iter().position(|byte| !is_word(*byte));
        at = length.map_or(bytes.len(), |length| start + length);
        Some(start..at)
    })
}

fn is_token(word: &str) -> bool {
    TOKEN_SHAPES.iter().any(|(start, rest)| {
        // A token may follow its name directly, as in `key=sk-…`.
        word.split('=').any(|part| {
            part.strip_prefix(start).is_some_and(|tail| {
                tail.len() >= *rest && tail.bytes().any(|byte| byte.is_ascii_digit())
            })
        })
    })
}

/// Random keys mix both cases and digits; names, hashes and versions do not.
fn looks_random(word: &str) -> bool {
    let plain = word
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'='));
    let digit_runs = word
        .as_bytes()
        .windows(2)
        .filter(|pair| pair[1].is_ascii_digit() && !pair[0].is_ascii_digit())
        .count();
    plain
        && word.len() >= 32
        && digit_runs >= 3
        && word.bytes().any(|byte| byte.is_ascii_uppercase())
        && word.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// Is this word the value of a name such as `password`?
fn is_named(text: &str, word: &Range<usize>) -> bool {
    let value = &text[word.clone()];
    if value.len() < SHORTEST_SECRET || value.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return false;
    }
    let before = text[..word.start].trim_end_matches([' ', '"', '\'']);
    let Some(name) = before.strip_suffix([':', '=']) else {
        return false;
    };
    let name = name.trim_end_matches([' ', '"', '\'']).as_bytes();
    SECRET_NAMES.iter().any(|secret| {
        name.len() >= secret.len()
            && name[name.len() - secret.len()..].eq_ignore_ascii_case(secret.as_bytes())
    })
}

fn private_keys(text: &str) -> Vec<Range<usize>> {
    const BEGIN: &str = "-----BEGIN ";
    let mut found = Vec::new();
    for (at, _) in text.match_indices(BEGIN) {
        let rest = &text[at..];
        let first_line = rest.lines().next().unwrap_or_default();
        if first_line.contains("PRIVATE KEY") {
            let end = rest
                .find("-----END ")
                .and_then(|end| rest[end + 9..].find("-----").map(|tail| end + 9 + tail + 5));
            found.push(at..at + end.unwrap_or(rest.len()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::ToString;

    fn check(text: &str, clean: &str) {
        let secrets = ["hunter2hunter2".to_string(), "short".to_string()];
        assert_eq!(redact(text, &secrets), clean, "{text}");
    }

    #[test]
    fn secrets_are_taken_out() {
        let digits = "abcdefghij0123456789abcdefghij0123456789";
        check(
            "it is hunter2hunter2, keep it",
            &format!("it is {REDACTED}, keep it"),
        );
        check(&format!("key sk-{digits}."), &format!("key {REDACTED}"));
        check(&format!("token=ghp_{digits}"), REDACTED);
        check(
            "aws AKIAIOSFODNN7EXAMPLE end",
            &format!("aws {REDACTED} end"),
        );
        check("password: s3cr3t-enough", &format!("password: {REDACTED}"));
        check(
            "\"api_key\": \"abc12345xyz\"",
            &format!("\"api_key\": \"{REDACTED}\""),
        );
        check(
            "x aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE y",
            &format!("x {REDACTED} y"),
        );
        check(
            "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nafter",
            &format!("{REDACTED}\nafter"),
        );
    }

    #[test]
    fn ordinary_text_stays() {
        for text in [
            "",
            "commit 3f786850e387550fdab836ed7e6dc881de23001b is fine",
            "TheVeryLongNameOfATypeThatSomebodyWroteInJava2",
            "the password is asked for",
            "short",
            "café «ü» https://example.org/a/b?c=d",
            "sk-learn and skip",
        ] {
            check(text, text);
        }
    }

    #[test]
    fn an_unfinished_private_key_is_taken_out_to_the_end() {
        check(
            "a -----BEGIN PRIVATE KEY-----\nMIIE",
            &format!("a {REDACTED}"),
        );
    }
}
