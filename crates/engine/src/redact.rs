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

    /// A part that stands for the random characters of a token.
    const RANDOM: &str = "A1b2C3d4E5f6A7b8C9d0E1f2A3b4C5d6E7f8A9b0C1d2E3f4A5b6C7d8E9f0A1b2C3d4";

    #[test]
    fn tokens_of_known_services_are_taken_out_wherever_they_stand() {
        let capitals = "ABCDEFGH12345678";
        let hexadecimal = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
        let alphanumeric = &RANDOM[..40];
        for token in [
            format!("AKIA{capitals}"),
            format!("ASIA{capitals}"),
            format!("hf_{}", &RANDOM[..34]),
            format!("pypi-AgEIcHlwaS5vcmc{RANDOM}"),
            format!("SG.{}.{}", &RANDOM[..22], &RANDOM[..43]),
            format!("hvs.CAESI{RANDOM}"),
            format!("ghp_{}", &RANDOM[..36]),
            format!("github_pat_{}_{RANDOM}", &RANDOM[..22]),
            format!("glpat-{}", &RANDOM[..20]),
            format!("xoxb-123456789012-123456789012-{}", &RANDOM[..24]),
            format!("xapp-1-A0123456789-{}", &RANDOM[..30]),
            format!("sk_test_{}", &RANDOM[..24]),
            format!("whsec_{}", &RANDOM[..32]),
            format!("AIza{}", &RANDOM[..35]),
            format!("ya29.{RANDOM}"),
            format!("GOCSPX-{}", &RANDOM[..28]),
            format!("npm_{}", &RANDOM[..36]),
            format!("sk-{}", &RANDOM[..48]),
            format!("sk-ant-api03-{RANDOM}"),
            format!("sk-proj-{RANDOM}"),
            format!("dop_v1_{hexadecimal}"),
            format!("shpat_{}", &hexadecimal[..32]),
            format!("SK{}", &hexadecimal[..32]),
            format!("lin_api_{alphanumeric}"),
            format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{}", &RANDOM[..43]),
        ] {
            for (text, clean) in [
                (token.clone(), REDACTED.to_string()),
                (format!("a {token} b"), format!("a {REDACTED} b")),
                (format!("a\n{token}\n"), format!("a\n{REDACTED}\n")),
                (format!("\"a\\n{token}\""), format!("\"a\\n{REDACTED}\"")),
                (
                    format!("\"a\\u000a{token}\""),
                    format!("\"a\\u000a{REDACTED}\""),
                ),
                (format!("'{token}'"), format!("'{REDACTED}'")),
            ] {
                check(&text, &clean);
                check(&clean, &clean);
            }
        }
    }

    #[test]
    fn credentials_of_a_header_and_tokens_in_colour_are_taken_out() {
        let token = format!("ghp_{}", &RANDOM[..36]);
        for (text, clean) in [
            (
                "Authorization: Bearer abcdef-0123456789-x".to_string(),
                "Authorization: Bearer «redacted»".to_string(),
            ),
            (
                "-H 'authorization: basic dXNlcjpwYXNzd29yZDE='".to_string(),
                "-H 'authorization: basic «redacted»'".to_string(),
            ),
            (
                format!("\u{1b}[32m{token}\u{1b}[0m"),
                "\u{1b}[32m«redacted»\u{1b}[0m".to_string(),
            ),
            (
                // After a certificate ends, what looks random is a secret again.
                format!(
                    "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n{}",
                    &RANDOM[..40]
                ),
                "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n«redacted»"
                    .to_string(),
            ),
        ] {
            check(&text, &clean);
            check(&clean, &clean);
        }
    }

    #[test]
    fn assigned_passwords_and_those_in_urls_are_taken_out() {
        for (text, clean) in [
            ("password=hunter2", "password=«redacted»"),
            ("PASSWORD=swordfish!", "PASSWORD=«redacted»"),
            ("DB_PASSWORD='p@ss,w0rd'", "DB_PASSWORD='«redacted»'"),
            ("password: p@ssw0rd! x", "password: «redacted» x"),
            (
                "a?user=me&password=hunter2&b=c",
                "a?user=me&password=«redacted»&b=c",
            ),
            (
                "//r.org/:_authToken=abc-123-def",
                "//r.org/:_authToken=«redacted»",
            ),
            (
                "git clone https://user:pass@host/a.git",
                "git clone https://user:«redacted»@host/a.git",
            ),
            (
                "postgres://me:p@ss@db:5432/x?y",
                "postgres://me:«redacted»@db:5432/x?y",
            ),
            ("redis://:hunter2@db", "redis://:«redacted»@db"),
            (
                "https://hooks.slack.com/services/T01/B02/abc3 end",
                "https://hooks.slack.com/services/«redacted» end",
            ),
        ] {
            check(text, clean);
            check(clean, clean);
        }
    }

    #[test]
    fn ordinary_text_stays() {
        for text in [
            "",
            "commit 3f786850e387550fdab836ed7e6dc881de23001b is fine",
            "123e4567-e89b-12d3-a456-426614174000",
            "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "crates/engine/src/redact/shapes.rs:12:34",
            "C:\\new\\folder\\file2.txt",
            "TheVeryLongNameOfATypeThatSomebodyWroteInJava2",
            "the password is asked for",
            "fn check(password: &str, secret: Option<String>) -> bool",
            "login(password=password, secret=config.secret_value)",
            "password=$PASSWORD password=${PASSWORD} password=<yours> password=",
            "let password = read();",
            "short",
            "café «ü» https://example.org/a/b?c=d",
            "http://localhost:8080/@scope/package@1.2.3 and me@example.org",
            "ssh://git@example.org/a.git git@example.org:a/b.git",
            "sk-learn and skip, sk-learn-based-classifier-with-2-layers",
            "ASIA-PACIFIC-2024-REPORT AKIA ASIA2024CONFERENCEPROGRAM",
            "hf_hub_download_of_a_large_model_file_2 npm_config_registry_of_the_company_1",
            "pypi-attestations-0.0.12 glft-2 SG.3 hvs.1 SKIP1 cio2",
            "feat/eyJ-2",
            "x86_64-unknown-linux-gnu-1.92.0 2026-11-16T20:28:49.123456789Z",
            "password = get_password()",
            "password = get_password2(user)",
            "self.password = config.database_password",
            "apiKey: process.env.API_KEY, token: string, access_token: string",
            "secret: SecretManager.read_current",
            "private_key: rsa.RSAPrivateKey",
            "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ/AAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
            "\"integrity\": \"sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg==\"",
            "github.com/a/b v1.2.3 h1:8aK2z4JmN1pQ3sT5vW7yZ9bC1dE3fG5hJ7kL9mN1pQ3=",
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ7kL9mN1pQ3sT5vW7yZ9bC1dE3fG5hJ7kL9mN1pQ3 me@host",
            "-----BEGIN CERTIFICATE-----\nMIIB8aK2z4JmN1pQ3sT5vW7yZ9bC1dE3fG5hJ7kL9mN1pQ3\n-----END CERTIFICATE-----",
            "the bearer of this letter, Bearer authentication, Authorization: Bearer $TOKEN",
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
