//! Agent programs as workers, over all that the real programs were seen to print.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot read its data has failed"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "the crate is pure, its tests read their data"
)]

mod guard_setup;
mod names;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use engine::RunnerName;
use expect_test::expect_file;
use hosts::Program;
use hosts::agent_process::{AgentOutput, Conversation, FileAccess, ReportedEnd, StartOptions};

/// The captured outputs of a program, by name.
fn captured(program: Program) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let folder = folder.join(match program {
        Program::Claude => "claude-code/stream",
        Program::Codex => "codex",
        Program::Gemini => "gemini",
    });
    let entries = fs::read_dir(&folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut captured: Vec<_> = names
        .map(|name| (name.clone(), fs::read(folder.join(name)).unwrap()))
        .collect();
    captured.sort();
    captured
}

fn agent_output(program: Program, output: &[u8]) -> AgentOutput {
    let mut agent_output = AgentOutput::default();
    for line in output.split(|byte| *byte == b'\n') {
        program.read_line(line, &mut agent_output);
    }
    agent_output
}

#[test]
fn every_captured_output_is_read() {
    let mut table = String::new();
    for program in Program::ALL {
        for (name, output) in captured(program) {
            let told = agent_output(program, &output);
            let _ = writeln!(
                table,
                "{} {name}\n  began {}\n  worked {}, {} turns, {} tokens, {} cents\n  doing {:?}\n  said {:?}\n  end {:?}\n  complaint {:?}",
                program.word(),
                told.conversation_id.as_deref().unwrap_or("-"),
                told.used_a_tool,
                told.usage.turns,
                told.usage.tokens,
                told.usage.cost_cents,
                told.activity.as_deref().unwrap_or("-"),
                told.reply.as_deref().unwrap_or("-"),
                told.end,
                told.last_error.as_deref().unwrap_or("-"),
            );
        }
    }
    expect_file!["../../workers.txt"].assert_eq(&table);
}

/// An output that is cut anywhere never tells of an end that did not come.
#[test]
fn a_cut_output_has_no_end() {
    for program in Program::ALL {
        for (name, output) in captured(program) {
            let whole = agent_output(program, &output);
            let last = output.trim_ascii_end();
            let begins = last
                .iter()
                .rposition(|byte| *byte == b'\n')
                .map_or(0, |at| at + 1);
            let before = agent_output(program, &last[..begins]);
            for cut in begins..last.len() {
                let mut told = before.clone();
                program.read_line(&last[begins..cut], &mut told);
                // These have ended before: they hold two turns.
                let ends = !["codex resume.jsonl", "claude background-agent.jsonl"]
                    .contains(&format!("{} {name}", program.word()).as_str());
                assert!(told.end.is_none() || !ends, "{name} {cut}: {told:?}");
                assert_eq!(told.conversation_id, whole.conversation_id, "{name}");
            }
        }
    }
}

#[track_caller]
fn check(program: Program, start: StartOptions<'_>, expected: &str) {
    assert_eq!(program.arguments(&start).join(" "), expected);
}

#[test]
fn the_command_line_says_what_the_worker_may_do_and_which_conversation_it_is() {
    let id = "01a1e0b0-54e3-7200-8e56-8dc64c4ddfd4";
    let new = |file_access| StartOptions {
        conversation: Conversation::New(id),
        model: None,
        file_access,
        denied: &[],
        most_cents: None,
    };
    let goes_on = |file_access| StartOptions {
        conversation: Conversation::Resume(id),
        model: Some("m"),
        file_access,
        denied: &[],
        most_cents: None,
    };
    let codex = "exec --json --skip-git-repo-check -s";
    let both = "--approval-mode";
    let gemini = format!("-o stream-json --skip-trust {both}");
    for (file_access, sandbox, mode) in [
        (FileAccess::ReadOnly, "read-only", "default"),
        (FileAccess::ArtifactsOnly, "workspace-write", "auto_edit"),
        (FileAccess::ReadWrite, "workspace-write", "yolo"),
    ] {
        check(
            Program::Codex,
            new(file_access),
            &format!("{codex} {sandbox} -"),
        );
        let line = format!("{codex} {sandbox} -m m resume {id} -");
        check(Program::Codex, goes_on(file_access), &line);
        let line = format!("{gemini} {mode} --session-id {id}");
        check(Program::Gemini, new(file_access), &line);
        let line = format!("{gemini} {mode} -m m -r {id}");
        check(Program::Gemini, goes_on(file_access), &line);
    }
}

