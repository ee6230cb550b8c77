//! `statusline`: one line for a session with a run, nothing for others, and never a failure.

use std::fs;

use serde_json::json;
use testkit::Project;

use super::fixture::{PROGRAM, init, project};

const SESSION: &str = "0c6f1d5e-0000-4000-8000-000000000001";

fn input(session: &str) -> String {
    json!({ "session_id": session, "cwd": "/", "version": "2.1.325" }).to_string()
}

#[test]
fn a_session_without_a_run_has_no_line() {
    let project = project();
    for text in [
        "",
        "{",
        "[]",
        "{\"session_id\": 3}",
        &input("nobody"),
        &input("../x"),
    ] {
        let ran = project.run_with_input(["statusline"], text).succeeds();
        assert_eq!(
            (ran.stdout.as_str(), ran.stderr.as_str()),
            ("", ""),
            "{text}"
        );
    }
}

/// Installs a pipeline, begins a session in it, and gives its status line.
fn begun(project: &Project) -> String {
    init(project, &[]).succeeds();
    let payload = json!({
        "session_id": SESSION,
        "transcript_path": "/dev/null",
        "cwd": project.path(),
        "hook_event_name": "SessionStart",
        "source": "startup",
    });
    let script = format!(
        "CLAUDE_PROJECT_DIR=\"$PWD\" {PROGRAM} hook claude SessionStart <<'E'\n{payload}\nE\n"
    );
    let ran = project.shell(&script).output().unwrap();
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let ran = project
        .run_with_input(["statusline"], &input(SESSION))
        .succeeds();
    ran.stdout
}

#[test]
fn a_session_with_a_run_sees_where_it_stands() {
    let project = project();
    let line = begun(&project);
    assert_eq!(line.lines().count(), 1, "{line}");
    for word in ["context-first r-", "IDLE (", "next: context-gatherer"] {
        assert!(line.contains(word), "{word}\n{line}");
    }
    let ran = project
        .run_with_input(["statusline"], &input("other"))
        .succeeds();
    assert_eq!(ran.stdout, "");
}

#[test]
fn a_run_that_is_let_go_says_so_first() {
    let project = project();
    let line = begun(&project);
    let run = line.split(' ').find(|word| word.starts_with("r-")).unwrap();
    let arguments = ["bypass", "--for", "30m", "--reason", "the printer burns"];
    project.person(arguments, &format!("{run}\n")).succeeds();
    let ran = project
        .run_with_input(["statusline"], &input(SESSION))
        .succeeds();
    assert!(ran.stdout.starts_with("NOT GUARDED"), "{ran}");
    assert!(ran.stdout.contains("the printer burns"), "{ran}");
}

#[test]
fn a_run_that_cannot_be_read_is_told_in_the_line() {
    let project = project();
    begun(&project);
    for entry in fs::read_dir(project.state().join("sessions")).unwrap() {
        fs::write(entry.unwrap().path(), "{").unwrap();
    }
    let ran = project
        .run_with_input(["statusline"], &input(SESSION))
        .succeeds();
    assert_eq!(ran.stdout.lines().count(), 1, "{ran}");
    assert!(ran.stdout.contains("`gatewright doctor`"), "{ran}");
}
