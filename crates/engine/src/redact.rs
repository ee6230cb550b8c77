//! Redaction: secrets are removed from every text before it is hashed or stored.

mod shapes;

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use shapes::{SECRET_URLS, is_token};

/// The replacement for a secret.
pub const REDACTED: &str = "«redacted»";

/// A shorter value is too common to be taken for a secret wherever it occurs.
const SHORTEST_SECRET: usize = 8;

/// A value that is assigned to a name such as `password` may be shorter.
const SHORTEST_ASSIGNED: usize = 6;

/// Names whose value is a secret, as in `api_key = …` or `"password": "…"`.
const SECRET_NAMES: [&str; 14] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "secret_key",
    "secret_access_key",
    "authtoken",
    "client-secret",
    "api_key",
    "apikey",
    "api-key",
    "access_token",
    "auth_token",
    "private_key",
];

/// The text without secrets: the given values, tokens of known shape, values of secret names, passwords
/// in URLs, private keys, and long words that look random.
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
    found.extend(urls(text));
    for word in words(text) {
        found.extend(secret_word(text, &word));
        found.extend(named_value(text, &word));
        found.extend(credentials(text, &word));
    }
    replace(text, found)
}

/// The word, or what follows an escape such as the `\n` of JSON, if it is a token or looks random.
fn secret_word(text: &str, word: &Range<usize>) -> Option<Range<usize>> {
    let is_secret = |range: &Range<usize>| {
        let word = &text[range.clone()];
        is_token(word) || looks_random(word) && !is_public(text, range.start)
    };
    let after_escape = escape_length(text, word).map(|length| word.start + length..word.end);
    after_escape
        .filter(is_secret)
        .or_else(|| Some(word.clone()).filter(is_secret))
}

/// What an encoded text begins with that everybody may read: files in URLs, sums of packages, public keys
/// and certificates.
const PUBLIC: [&str; 7] = [
    ";base64,", "sha1-", "sha256-", "sha384-", "sha512-", "h1:", "AAAA",
];

/// Does the encoded text that holds this place begin as something public? Its slashes and line breaks
/// divide it into words.
fn is_public(text: &str, at: usize) -> bool {
    let encodes = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let before = text.as_bytes()[..at].iter().rev();
    let start = at - before.take_while(|byte| encodes(byte)).count();
    let (before, whole) = text.split_at(start);
    PUBLIC
        .iter()
        .any(|public| before.ends_with(public) || whole.starts_with(public))
        || is_in_certificate(before)
}

fn is_in_certificate(before: &str) -> bool {
    let begun = before.rfind("-----BEGIN ");
    begun.is_some_and(|begun| {
        let inside = &before[begun..];
        let public = [
            "-----BEGIN CERTIFICATE",
            "-----BEGIN PUBLIC KEY",
            "-----BEGIN RSA PUBLIC KEY",
        ];
        public.iter().any(|public| inside.starts_with(public)) && !inside.contains("-----END ")
    })
}

/// What follows `Bearer`, or `Basic` in a header.
fn credentials(text: &str, word: &Range<usize>) -> Option<Range<usize>> {
    const LEAST: usize = 16;
    let before = text[..word.start].trim_end_matches(' ');
    let ends = |name: &str| {
        let start = before.len().checked_sub(name.len());
        start.is_some_and(|start| before.as_bytes()[start..].eq_ignore_ascii_case(name.as_bytes()))
    };
    let is_named = before.len() < word.start && (ends("bearer") || ends("authorization: basic"));
    let value = &text[word.clone()];
    let is_value = value.len() >= LEAST && value.bytes().any(|byte| byte.is_ascii_digit());
    // The rest of an encoded value lies behind its slashes.
    let end = value_at(text, word.start).end.max(word.end);
    (is_named && is_value).then_some(word.start..end)
}