#[test]
fn claude_may_do_what_its_stage_says_and_no_more() {
    let id = "01a1e0b0-54e3-7200-8e56-8dc64c4ddfd4";
    let denied = ["Agent".to_owned(), "Bash(git push *)".to_owned()];
    let line = |file_access, denied| {
        let start = StartOptions {
            conversation: Conversation::New(id),
            model: None,
            file_access,
            denied,
            most_cents: None,
        };
        Program::Claude.arguments(&start).join(" ")
    };
    let same = "-p --output-format stream-json --verbose --permission-mode";
    for (file_access, denied, mode, tools) in [
        (
            FileAccess::ReadOnly,
            &[][..],
            "manual",
            " --disallowedTools Write,Edit,NotebookEdit",
        ),
        (
            FileAccess::ReadOnly,
            &denied,
            "manual",
            " --disallowedTools Write,Edit,NotebookEdit,Agent,Bash(git push *)",
        ),
        (FileAccess::ArtifactsOnly, &[], "acceptEdits", ""),
        (
            FileAccess::ReadWrite,
            &denied,
            "acceptEdits",
            " --allowedTools Bash,Write,Edit,NotebookEdit --disallowedTools Agent,Bash(git push *)",
        ),
    ] {
        let expected = format!("{same} {mode} --session-id {id}{tools}");
        assert_eq!(line(file_access, denied), expected);
    }
    let goes_on = StartOptions {
        conversation: Conversation::Resume(id),
        model: Some("m"),
        file_access: FileAccess::ArtifactsOnly,
        denied: &[],
        most_cents: None,
    };
    let expected = format!("{same} acceptEdits --model m --resume {id}");
    assert_eq!(Program::Claude.arguments(&goes_on).join(" "), expected);
    let limited = StartOptions {
        most_cents: Some(50),
        ..goes_on
    };
    let expected = format!("{expected} --max-budget-usd 0.50");
    assert_eq!(Program::Claude.arguments(&limited).join(" "), expected);
}

#[test]
fn a_runner_is_known_by_its_name() {
    for (word, expected) in [
        ("codex", Some(Program::Codex)),
        ("gemini", Some(Program::Gemini)),
        ("claude", Some(Program::Claude)),
        ("command", None),
        ("Codex", None),
    ] {
        let runner = RunnerName::parse(word).unwrap();
        assert_eq!(Program::of(&runner), expected, "{word}");
    }
}

fn end_of(lines: &[&str]) -> Option<ReportedEnd> {
    agent_output(Program::Codex, lines.join("\n").as_bytes()).end
}

