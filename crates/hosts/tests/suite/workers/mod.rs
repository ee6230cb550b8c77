//! Agent programs as workers, over all that the real programs were seen to print.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot read its data has failed"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "the crate is pure, its tests read their data"
)]

mod guarding;
mod names;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use engine::RunnerName;
use expect_test::expect_file;
use hosts::Program;
use hosts::agent_process::{Account, End, May, Start, Talk};

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

fn account(program: Program, output: &[u8]) -> Account {
    let mut account = Account::default();
    for line in output.split(|byte| *byte == b'\n') {
        program.read_line(line, &mut account);
    }
    account
}

#[test]
fn every_captured_output_is_read() {
    let mut table = String::new();
    for program in Program::ALL {
        for (name, output) in captured(program) {
            let told = account(program, &output);
            let _ = writeln!(
                table,
                "{} {name}\n  began {}\n  worked {}, {} turns, {} tokens, {} cents\n  doing {:?}\n  said {:?}\n  end {:?}\n  complaint {:?}",
                program.word(),
                told.began.as_deref().unwrap_or("-"),
                told.worked,
                told.used.turns,
                told.used.tokens,
                told.used.cost_cents,
                told.doing.as_deref().unwrap_or("-"),
                told.reply.as_deref().unwrap_or("-"),
                told.end,
                told.complaint.as_deref().unwrap_or("-"),
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
            let whole = account(program, &output);
            let last = output.trim_ascii_end();
            let begins = last
                .iter()
                .rposition(|byte| *byte == b'\n')
                .map_or(0, |at| at + 1);
            let before = account(program, &last[..begins]);
            for cut in begins..last.len() {
                let mut told = before.clone();
                program.read_line(&last[begins..cut], &mut told);
                // These have ended before: they hold two turns.
                let ends = !["codex resume.jsonl", "claude background-agent.jsonl"]
                    .contains(&format!("{} {name}", program.word()).as_str());
                assert!(told.end.is_none() || !ends, "{name} {cut}: {told:?}");
                assert_eq!(told.began, whole.began, "{name}");
            }
        }
    }
}

#[track_caller]
fn check(program: Program, start: Start<'_>, expected: &str) {
    assert_eq!(program.arguments(&start).join(" "), expected);
}

#[test]
fn the_command_line_says_what_the_worker_may_do_and_which_conversation_it_is() {
    let id = "01a1e0b0-54e3-7200-8e56-8dc64c4ddfd4";
    let new = |may| Start {
        talk: Talk::New(id),
        model: None,
        may,
        denied: &[],
    };
    let goes_on = |may| Start {
        talk: Talk::GoesOn(id),
        model: Some("m"),
        may,
        denied: &[],
    };
    let codex = "exec --json --skip-git-repo-check -s";
    let both = "--approval-mode";
    let gemini = format!("-o stream-json --skip-trust {both}");
    for (may, sandbox, mode) in [
        (May::Read, "read-only", "default"),
        (May::Leave, "workspace-write", "auto_edit"),
        (May::Change, "workspace-write", "yolo"),
    ] {
        check(Program::Codex, new(may), &format!("{codex} {sandbox} -"));
        let line = format!("{codex} {sandbox} -m m resume {id} -");
        check(Program::Codex, goes_on(may), &line);
        let line = format!("{gemini} {mode} --session-id {id}");
        check(Program::Gemini, new(may), &line);
        let line = format!("{gemini} {mode} -m m -r {id}");
        check(Program::Gemini, goes_on(may), &line);
    }
}

#[test]
fn claude_may_do_what_its_stage_says_and_no_more() {
    let id = "01a1e0b0-54e3-7200-8e56-8dc64c4ddfd4";
    let denied = ["Agent".to_owned(), "Bash(git push *)".to_owned()];
    let line = |may, denied| {
        let start = Start {
            talk: Talk::New(id),
            model: None,
            may,
            denied,
        };
        Program::Claude.arguments(&start).join(" ")
    };
    let same = "-p --output-format stream-json --verbose --permission-mode";
    for (may, denied, mode, tools) in [
        (
            May::Read,
            &[][..],
            "manual",
            " --disallowedTools Write,Edit,NotebookEdit",
        ),
        (
            May::Read,
            &denied,
            "manual",
            " --disallowedTools Write,Edit,NotebookEdit,Agent,Bash(git push *)",
        ),
        (May::Leave, &[], "acceptEdits", ""),
        (
            May::Change,
            &denied,
            "acceptEdits",
            " --allowedTools Bash,Write,Edit,NotebookEdit --disallowedTools Agent,Bash(git push *)",
        ),
    ] {
        let expected = format!("{same} {mode} --session-id {id}{tools}");
        assert_eq!(line(may, denied), expected);
    }
    let goes_on = Start {
        talk: Talk::GoesOn(id),
        model: Some("m"),
        may: May::Leave,
        denied: &[],
    };
    let expected = format!("{same} acceptEdits --model m --resume {id}");
    assert_eq!(Program::Claude.arguments(&goes_on).join(" "), expected);
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

fn end_of(lines: &[&str]) -> Option<End> {
    account(Program::Codex, lines.join("\n").as_bytes()).end
}

#[test]
fn an_id_that_is_none_and_a_change_of_the_conversation_are_failures() {
    let started = |id: &str| format!(r#"{{"type":"thread.started","thread_id":"{id}"}}"#);
    let done = r#"{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}"#;
    let failed = |reason: &str| Some(End::Failed(reason.to_owned()));
    assert_eq!(
        end_of(&[&started("a-1"), &started("a-1"), done]),
        Some(End::Done)
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
        r#"{"type":"item.started","item":{"type":"command_execution","status":"declined"}}"#,
        r#"{"type":"item.completed","item":{"type":"a_new_one","status":"completed"}}"#,
        r#"{"type":"a.new.one","thread_id":"x"}"#,
        "{\"type\":\"thread.started\",\"thread_id\":\"\u{fffd}",
    ] {
        for program in Program::ALL {
            let told = account(program, line.as_bytes());
            assert_eq!(told, Account::default(), "{line}");
        }
    }
}

#[test]
fn a_long_complaint_is_one_short_line() {
    let error = format!(
        r#"{{"type":"turn.failed","error":{{"message":"a\nb {}"}}}}"#,
        "é".repeat(10_000)
    );
    let Some(End::Failed(reason)) = end_of(&[&error]) else {
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
    let failed = || Some(End::Failed("[API Error: the script says so]".to_owned()));
    let no_key = "When using Gemini API, you must specify the GEMINI_API_KEY environment variable.";
    for (program, code, end, last_words, expected) in [
        (Program::Gemini, 247, failed(), "", "limited"),
        (Program::Gemini, 173, failed(), "", "limited"),
        (Program::Gemini, 145, failed(), "", "not logged in"),
        (Program::Gemini, 41, None, no_key, "not logged in"),
        (Program::Gemini, 144, failed(), "", "failed"),
        (Program::Gemini, 1, None, "", "nothing"),
        (Program::Gemini, 0, Some(End::Done), "quota", "done"),
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
        let mut account = Account::default();
        account.end = end;
        program.exited(code, last_words, &mut account);
        let told = match &account.end {
            None => "nothing",
            Some(End::Done) => "done",
            Some(End::Failed(_)) => "failed",
            Some(End::Limited(_)) => "limited",
            Some(End::NotLoggedIn(_)) => "not logged in",
        };
        assert_eq!(told, expected, "{program:?} {code} {last_words}");
    }
}
