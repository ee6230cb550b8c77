//! Somebody plays the host of a session of their own: the run that comes of it says so for ever.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use serde_json::json;
use testkit::Ran;

use super::seat::{SESSION, Seat};

/// A process of this name is its own host, and starts a session.
fn played(name: &str, process: &str) -> Seat {
    let seat = Seat::installed();
    let payload = json!({
        "hook_event_name": "SessionStart", "source": "startup", "session_id": SESSION,
        "cwd": seat.project.path(),
    });
    let payload = seat.project.write("payload.json", payload.to_string());
    let as_host = seat.command("SessionStart");
    let mut host = Command::new("/bin/sh");
    let script =
        format!(r#"export CLAUDE_PID={process}; "$1" hook claude SessionStart < "$2" | cat"#);
    host.arg0(name).args(["-c", &script, "a-host"]);
    host.arg(as_host.get_program()).arg(payload).env_clear();
    let variables = as_host.get_envs();
    host.envs(variables.filter_map(|(name, value)| Some((name, value?))));
    host.current_dir(seat.project.path());
    let ran = Ran::from(host.output().expect("a shell")).succeeds();
    assert!(ran.stdout.contains("`working`"), "{ran}");
    seat
}

#[test]
fn a_host_that_is_not_known_marks_its_run() {
    for (name, process, doubt) in [
        ("sh", "$$", "'sh'"),
        ("claudette", "$$", "'claudette'"),
        ("claude", "", "host"),
    ] {
        let seat = played(name, process);
        let journal = seat.journal();
        let marks = journal.iter().filter(|entry| entry["rule"] == "GW-R100");
        let marks: Vec<String> = marks.map(|entry| entry["text"].to_string()).collect();
        assert_eq!(marks.len(), 1, "{name}: {journal:?}");
        assert!(marks[0].contains(doubt), "{name}: {marks:?}");
        let said = "1 event";
        let status = seat.project.run(["status"]).succeeds();
        assert!(status.stdout.contains(said), "{name}: {status}");
        let verified = seat.project.person(["verify"], "").succeeds();
        assert!(verified.stdout.contains(said), "{name}: {verified}");
    }
}

#[test]
fn a_host_that_is_known_marks_nothing() {
    let seat = played("/opt/bin/claude", "$$");
    let status = seat.project.run(["status"]).succeeds();
    assert!(!status.stdout.contains("1 event"), "{status}");
    let journal = seat.journal();
    let is_mark = |entry: &serde_json::Value| entry["rule"] == "GW-R100";
    assert!(!journal.iter().any(is_mark), "{journal:?}");
    let verified = seat.project.person(["verify"], "").succeeds();
    assert!(!verified.stdout.contains("1 event"), "{verified}");
}