#[test]
fn an_id_that_is_none_and_a_change_of_the_conversation_are_failures() {
    let started = |id: &str| format!(r#"{{"type":"thread.started","thread_id":"{id}"}}"#);
    let done = r#"{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}"#;
    let failed = |reason: &str| Some(ReportedEnd::Failed(reason.to_owned()));
    assert_eq!(
        end_of(&[&started("a-1"), &started("a-1"), done]),
        Some(ReportedEnd::Done)
    );
    assert_eq!(
        end_of(&[&started("a-1"), &started("a-2"), done]),
        failed("it went over to another conversation")
    );
    for id in ["--last", "", "a b", "a/b", &"a".repeat(49)] {
        assert_eq!(
            end_of(&[&started(id), done]),
            failed("its conversation has no usable id"),
            "{id}"
        );
    }
}

#[test]
fn what_is_not_understood_tells_nothing() {
    for line in [
        "",
        "Reading prompt from stdin...",
        "[]",
        "{}",
        "null",
        r#"{"type":"turn.started"}"#,
        r#"{"type":"item.completed","item":{"type":"reasoning","text":"hm"}}"#,
        r#"{"type":"item.completed","item":{"type":"agent_message","text":7}}"#,
        r#"{"type":"item.completed","item":{"type":"a_new_one","status":"completed"}}"#,
        r#"{"type":"a.new.one","thread_id":"x"}"#,
        "{\"type\":\"thread.started\",\"thread_id\":\"\u{fffd}",
    ] {
        for program in Program::ALL {
            let told = agent_output(program, line.as_bytes());
            assert_eq!(told, AgentOutput::default(), "{line}");
        }
    }
}

#[test]
fn a_turn_that_its_service_has_begun_to_answer_is_open_until_it_ends_and_counts() {
    let declined =
        r#"{"type":"item.started","item":{"type":"command_execution","status":"declined"}}"#;
    let runs =
        r#"{"type":"item.started","item":{"type":"command_execution","status":"in_progress"}}"#;
    let says = r#"{"type":"item.completed","item":{"type":"agent_message","text":"well"}}"#;
    let cut = r#"{"type":"turn.failed","error":{"message":"stream closed before the end"}}"#;
    let ends = r#"{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}"#;
    let calls = r#"{"type":"tool_use","tool_name":"read_file","tool_id":"1","parameters":{}}"#;
    let answers = r#"{"type":"message","role":"assistant","content":"well"}"#;
    let prompt = r#"{"type":"message","role":"user","content":"well"}"#;
    let result = r#"{"type":"result","status":"error","error":{"message":"overloaded"},"stats":{"total_tokens":0}}"#;
    for (program, lines, is_open, turns) in [
        (Program::Codex, &[declined][..], true, 0),
        (Program::Codex, &[runs], true, 0),
        (Program::Codex, &[says], true, 0),
        (Program::Codex, &[cut], false, 0),
        (Program::Codex, &[runs, cut], false, 1),
        (Program::Codex, &[says, ends, cut], false, 1),
        (Program::Codex, &[says, ends, runs, cut], false, 2),
        (Program::Gemini, &[prompt], false, 0),
        (Program::Gemini, &[calls], true, 0),
        (Program::Gemini, &[answers], true, 0),
        (Program::Gemini, &[prompt, result], false, 0),
        (Program::Gemini, &[calls, result], false, 1),
    ] {
        let output = agent_output(program, lines.join("\n").as_bytes());
        let told = (output.is_turn_open(), output.usage.turns);
        assert_eq!(told, (is_open, turns), "{lines:?}");
    }
    let output = agent_output(Program::Codex, declined.as_bytes());
    assert!(!output.used_a_tool, "nobody used it");
}

#[test]
fn a_long_complaint_is_one_short_line() {
    let error = format!(
        r#"{{"type":"turn.failed","error":{{"message":"a\nb {}"}}}}"#,
        "é".repeat(10_000)
    );
    let Some(ReportedEnd::Failed(reason)) = end_of(&[&error]) else {
        panic!("it has failed");
    };
    assert!(
        reason.starts_with("a b é") && reason.ends_with('…'),
        "{reason}"
    );
    assert_eq!(reason.chars().count(), 501);
}

#[test]
fn a_trouble_that_only_the_exit_code_or_the_last_words_tell_is_known() {
    let failed = || {
        Some(ReportedEnd::Failed(
            "[API Error: the script says so]".to_owned(),
        ))
    };
    let no_key = "When using Gemini API, you must specify the GEMINI_API_KEY environment variable.";
    for (program, code, end, last_words, expected) in [
        (Program::Gemini, 247, failed(), "", "limited"),
        (Program::Gemini, 173, failed(), "", "limited"),
        (Program::Gemini, 145, failed(), "", "not logged in"),
        (Program::Gemini, 41, None, no_key, "not logged in"),
        (Program::Gemini, 144, failed(), "", "failed"),
        (Program::Gemini, 1, None, "", "nothing"),
        (Program::Gemini, 0, Some(ReportedEnd::Done), "quota", "done"),
        (Program::Codex, 247, failed(), "", "failed"),
        (Program::Codex, 1, None, "Not logged in", "not logged in"),
        (
            Program::Claude,
            1,
            None,
            "Invalid API key · Please run /login",
            "not logged in",
        ),
    ] {
        let mut agent_output = AgentOutput::default();
        agent_output.end = end;
        program.exited(code, last_words, &mut agent_output);
        let told = match &agent_output.end {
            None => "nothing",
            Some(ReportedEnd::Done) => "done",
            Some(ReportedEnd::Failed(_)) => "failed",
            Some(ReportedEnd::Limited(_)) => "limited",
            Some(ReportedEnd::NotLoggedIn(_)) => "not logged in",
            Some(ReportedEnd::OverBudget(_) | ReportedEnd::DoneOverBudget) => "over budget",
        };
        assert_eq!(told, expected, "{program:?} {code} {last_words}");
    }
}

#[test]
fn a_failure_of_the_service_without_a_status_is_a_limit_or_an_outage_and_no_crash() {
    let captured = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/claude-code");
    let captured = fs::read_to_string(captured.join("result.api_error.json")).unwrap();
    let named = "  \"api_error_status\": 400,\n  \"api_error_type\": \"invalid_request_error\",\n";
    assert!(captured.contains(named), "{captured}");
    let without = captured.replace(named, "");
    let ended = |text: &str, result: &str| {
        let line = text.replace("API Error: 400 scripted", result);
        agent_output(Program::Claude, line.replace('\n', "").as_bytes()).end
    };
    for (result, has_time) in [
        ("You've hit your session limit · resets 8:40am", true),
        ("You've hit your Opus limit · resets Nov 20 at 5am", true),
        (
            "You've hit your weekly limit · resets Nov 23 at 2pm (Europe/Berlin)",
            true,
        ),
        ("API Error: Request timed out.", false),
        (
            "API Error: The socket connection was closed unexpectedly.",
            false,
        ),
    ] {
        match ended(&without, result) {
            Some(ReportedEnd::Limited(limit)) => {
                assert_eq!(limit.resets.is_some(), has_time, "{result}")
            }
            other => panic!("{result}: {other:?}"),
        }
        let told = ended(&captured, result);
        assert!(
            matches!(told, Some(ReportedEnd::Failed(_))),
            "the status counts: {result}: {told:?}"
        );
    }
    let login = ended(&without, "Not logged in · Please run /login");
    assert!(
        matches!(login, Some(ReportedEnd::NotLoggedIn(_))),
        "{login:?}"
    );
    let of_model = without.replace("\"api_error\"", "\"max_turns\"");
    let told = ended(&of_model, "I hit a limit that resets 8:40am");
    assert!(
        matches!(told, Some(ReportedEnd::Failed(_))),
        "the words of a model prove nothing: {told:?}"
    );
}

#[test]
fn what_claude_itself_refuses_its_agent_is_told_apart_from_our_refusals() {
    let ours = r#"{"type":"user","message":{"content":[{"type":"tool_result","is_error":true,"tool_use_id":"c1","content":"GW-R20 refused: the stage forbids it"}]}}"#;
    let theirs = r#"{"type":"user","message":{"content":[{"type":"tool_result","is_error":true,"tool_use_id":"c2","content":"permission was not granted"}]}}"#;
    let denied = r#"{"type":"result","subtype":"success","permission_denials":[
        {"tool_name":"Bash","tool_use_id":"c1"},{"tool_name":"Write","tool_use_id":"c2"},
        {"tool_name":"Write","tool_use_id":"c3"},{"tool_name":"WebFetch","tool_use_id":"c4"}]}"#;
    let mut agent_output = AgentOutput::default();
    for line in [ours, theirs, &denied.replace('\n', "")] {
        Program::Claude.read_line(line.as_bytes(), &mut agent_output);
    }
    let refused = agent_output.refused_tools();
    assert_eq!(refused.as_deref(), Some("WebFetch, Write (2 times)"));
    assert_eq!(AgentOutput::default().refused_tools(), None);
}

