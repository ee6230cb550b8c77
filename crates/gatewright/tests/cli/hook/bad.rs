//! Bad input: a documented answer each, exit 0 or 2 and nothing else, one line that says why.

use std::process::Stdio;

use serde_json::{Value, json};
use testkit::Ran;

use super::seat::{SESSION, Seat, fed};

/// The exit code is one of two, stdout is nothing or one whole JSON object, stderr at most one line.
#[track_caller]
fn well_formed(ran: &Ran) {
    assert!(matches!(ran.code, Some(0 | 2)), "{ran}");
    let whole: Result<Value, _> = serde_json::from_str(&ran.stdout);
    let is_object = whole.is_ok_and(|value| value.is_object());
    assert!(ran.stdout.is_empty() || is_object, "{ran}");
    assert!(ran.stderr.lines().count() <= 1, "{ran}");
}

/// Refused: by its exit code, or by a deny that the host honours.
fn is_refused(ran: &Ran) -> bool {
    ran.code == Some(2) || ran.stdout.contains(r#""permissionDecision":"deny""#)
}

fn payloads() -> Vec<(&'static str, Vec<u8>)> {
    let large = json!({
        "session_id": SESSION,
        "hook_event_name": "PreToolUse",
        "tool_name": "Write",
        "tool_input": {"file_path": "a", "content": "x".repeat(20_000_000)},
    });
    let typed = |value: Value| value.to_string().into_bytes();
    vec![
        ("empty", Vec::new()),
        ("blank", b" \n".to_vec()),
        (
            "truncated",
            br#"{"session_id":"94e177ca-6e8d-476c-9202-9845d99bc9b8","hook_event"#.to_vec(),
        ),
        ("20 MB", typed(large)),
        ("no object", b"[1,2]".to_vec()),
        ("no JSON", b"hello".to_vec()),
        ("no text", vec![0xff, 0xfe, 0x00]),
        (
            "a tool that is a number",
            typed(json!({"session_id": SESSION, "hook_event_name": "PreToolUse", "tool_name": 7})),
        ),
        (
            "an input that is a list",
            typed(json!({
                "session_id": SESSION, "hook_event_name": "PreToolUse", "tool_name": "Agent",
                "tool_input": [],
            })),
        ),
    ]
}

#[test]
fn what_cannot_be_read_is_refused_in_an_enrolled_session() {
    let seat = Seat::enrolled();
    for (name, bytes) in payloads() {
        let ran = seat.raw("PreToolUse", &bytes);
        well_formed(&ran);
        assert!(is_refused(&ran), "{name}: {ran}");
        let told = format!("{}{}", ran.stdout, ran.stderr);
        assert!(told.contains("GW-R"), "{name}: {ran}");
    }
}

#[test]
fn what_cannot_be_read_is_ignored_elsewhere() {
    let seat = Seat::installed();
    for (name, bytes) in payloads() {
        let mut command = seat.command("PreToolUse");
        command.env("CLAUDE_CODE_SESSION_ID", "another");
        let text = String::from_utf8_lossy(&bytes).replace(SESSION, "another");
        let bytes = match std::str::from_utf8(&bytes) {
            Ok(_) => text.into_bytes(),
            Err(_) => bytes,
        };
        let ran = fed(command, &bytes);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(0), ""),
            "{name}: {ran}"
        );
    }
}

#[test]
fn a_stop_and_a_prompt_that_cannot_be_read_go_on_and_say_so() {
    let seat = Seat::enrolled();
    for event in [
        "Stop",
        "SubagentStop",
        "UserPromptSubmit",
        "SessionStart",
        "PostToolUse",
    ] {
        let ran = seat.raw(event, b"{");
        well_formed(&ran);
        assert_eq!(ran.code, Some(0), "{event}: {ran}");
        let told = format!("{}{}", ran.stdout, ran.stderr);
        assert!(told.contains("GW-R101"), "{event}: {ran}");
    }
}

#[test]
fn an_unknown_event_and_a_missing_session_are_nobodys() {
    let seat = Seat::enrolled();
    let unknown = json!({"hook_event_name": "SomethingNew", "detail": {"deep": [1, 2]}});
    let ran = seat.hook("SomethingNew", &unknown);
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
        (Some(0), "", ""),
        "{ran}"
    );
    for session in [json!(""), json!(null), json!(7)] {
        let payload = json!({
            "session_id": session, "hook_event_name": "PreToolUse", "tool_name": "Agent",
            "tool_input": {"subagent_type": "x", "prompt": "p", "description": "d"},
        });
        let mut command = seat.command("PreToolUse");
        command.env_remove("CLAUDE_CODE_SESSION_ID");
        let ran = fed(command, payload.to_string().as_bytes());
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{ran}");
    }
}

