//! Inputs that are not payloads: each has its answer, and none passes for another.

use hosts::hook::{LARGEST_INPUT, session_of};
use hosts::{Event, PayloadError, What};

use super::read;

const WHOLE: &str = r#"{"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {"file_path": "/a"}}"#;

#[test]
fn every_bad_input_says_in_one_line_why() {
    let check = |input: &str, line: &str| {
        let error = read(Some(Event::PreToolUse), input.as_bytes()).expect_err(input);
        assert_eq!(error.to_string(), line, "{input}");
    };
    check("", "the hook's input is empty");
    check(" \n\t", "the hook's input is empty");
    check(
        "{",
        "the hook's input is not complete JSON: line 1, column 1",
    );
    check(
        &WHOLE[..60],
        "the hook's input is not complete JSON: line 1, column 60",
    );
    check(
        "{}\n{}",
        "the hook's input is not complete JSON: line 2, column 1",
    );
    check(
        "hello",
        "the hook's input is not complete JSON: line 1, column 1",
    );
    check("[1]", "the hook's input is JSON but not an object");
    check("\"text\"", "the hook's input is JSON but not an object");
    check("null", "the hook's input is JSON but not an object");
    check(
        r#"{"session_id": 7}"#,
        "the hook's input has a wrong `session_id`: it must be a text",
    );
    check(
        r#"{"hook_event_name": []}"#,
        "the hook's input has a wrong `hook_event_name`: it must be a text",
    );
    check("{}", "the hook's input has no `tool_name`");
    check(
        r#"{"tool_name": {}}"#,
        "the hook's input has a wrong `tool_name`: it must be a text",
    );
    check(
        r#"{"tool_name": "Agent", "tool_input": "x"}"#,
        "the hook's input has a wrong `tool_input`: it must be an object",
    );
    check(
        r#"{"tool_name": "Read", "agent_id": 7}"#,
        "the hook's input has a wrong `agent_id`: it must be a text",
    );
    check(
        r#"{"tool_name": "Read", "agent_id": "a/b"}"#,
        "the hook's input has a wrong `agent_id`: it must be an id",
    );
    check(
        r#"{"tool_name": "Read", "agent_id": "a", "agent_type": 7}"#,
        "the hook's input has a wrong `agent_type`: it must be a text",
    );
    check(
        r#"{"hook_event_name": "SubagentStop", "agent_type": "a"}"#,
        "the hook's input has no `agent_id`",
    );
    check(
        r#"{"hook_event_name": "UserPromptSubmit", "prompt": 7}"#,
        "the hook's input has a wrong `prompt`: it must be a text",
    );
    check(
        r#"{"hook_event_name": "UserPromptSubmit"}"#,
        "the hook's input has no `prompt`",
    );
    check(
        r#"{"hook_event_name": "SessionStart", "source": 7}"#,
        "the hook's input has a wrong `source`: it must be a text",
    );
}

#[test]
fn every_cut_of_a_payload_is_noticed() {
    for length in 0..WHOLE.len() {
        let cut = &WHOLE.as_bytes()[..length];
        assert!(read(Some(Event::PreToolUse), cut).is_err(), "{length}");
    }
    assert!(read(None, WHOLE.as_bytes()).is_ok());
}