#[test]
fn claude_ends_its_turn_at_its_cost_limit_and_says_so() {
    let text = include_str!("../../claude-code/result.error_max_budget_usd.json");
    let told = agent_output(Program::Claude, text.replace('\n', "").as_bytes());
    let expected = ReportedEnd::OverBudget("Reached maximum budget ($0.01)".to_owned());
    assert_eq!(told.end, Some(expected));
    assert_eq!(told.usage.cost_cents, 5);
}

#[test]
fn tokens_that_are_read_from_the_cache_weigh_less() {
    let line = |id: &str, usage: &str| {
        format!(r#"{{"type":"assistant","message":{{"id":"{id}","usage":{{{usage}}}}}}}"#)
    };
    let weight = |usage: &str| {
        let output = agent_output(Program::Claude, line("m", usage).as_bytes());
        assert_eq!(output.open_tokens(), 1000, "{usage}");
        output.open_weight()
    };
    let input = weight(r#""input_tokens":1000"#);
    assert_eq!(weight(r#""cache_read_input_tokens":1000"#) * 10, input);
    assert_eq!(weight(r#""output_tokens":1000"#), input * 5);
    assert_eq!(
        weight(r#""cache_creation_input_tokens":1000"#) * 4,
        input * 5
    );
    let kept =
        r#""cache_creation_input_tokens":1000,"cache_creation":{"ephemeral_1h_input_tokens":1000}"#;
    assert_eq!(weight(kept), input * 2);
}

#[test]
fn tokens_from_the_cache_and_thoughts_are_part_of_the_others_and_count_once() {
    let codex = r#"{"type":"turn.completed","usage":{"input_tokens":1000,"cached_input_tokens":900,"cache_write_input_tokens":50,"output_tokens":100,"reasoning_output_tokens":60}}"#;
    let told = agent_output(Program::Codex, codex.as_bytes());
    assert_eq!((told.usage.turns, told.usage.tokens), (1, 1100));
    // Thoughts are in the total alone.
    let stats =
        r#""total_tokens":1160,"input_tokens":1000,"output_tokens":100,"cached":900,"input":100"#;
    let gemini = format!(
        r#"{{"type":"result","status":"success","stats":{{{stats},"models":{{"a":{{{stats}}}}}}}}}"#
    );
    let told = agent_output(Program::Gemini, gemini.as_bytes());
    assert_eq!((told.usage.turns, told.usage.tokens), (1, 1160));
    for cents in [told.usage.cost_cents, told.ended_turns().cost_micros] {
        assert_eq!(cents, 0, "it tells no cost, and none is made up");
    }
}