/// How much of the word may belong to an escape.
fn escape_length(text: &str, word: &Range<usize>) -> Option<usize> {
    // The colour of a terminal, as in `\u{1b}[32m`.
    if text[..word.start].ends_with("\u{1b}[") {
        let colour = text[word.clone()].find('m')?;
        return Some(colour + 1).filter(|length| *length < word.len());
    }
    let is_escaped = text[..word.start].ends_with('\\');
    let length = match text.as_bytes()[word.start] {
        b'n' | b'r' | b't' | b'b' | b'f' => 1,
        b'u' => 5,
        _ => return None,
    };
    (is_escaped && length < word.len()).then_some(length)
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

/// The value of a name such as `password`, if this word begins it or contains both, as in `password=…`.
fn named_value(text: &str, word: &Range<usize>) -> Option<Range<usize>> {
    let inside = &text[word.clone()];
    let assigned = inside.match_indices('=').map(|(at, _)| at);
    for at in assigned {
        if ends_with_secret_name(&inside[..at]) {
            let value = value_at(text, word.start + at + 1);
            return Some(value).filter(|value| is_assigned_secret(&text[value.clone()]));
        }
    }
    let before = text[..word.start].trim_end_matches([' ', '"', '\'']);
    let name = before.strip_suffix([':', '='])?;
    let is_named = ends_with_secret_name(name.trim_end_matches([' ', '"', '\'']));
    // A call of a function gives the value, and is none itself.
    let is_call = text[word.end..].starts_with(['(', '[']);
    let value = value_at(text, word.start);
    [value, word.clone()]
        .into_iter()
        .find(|value| is_named && !is_call && is_named_secret(&text[value.clone()]))
}

fn ends_with_secret_name(text: &str) -> bool {
    let name = text.as_bytes();
    SECRET_NAMES.iter().any(|secret| {
        name.len() >= secret.len()
            && name[name.len() - secret.len()..].eq_ignore_ascii_case(secret.as_bytes())
    })
}

/// A value from here to the closing quote or the end of its word, whatever characters it has.
fn value_at(text: &str, start: usize) -> Range<usize> {
    let quote = |c: Option<char>| c.filter(|c| matches!(c, '"' | '\''));
    let opened = quote(text[start..].chars().next());
    let start = start + opened.map_or(0, char::len_utf8);
    let quoted = opened.or_else(|| quote(text[..start].chars().next_back()));
    let ends = |c: char| match quoted {
        Some(quote) => c == quote || c == '\\' || c.is_whitespace(),
        None => c.is_whitespace() || "\"'`,;&\\)".contains(c),
    };
    let rest = &text[start..];
    start..start + rest.find(ends).unwrap_or(rest.len())
}

/// What refers to a value is none: a variable, a placeholder, a call, a type.
fn is_reference(value: &str) -> bool {
    value.starts_with(['$', '<', '{', '[', '*', '%']) || value.contains(['(', '<', '['])
}

/// The name of another variable, or the way to it.
fn is_variable(value: &str) -> bool {
    let letters = |byte: u8| byte.is_ascii_alphabetic() || matches!(byte, b'.' | b'_');
    value.bytes().all(letters) && value.contains(['.', '_'])
}

/// After `password=` short values and plain words count, too.
fn is_assigned_secret(value: &str) -> bool {
    value.len() >= SHORTEST_ASSIGNED
        && !is_reference(value)
        && !is_variable(value)
        && !ends_with_secret_name(value)
}

fn is_named_secret(value: &str) -> bool {
    let is_plain = value.bytes().all(is_word);
    value.len() >= SHORTEST_SECRET
        && !value.bytes().all(|byte| byte.is_ascii_alphabetic())
        && !is_variable(value)
        && (is_plain || !is_reference(value) && value.bytes().any(|byte| byte.is_ascii_digit()))
}

/// Passwords in URLs, as in `https://user:…@host`, and what follows the start of a secret URL.
fn urls(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (at, scheme) in text.match_indices("://") {
        let start = at + scheme.len();
        let rest = &text[start..];
        let ends = |c: char| {
            c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '\'' | '`' | '<' | '>' | '\\')
        };
        let authority = &rest[..rest.find(ends).unwrap_or(rest.len())];
        if let Some((user, _)) = authority.rsplit_once('@')
            && let Some((name, password)) = user.split_once(':')
            && !password.is_empty()
        {
            let from = start + name.len() + 1;
            found.push(from..from + password.len());
        }
    }
    for (at, url) in SECRET_URLS.iter().flat_map(|url| text.match_indices(url)) {
        let value = value_at(text, at + url.len());
        if value.len() >= SHORTEST_SECRET
            && text[value.clone()]
                .bytes()
                .any(|byte| byte.is_ascii_digit())
        {
            found.push(value);
        }
    }
    found
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
mod tests;
