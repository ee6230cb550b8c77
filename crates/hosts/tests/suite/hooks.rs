//! The hooks of Codex and Gemini CLI, over all that the real programs were seen to send.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot read its data has failed"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "the crate is pure, its tests read their data"
)]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use expect_test::expect_file;
use hosts::{Answer, Bytes, Event, Program, Stake, Verdict, What};

const COPIES: [Program; 2] = [Program::Codex, Program::Gemini];

/// The captured payloads of a host, by name.
fn captured(host: Program) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(format!("{}-hooks", host.word()));
    let entries = fs::read_dir(&folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut captured: Vec<_> = names
        .map(|name| (name.clone(), fs::read(folder.join(name)).unwrap()))
        .collect();
    captured.sort();
    captured
}

#[test]
fn every_captured_payload_is_read() {
    let mut table = String::new();
    for host in COPIES {
        for (name, bytes) in captured(host) {
            let (event, payload) = host.read_hook(None, &bytes).unwrap();
            let _ = writeln!(
                table,
                "{} {name}\n  {event:?} {:?}",
                host.word(),
                payload.what
            );
            assert_eq!(payload.cwd.as_deref(), Some("/home/dev/project"), "{name}");
            assert_eq!(payload.session, hosts::hook::session_of(&bytes), "{name}");
            assert!(payload.session.is_some(), "{name}");
        }
    }
    expect_file!["../hooks.txt"].assert_eq(&table);
}

#[test]
fn every_cut_of_a_payload_is_noticed() {
    for host in COPIES {
        for (name, bytes) in captured(host) {
            let whole = bytes.trim_ascii_end();
            for length in 0..whole.len() {
                let named = Some(Event::PreToolUse);
                assert!(
                    host.read_hook(named, &whole[..length]).is_err(),
                    "{name} {length}"
                );
            }
        }
    }
}

#[test]
fn every_bad_payload_says_in_one_line_why() {
    for host in COPIES {
        for (input, line) in [
            ("", "the hook's input is empty"),
            ("[]", "the hook's input is JSON but not an object"),
            ("{}", "the hook's input has no `tool_name`"),
            (
                r#"{"session_id": 7}"#,
                "the hook's input has a wrong `session_id`: it must be a text",
            ),
            (
                r#"{"tool_name": "Bash", "tool_input": "x"}"#,
                "the hook's input has a wrong `tool_input`: it must be an object",
            ),
        ] {
            let read = host.read_hook(Some(Event::PreToolUse), input.as_bytes());
            assert_eq!(read.unwrap_err().to_string(), line, "{host:?} {input}");
        }
    }
}

fn requested(host: Program, tool: &str, input: &str) -> (Vec<String>, Option<String>, String) {
    let payload = format!(r#"{{"cwd": "/p", "tool_name": "{tool}", "tool_input": {input}}}"#);
    let (_, payload) = host
        .read_hook(Some(Event::PreToolUse), payload.as_bytes())
        .unwrap();
    let folder = payload.cwd.unwrap();
    match payload.what {
        What::ToolRequested { paths, command, .. } => (paths, command, folder),
        other => (vec![format!("{other:?}")], None, folder),
    }
}

/// A host, a tool with its input, and the paths, the command and the folder that are read from it.
type Row = (
    Program,
    &'static str,
    &'static str,
    &'static [&'static str],
    Option<&'static str>,
    &'static str,
);