#[test]
fn a_closed_stdout_changes_nothing() {
    let seat = Seat::enrolled();
    let payload = json!({
        "session_id": SESSION, "hook_event_name": "PreToolUse", "tool_name": "Write",
        "tool_input": {"file_path": ".claude/settings.json", "content": "{\"hooks\": {}}"},
    });
    let mut command = seat.command("PreToolUse");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    command.stdout(Stdio::from(writer));
    let ran = fed(command, payload.to_string().as_bytes());
    // The reason is lost, and the no is not.
    assert_eq!(ran.code, Some(2), "{ran}");
    let refused = seat.journal();
    assert!(refused.iter().any(|entry| entry["rule"] == "GW-R23"));
}

#[test]
fn a_damaged_store_refuses_agents_and_lets_ordinary_tools_pass() {
    let seat = Seat::enrolled();
    let files = std::fs::read_dir(seat.project.state()).expect("the state folder");
    for file in files.filter_map(Result::ok).map(|entry| entry.path()) {
        let name = file
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default()
            .to_owned();
        if name.contains("db") || name.contains("sqlite") {
            std::fs::write(
                &file,
                b"this is no database, and long enough to be looked at twice",
            )
            .expect("written");
        }
    }
    let agent = json!({
        "hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_use_id": "t1",
        "tool_input": {"subagent_type": "x", "prompt": "p", "description": "d"},
    });
    let ran = seat.hook("PreToolUse", &agent);
    well_formed(&ran);
    assert!(is_refused(&ran), "{ran}");
    let read = json!({
        "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_use_id": "t2",
        "tool_input": {"file_path": "README.md"},
    });
    let ran = seat.hook("PreToolUse", &read);
    well_formed(&ran);
    assert!(!is_refused(&ran), "{ran}");
    let settings = json!({
        "hook_event_name": "PreToolUse", "tool_name": "Write", "tool_use_id": "t3",
        "tool_input": {"file_path": ".claude/settings.json", "content": "{}"},
    });
    let ran = seat.hook("PreToolUse", &settings);
    assert!(is_refused(&ran), "{ran}");
}

#[test]
fn a_session_without_a_run_does_not_open_the_store() {
    let seat = Seat::installed();
    let state = seat.project.state();
    // A hook that opened this would fail.
    std::fs::write(state.join("gatewright.db"), b"no database").expect("written");
    for event in [
        "PostToolUse",
        "Stop",
        "SubagentStop",
        "SessionEnd",
        "StopFailure",
    ] {
        let payload =
            json!({"hook_event_name": event, "session_id": "another", "tool_name": "Bash"});
        let mut command = seat.command(event);
        command.env("CLAUDE_CODE_SESSION_ID", "another");
        let ran = fed(command, payload.to_string().as_bytes());
        assert_eq!(
            (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
            (Some(0), "", ""),
            "{event}"
        );
    }
}

#[test]
fn what_could_not_be_recorded_is_marked_later() {
    let seat = Seat::enrolled();
    let state = seat.project.state();
    let name = std::fs::read_dir(&state)
        .expect("the state folder")
        .filter_map(Result::ok);
    let store = name.map(|entry| entry.path()).find(|path| {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        name.ends_with(".db") || name.ends_with(".sqlite")
    });
    let store = store.expect("the store is a file");
    let aside = state.join("aside");
    std::fs::rename(&store, &aside).expect("moved away");
    std::fs::create_dir(&store).expect("something else in its place");
    let stopped = json!({
        "hook_event_name": "SubagentStop", "agent_id": "a1", "agent_type": "writer",
        "last_assistant_message": "done", "stop_hook_active": false, "background_tasks": [],
    });
    let ran = seat.hook("SubagentStop", &stopped);
    well_formed(&ran);
    assert_eq!(ran.code, Some(0), "{ran}");
    std::fs::remove_dir(&store).expect("away with it");
    std::fs::rename(&aside, &store).expect("moved back");
    let prompt = json!({"hook_event_name": "UserPromptSubmit", "prompt": "go on"});
    seat.hook("UserPromptSubmit", &prompt).succeeds();
    let journal = seat.journal();
    let marks: Vec<&Value> = journal
        .iter()
        .filter(|entry| entry["rule"] == "GW-R100")
        // A host that is played is not known, and that is marked, too.
        .filter(|entry| !entry["text"].to_string().contains("Claude Code"))
        .collect();
    assert_eq!(marks.len(), 1, "{journal:?}");
    assert!(
        marks[0]["text"]
            .as_str()
            .is_some_and(|text| text.contains("writer")),
        "{marks:?}"
    );
}