#[test]
fn the_session_is_found_in_what_cannot_be_read() {
    let check = |input: &str, expected: Option<&str>| {
        let session = session_of(input.as_bytes());
        assert_eq!(
            session.as_ref().map(engine::SessionId::as_str),
            expected,
            "{input}"
        );
    };
    check(&WHOLE[..60], Some("s1"));
    check(
        r#"{"cwd": {"session_id": "inner"}, "session_id": "s1", garbage"#,
        Some("s1"),
    );
    check(r#"{"session_id": "s1""#, Some("s1"));
    check(r#"{"session_id": "s1"#, None);
    // What follows is not looked at.
    check(
        r#"{"session_id": "s1", "x": 1, "session_id": "s2"}"#,
        Some("s1"),
    );
    check(r#"{"session_id": ""}"#, None);
    check(r#"{"session_id": "../x"}"#, None);
    check(r#"{"session_id": 7}"#, None);
    check(r#"{"prompt": "\"session_id\": \"s1\""}"#, None);
    check(r#"[{"session_id": "s1"}]"#, None);
    check("", None);
}

#[test]
fn an_unknown_or_empty_session_matches_nothing() {
    for id in ["", " ", "../../x", "a b", &"a".repeat(65)] {
        let input = format!(r#"{{"session_id": "{id}", "hook_event_name": "Stop"}}"#);
        let (_, payload) = read(None, input.as_bytes()).unwrap();
        assert_eq!(payload.session, None, "{id}");
    }
    let (_, payload) = read(None, br#"{"hook_event_name": "Stop"}"#).unwrap();
    assert_eq!(payload.session, None);
}

#[test]
fn an_unknown_event_is_ignored() {
    for word in ["", "Tomorrow", "pretooluse", "Other", "MessageDisplay"] {
        let input = format!(r#"{{"session_id": "s1", "hook_event_name": "{word}"}}"#);
        let (event, payload) = read(Some(Event::PreToolUse), input.as_bytes()).unwrap();
        assert_eq!(
            (event, payload.what),
            (Event::Other, What::Ignored),
            "{word}"
        );
    }
}

#[test]
fn every_known_event_has_its_word() {
    for event in Event::KNOWN {
        assert_eq!(Event::parse(event.word()), event);
    }
    assert_eq!(Event::parse("Other"), Event::Other);
}

#[test]
fn an_input_of_20_megabytes_is_refused_and_its_session_known() {
    let content = "x".repeat(20_000_000);
    let input = format!(
        r#"{{"session_id": "s1", "tool_name": "Write", "tool_input": {{"content": "{content}"}}}}"#
    );
    let error = read(Some(Event::PreToolUse), input.as_bytes()).unwrap_err();
    assert_eq!(
        error,
        PayloadError::TooLarge {
            bytes: input.len(),
            limit: LARGEST_INPUT
        }
    );
    assert_eq!(session_of(input.as_bytes()).unwrap().as_str(), "s1");
}

#[test]
fn a_large_file_in_a_call_is_passed_over() {
    let content = "line\\n".repeat(400_000);
    let input = format!(
        r#"{{"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": {{"content": "{content}", "file_path": "/a"}}}}"#
    );
    let (_, payload) = read(None, input.as_bytes()).unwrap();
    let What::ToolRequested { paths, .. } = payload.what else {
        panic!("not a tool call");
    };
    assert_eq!(paths, ["/a"]);
}

#[test]
fn deep_nesting_ends_without_a_crash() {
    for piece in ["[", "{\"a\":", "{\"tool_input\":"] {
        let deep = format!(r#"{{"session_id": "s1", "x": {}"#, piece.repeat(1_000_000));
        assert!(read(Some(Event::PreToolUse), deep.as_bytes()).is_err());
        assert_eq!(session_of(deep.as_bytes()).unwrap().as_str(), "s1");
    }
    let whole = format!(
        r#"{{"tool_name": "Agent", "tool_input": {{"todos": {}{}}}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert!(read(Some(Event::PreToolUse), whole.as_bytes()).is_ok());
}

#[test]
fn no_bytes_crash_the_reader() {
    let mut bytes = WHOLE.as_bytes().to_vec();
    for place in 0..bytes.len() {
        let kept = bytes[place];
        for byte in [0, b'"', b'{', b'}', b'[', b'\\', b'7', 0x80, 0xff] {
            bytes[place] = byte;
            let _ = read(Some(Event::PreToolUse), &bytes);
            let _ = session_of(&bytes);
        }
        bytes[place] = kept;
    }
}
