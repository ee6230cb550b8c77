//! Secrets in every shape, and words that only look like them.

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
            "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n«redacted»".to_string(),
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
