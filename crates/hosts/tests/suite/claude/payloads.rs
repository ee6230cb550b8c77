//! Every captured payload, and what is read from it.
#![expect(
    clippy::disallowed_methods,
    reason = "the crate is pure, its tests read their data"
)]

use std::fs;
use std::path::Path;

use expect_test::expect_file;
use hosts::claude::statusline;
use hosts::hook::session_of;
use hosts::{Event, Payload, SessionEnd, SessionSource, What};

use super::read;

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/claude-code")
}

/// The captured payloads of hooks: those whose name begins with an event's.
fn captured() -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let hooks =
        names.filter(|name| name.starts_with(char::is_uppercase) && name.ends_with(".json"));
    let mut captured: Vec<_> = hooks
        .map(|name| (name.clone(), fs::read(folder().join(name)).unwrap()))
        .collect();
    captured.sort();
    captured
}

#[test]
fn every_captured_payload_is_read() {
    let mut table = String::new();
    for (name, bytes) in captured() {
        let (event, payload) = read(None, &bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        let session = session_of(&bytes);
        assert_eq!(payload.session, session, "{name}");
        assert!(session.is_some(), "{name}");
        assert!(payload.cwd.is_some(), "{name}");
        table += &format!("{name}\n  {event:?} {:?}\n", payload.what);
    }
    expect_file!["../../claude-code.txt"].assert_eq(&table);
}

#[test]
fn there_are_as_many_as_were_captured() {
    assert_eq!(captured().len(), 65);
}

#[test]
fn the_payloads_own_event_wins_over_the_argument() {
    let stop = fs::read(folder().join("Stop.json")).unwrap();
    let (event, _) = read(Some(Event::PreToolUse), &stop).unwrap();
    assert_eq!(event, Event::Stop);
    let nameless = br#"{"session_id": "s", "tool_name": "Read"}"#;
    let (event, payload) = read(Some(Event::PreToolUse), nameless).unwrap();
    assert_eq!(event, Event::PreToolUse);
    assert!(matches!(payload.what, What::ToolRequested { .. }));
    assert_eq!(read(None, nameless).unwrap().1.what, What::Ignored);
}

fn what(event: Event, text: &str) -> What {
    let (_, Payload { what, .. }) = read(Some(event), text.as_bytes()).unwrap();
    what
}

#[test]
fn a_call_for_an_agent_is_told_by_its_payload() {
    let agent = |text: &str| match what(Event::PreToolUse, text) {
        What::AgentRequested { agent, .. } => agent.map(|agent| agent.to_string()),
        other => panic!("{text} gave {other:?}"),
    };
    let check = |text: &str, name: Result<&str, &str>| {
        let name = name.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(agent(text), name, "{text}");
    };
    check(
        r#"{"tool_name": "Task", "tool_input": {}}"#,
        Ok("general-purpose"),
    );
    check(r#"{"tool_name": "Agent"}"#, Ok("general-purpose"));
    check(
        r#"{"tool_name": "Agent", "tool_input": {"subagent_type": null}}"#,
        Ok("general-purpose"),
    );
    check(
        r#"{"tool_name": "Agent", "tool_input": {"subagent_type": "Alpha Writer", "run_in_background": true}}"#,
        Ok("Alpha-Writer"),
    );
    // A renamed tool, and the fields in another order.
    check(
        r#"{"tool_input": {"run_in_background": false, "subagent_type": "a"}, "tool_name": "Delegate"}"#,
        Ok("a"),
    );
    check(
        r#"{"tool_name": "Agent", "tool_input": {"subagent_type": 7}}"#,
        Err("7"),
    );
    check(
        r#"{"tool_name": "Agent", "tool_input": {"subagent_type": "ü b"}}"#,
        Err("ü b"),
    );
    let foreign = r#"{"tool_name": "mcp__x__y", "tool_input": {"subagent_type": "a"}}"#;
    assert!(matches!(
        what(Event::PreToolUse, foreign),
        What::ToolRequested { .. }
    ));
}

#[test]
fn the_files_and_commands_of_a_call_are_told() {
    let check = |tool: &str, input: &str, expected: (&[&str], Option<&str>)| {
        let text = format!(r#"{{"tool_name": "{tool}", "tool_input": {input}}}"#);
        let What::ToolRequested { paths, command, .. } = what(Event::PreToolUse, &text) else {
            panic!("{text} is something else");
        };
        let paths: Vec<_> = paths.iter().map(String::as_str).collect();
        assert_eq!((paths.as_slice(), command.as_deref()), expected, "{text}");
    };
    check(
        "Write",
        r#"{"file_path": "/a", "content": "x"}"#,
        (&["/a"], None),
    );
    check(
        "Edit",
        r#"{"file_path": "/a", "old_string": "\ud800"}"#,
        (&["/a"], None),
    );
    check(
        "MultiEdit",
        r#"{"file_path": "/a", "edits": []}"#,
        (&["/a"], None),
    );
    check(
        "NotebookEdit",
        r#"{"notebook_path": "/n"}"#,
        (&["/n"], None),
    );
    check("Read", r#"{"file_path": "/a"}"#, (&[], None));
    check("Bash", r#"{"command": "ls\u0020-l"}"#, (&[], Some("ls -l")));
    check("PowerShell", r#"{"command": "ls"}"#, (&[], Some("ls")));
    // JavaScript cuts characters in two; the rest of the command still counts.
    check(
        "Bash",
        r#"{"command": "rm x \ud83d"}"#,
        (&[], Some("rm x \u{fffd}\u{fffd}\u{fffd}")),
    );
    check("Bash", r#"{"command": ["ls"]}"#, (&[], None));
    check(
        "mcp__files__write_file",
        r#"{"path": "/a", "command": "x"}"#,
        (&["/a"], None),
    );
    check(
        "mcp__files__move_file",
        r#"{"source": "/a", "destination": "/b"}"#,
        (&["/a", "/b"], None),
    );
    check("mcp__files__read_file", r#"{"path": "/a"}"#, (&[], None));
    let long = "é".repeat(40_000);
    let kept = "é".repeat(32 * 1024);
    check(
        "Bash",
        &format!(r#"{{"command": "{long}"}}"#),
        (&[], Some(&kept)),
    );
}

#[test]
fn a_prompt_for_later_is_told() {
    let check = |event: Event, tool: &str, expected: Option<&str>| {
        let text =
            format!(r#"{{"tool_name": "{tool}", "tool_input": {{"prompt": "/cancel-loop"}}}}"#);
        let (_, payload) = read(Some(event), text.as_bytes()).unwrap();
        assert_eq!(payload.scheduled_prompt.as_deref(), expected, "{tool}");
    };
    check(Event::PreToolUse, "CronCreate", Some("/cancel-loop"));
    check(Event::PreToolUse, "ScheduleWakeup", Some("/cancel-loop"));
    check(Event::PreToolUse, "RemoteTrigger", Some("/cancel-loop"));
    check(Event::PreToolUse, "Agent", None);
    check(Event::PreToolUse, "WebFetch", None);
    check(Event::PreToolUse, "mcp__x__Schedule", None);
    check(Event::PostToolUse, "CronCreate", None);
}

#[test]
fn todos_are_the_sessions_own() {
    let done = r#"{"tool_name": "TodoWrite", "tool_input": {"todos": [
        {"content": "one", "status": "completed"}, {"content": "two", "status": "pending"},
        {"content": "three", "status": "completed"}]}}"#;
    let done_by_worker = done.replacen('{', r#"{"agent_id": "a1", "agent_type": "alpha","#, 1);
    let open = r#"{"tool_name": "TodoWrite", "tool_input": {"todos": [{"content": "one", "status": "pending"}]}}"#;
    let expected = What::TodosMarked {
        done: vec!["one".to_owned(), "three".to_owned()],
    };
    assert_eq!(what(Event::PreToolUse, done), expected);
    assert!(matches!(
        what(Event::PreToolUse, open),
        What::ToolRequested { .. }
    ));
    assert!(matches!(
        what(Event::PreToolUse, &done_by_worker),
        What::ToolRequested { .. }
    ));
}

#[test]
fn a_worker_never_passes_for_the_session() {
    let check = |fields: &str, expected: Option<(&str, &str)>| {
        let text = format!(r#"{{"tool_name": "Read"{fields}}}"#);
        let What::ToolRequested { actor, .. } = what(Event::PreToolUse, &text) else {
            panic!("{text} is something else");
        };
        let actor = actor
            .as_ref()
            .map(|actor| (actor.id.as_str(), actor.agent.as_str()));
        assert_eq!(actor, expected, "{text}");
    };
    check("", None);
    // Under `--agent` the session itself has a type.
    check(r#", "agent_type": "alpha""#, None);
    check(
        r#", "agent_id": "a1", "agent_type": "alpha""#,
        Some(("a1", "alpha")),
    );
    check(r#", "agent_id": "a1""#, Some(("a1", "unnamed:")));
    check(
        r#", "agent_id": "a1", "agent_type": "élève""#,
        Some(("a1", "unnamed:.l.ve")),
    );
}

#[test]
fn sessions_begin_and_end_in_known_ways() {
    let check = |word: &str, source: SessionSource| {
        let text = format!(r#"{{"source": "{word}"}}"#);
        assert_eq!(
            what(Event::SessionStart, &text),
            What::SessionStarted { source },
            "{word}"
        );
    };
    check("startup", SessionSource::Startup);
    check("resume", SessionSource::Resume);
    check("compact", SessionSource::Compact);
    check("clear", SessionSource::Clear);
    check("fork", SessionSource::Fork);
    check("teleport", SessionSource::Startup);
    for (word, how) in [
        ("clear", SessionEnd::Cleared),
        ("prompt_input_exit", SessionEnd::Left),
        ("logout", SessionEnd::Over),
        ("new", SessionEnd::Over),
    ] {
        let text = format!(r#"{{"reason": "{word}"}}"#);
        assert_eq!(
            what(Event::SessionEnd, &text),
            What::SessionEnded { how },
            "{word}"
        );
    }
}

#[test]
fn a_typed_command_is_told_from_a_prompt() {
    let check = |prompt: &str, expected: Option<(&str, &str)>| {
        let text = serde_json::json!({ "prompt": prompt }).to_string();
        let typed = match what(Event::UserPromptSubmit, &text) {
            What::CommandTyped { name, arguments } => Some((name.to_string(), arguments)),
            What::PromptSubmitted { .. } => None,
            other => panic!("{prompt} gave {other:?}"),
        };
        let expected = expected.map(|(name, arguments)| (name.to_owned(), arguments.to_owned()));
        assert_eq!(typed, expected, "{prompt:?}");
    };
    check("/cancel-loop", Some(("cancel-loop", "")));
    check(
        "  /cancel-loop  too slow \n",
        Some(("cancel-loop", "too slow")),
    );
    check("/plugin:cmd a\nb", Some(("plugin:cmd", "a\nb")));
    check("please /cancel-loop", None);
    check("/home/dev/x is broken", None);
    check("// a comment", None);
    check("/", None);
    check("", None);
}

#[test]
fn only_agents_in_the_background_let_a_session_stop() {
    let check = |tasks: &str, background_work: bool| {
        let text = format!(r#"{{"background_tasks": {tasks}}}"#);
        let expected = What::StopRequested { background_work };
        assert_eq!(what(Event::Stop, &text), expected, "{tasks}");
    };
    check("[]", false);
    check("null", false);
    check("7", false);
    check(r#"[{"type": "subagent", "status": "running"}]"#, true);
    check(r#"[{"type": "subagent", "status": "completed"}]"#, false);
    check(r#"[{"type": "shell", "status": "running"}]"#, false);
    check(
        r#"[{"type": "shell", "status": "running"}, {"type": "workflow", "status": "running"}]"#,
        true,
    );
}

#[test]
fn a_reply_is_the_agents_own_words() {
    let check = |response: &str, expected: Option<&str>| {
        let text = format!(
            r#"{{"tool_name": "Agent", "tool_use_id": "t1", "tool_response": {response}}}"#
        );
        let What::AgentReturned { reply, .. } = what(Event::PostToolUse, &text) else {
            panic!("{response} is something else");
        };
        assert_eq!(reply.as_deref(), expected, "{response}");
    };
    let blocks = r#"[{"type": "text", "text": "note"}, {"type": "text", "text": "own"}, {"text": "words"}, {"text": "tail"}]"#;
    check(
        &format!(
            r#"{{"status": "completed", "content": {blocks}, "harnessNoteCount": 1, "harnessTailCount": 1}}"#
        ),
        Some("own\nwords"),
    );
    check(
        &format!(r#"{{"status": "completed", "content": {blocks}}}"#),
        Some("note\nown\nwords\ntail"),
    );
    check(
        &format!(r#"{{"status": "completed", "content": {blocks}, "harnessNoteCount": 9}}"#),
        None,
    );
    check(r#"{"status": "completed", "content": []}"#, None);
    check(r#"{"status": "completed"}"#, None);
    check(r#"{"status": "completed", "content": "words"}"#, None);
}

#[test]
fn what_an_agent_call_gave_back_is_told_apart() {
    let check = |response: &str, expected: &str| {
        let text = format!(
            r#"{{"tool_name": "Agent", "tool_use_id": "t1", "tool_response": {response}}}"#
        );
        let shown = format!("{:?}", what(Event::PostToolUse, &text));
        assert!(shown.starts_with(expected), "{response} gave {shown}");
    };
    check(
        r#"{"status": "async_launched", "agentId": "a1"}"#,
        "AgentLaunched",
    );
    check(
        r#"{"status": "remote_launched", "agentId": "a1"}"#,
        "AgentLaunched",
    );
    check(
        r#"{"status": "completed", "agentId": "a1"}"#,
        "AgentReturned",
    );
    check(r#"{"status": "async_launched"}"#, "ToolUsed");
    check(r#""an error""#, "ToolUsed");
    check("null", "ToolUsed");
}

#[test]
fn the_status_lines_input_is_read() {
    let bytes = fs::read(folder().join("statusline.json")).unwrap();
    let read = statusline::read(&bytes).unwrap();
    assert_eq!(
        read.session.unwrap().as_str(),
        "5453db14-9379-431a-9c55-b264f833755c"
    );
    assert_eq!(read.cwd.as_deref(), Some("/home/dev/project"));
    assert_eq!(read.project_dir.as_deref(), Some("/home/dev/project"));
    assert_eq!(read.version.as_deref(), Some("2.1.325"));
    let nothing = statusline::read(br#"{"workspace": 7, "cwd": [], "session_id": ""}"#).unwrap();
    assert_eq!(
        (nothing.session, nothing.cwd, nothing.project_dir),
        (None, None, None)
    );
    assert!(statusline::read(b"").is_err());
}