#[test]
fn what_a_call_would_write_and_run_is_known() {
    let (codex, gemini) = (Program::Codex, Program::Gemini);
    let patch = r#"{"command": "*** Begin Patch\n*** Add File: a b\n+*** Add File: no\n*** Update File: c\n*** Move to: d\n*** Delete File: /e\n*** End Patch\n"}"#;
    let inside = r#"{"command": "apply_patch <<'X'\n*** Begin Patch\n*** Update File: c\n*** End Patch\nX"}"#;
    let rows: [Row; 9] = [
        (
            codex,
            "apply_patch",
            patch,
            &["a b", "c", "d", "/e"],
            None,
            "/p",
        ),
        (codex, "Bash", r#"{"command": "ls"}"#, &[], Some("ls"), "/p"),
        (
            codex,
            "Bash",
            inside,
            &["c"],
            Some("apply_patch <<'X'\n*** Begin Patch\n*** Update File: c\n*** End Patch\nX"),
            "/p",
        ),
        (codex, "view_image", r#"{"path": "/x"}"#, &[], None, "/p"),
        (
            gemini,
            "run_shell_command",
            r#"{"command": "ls", "dir_path": "sub"}"#,
            &[],
            Some("ls"),
            "/p/sub",
        ),
        (
            gemini,
            "run_shell_command",
            r#"{"command": "ls", "dir_path": "/q"}"#,
            &[],
            Some("ls"),
            "/q",
        ),
        (
            gemini,
            "replace",
            r#"{"file_path": "x"}"#,
            &["x"],
            None,
            "/p",
        ),
        (
            gemini,
            "read_file",
            r#"{"file_path": "x"}"#,
            &[],
            None,
            "/p",
        ),
        (
            gemini,
            "mcp_disk_move_file",
            r#"{"source": "x", "destination": "y", "command": "z"}"#,
            &["x", "y"],
            None,
            "/p",
        ),
    ];
    for (host, tool, input, paths, command, folder) in rows {
        let expected = (
            paths.iter().map(|path| (*path).to_owned()).collect(),
            command.map(str::to_owned),
            folder.to_owned(),
        );
        assert_eq!(requested(host, tool, input), expected, "{tool} {input}");
    }
}

fn shown(bytes: &Bytes) -> String {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (stdout, stderr) = (text(&bytes.stdout), text(&bytes.stderr));
    format!("{} {stdout}{stderr}", bytes.code).trim().to_owned()
}

/// Exit code 2 with a reason is the one no that all hosts take; in JSON it would be a yes somewhere.
#[test]
fn a_no_is_an_exit_code_with_a_reason() {
    let refuse = |reason: &str| Answer {
        verdict: Verdict::Refuse(reason.to_owned()),
        context: None,
        notice: Some("NOTICE".to_owned()),
        message: None,
    };
    for host in COPIES {
        for (event, reason, expected) in [
            (Event::PreToolUse, "no\nway", "2 no way"),
            (Event::PreToolUse, " ", "2 refused by gatewright"),
            (Event::Stop, "not yet", "2 not yet"),
            (Event::PostToolUse, "late", "0"),
            (Event::SessionEnd, "late", "0"),
        ] {
            let bytes = host.write_answer(event, &refuse(reason));
            assert_eq!(shown(&bytes), expected, "{host:?} {event:?}");
        }
        let undecided = |event, stake| shown(&host.undecided(event, stake, "broken"));
        assert_eq!(undecided(Event::PreToolUse, Stake::Gate), "2 broken");
        assert_eq!(undecided(Event::PreToolUse, Stake::Ordinary), "0 broken");
        assert_eq!(undecided(Event::Stop, Stake::Gate), "0 broken");
    }
}

#[test]
fn what_is_allowed_is_silent_and_a_context_reaches_the_model_where_it_can() {
    let context = Answer {
        verdict: Verdict::Allow,
        context: Some("THE STAGE".to_owned()),
        notice: None,
        message: None,
    };
    for host in COPIES {
        let nothing = host.write_answer(Event::PreToolUse, &Answer::nothing());
        assert_eq!(shown(&nothing), "0");
        assert_eq!(shown(&host.write_answer(Event::PreToolUse, &context)), "0");
        assert_eq!(
            shown(&host.write_answer(Event::SessionStart, &context)),
            r#"0 {"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"THE STAGE"}}"#
        );
    }
}

#[test]
fn a_host_and_its_events_are_known_by_their_words() {
    for (word, host) in [
        ("claude", Some(Program::Claude)),
        ("codex", Some(Program::Codex)),
        ("gemini", Some(Program::Gemini)),
        ("Claude", None),
        ("", None),
    ] {
        assert_eq!(Program::parse(word), host, "{word}");
    }
    for (host, word, event) in [
        (Program::Claude, "PreToolUse", Event::PreToolUse),
        (Program::Codex, "PreToolUse", Event::PreToolUse),
        (Program::Gemini, "BeforeTool", Event::PreToolUse),
        (Program::Gemini, "AfterAgent", Event::Stop),
        (Program::Gemini, "PreToolUse", Event::Other),
        (Program::Codex, "BeforeTool", Event::Other),
    ] {
        assert_eq!(host.event(word), event, "{host:?} {word}");
    }
}
