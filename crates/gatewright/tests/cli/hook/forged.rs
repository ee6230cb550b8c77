//! Somebody plays the host of a session of their own: the run that comes of it says so for ever.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use serde_json::{Value, json};
use testkit::Ran;

use super::seat::{SESSION, Seat};

/// A process of this name is its own host, and starts a session.
fn played(name: &str, process: &str) -> Seat {
    played_by("/bin/sh", name, process)
}

fn played_by(program: impl AsRef<std::ffi::OsStr>, name: &str, process: &str) -> Seat {
    let seat = Seat::installed();
    let payload = json!({
        "hook_event_name": "SessionStart", "source": "startup", "session_id": SESSION,
        "cwd": seat.project.path(),
    });
    let payload = seat.project.write("payload.json", payload.to_string());
    let as_host = seat.command("SessionStart");
    let mut host = Command::new(program);
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
    let shell = std::fs::canonicalize("/bin/sh").unwrap();
    let shell = shell.file_name().unwrap().to_str().unwrap();
    for (name, process, doubt) in [
        ("sh", "$$", shell),
        ("claudette", "$$", shell),
        ("claude", "", "host"),
        // A process chooses the words of its command line itself.
        ("/opt/bin/claude", "$$", shell),
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
    let programs = tempfile::tempdir().unwrap();
    let claude = programs.path().join("claude");
    std::fs::copy("/bin/sh", &claude).unwrap();
    let seat = played_by(&claude, "claude", "$$");
    let status = seat.project.run(["status"]).succeeds();
    assert!(!status.stdout.contains("1 event"), "{status}");
    let journal = seat.journal();
    let is_mark = |entry: &serde_json::Value| entry["rule"] == "GW-R100";
    assert!(!journal.iter().any(is_mark), "{journal:?}");
    let verified = seat.project.person(["verify"], "").succeeds();
    assert!(!verified.stdout.contains("1 event"), "{verified}");
}

/// Runs a hook as a stranger does: there is a shell between the session's host and us.
pub(super) fn stranger(seat: &Seat, event: &str, mut payload: Value) -> Ran {
    payload["session_id"] = json!(SESSION);
    payload["cwd"] = json!(seat.project.path());
    let payload = seat.project.write("payload.json", payload.to_string());
    let as_host = seat.command(event);
    let mut shell = Command::new("/bin/sh");
    let script = r#""$1" hook claude "$2" < "$3" | cat"#;
    shell.args(["-c", script, "a-stranger"]);
    shell.arg(as_host.get_program()).arg(event).arg(payload);
    shell.env_clear().current_dir(seat.project.path());
    let variables = as_host.get_envs();
    shell.envs(variables.filter_map(|(name, value)| Some((name, value?))));
    Ran::from(shell.output().expect("a shell"))
}

const TWO: &str = r#"
name   = "two"
about  = "A first agent, then a second."
begins = "session"
start  = "working"

[commands]
stop-it = "cancel"

[stages.working]
agent   = "first"
on.done = "after"

[stages.after]
agent   = "second"
on.done = "complete"

[stages.complete]
end = "completed"
"#;

fn agent_call(agent: &str, id: &str) -> Value {
    json!({
        "hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_use_id": id,
        "tool_input": {"subagent_type": agent, "prompt": "work", "description": "work"},
    })
}

#[test]
fn a_session_file_does_not_say_who_holds_the_run() {
    let seat = Seat::enrolled_in("two", TWO);
    let sessions = seat.project.state().join("sessions");
    for file in std::fs::read_dir(sessions).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let mut value: Value = serde_json::from_str(&text).unwrap();
        value["process"] = Value::Null;
        std::fs::write(&path, value.to_string()).unwrap();
    }
    let typed = json!({
        "hook_event_name": "UserPromptExpansion", "expansion_type": "slash_command",
        "command_name": "stop-it", "command_args": "enough", "prompt": "/stop-it enough",
    });
    stranger(&seat, "UserPromptExpansion", typed);
    let admitted = stranger(&seat, "PreToolUse", agent_call("first", "toolu_1"));
    assert!(admitted.stdout.contains("GW-R02"), "{admitted}");
    let journal = seat.journal();
    let count = |rule: &str| journal.iter().filter(|it| it["rule"] == rule).count();
    assert_eq!(count("GW-R99"), 2, "{journal:?}");
    assert_eq!((count("GW-R10"), count("GW-R71")), (0, 0), "{journal:?}");
    // The host itself is let through.
    let real = seat.hook("PreToolUse", &agent_call("first", "toolu_2"));
    assert!(!real.stdout.contains("deny"), "{real}");
    assert_eq!(seat.journal().len(), journal.len() + 1);
}

#[test]
fn a_strangers_call_never_answers_for_the_hosts() {
    let seat = Seat::enrolled_in("two", TWO);
    let forged = agent_call("second", "toolu_9");
    stranger(&seat, "PreToolUse", forged);
    let real = seat.hook("PreToolUse", &agent_call("second", "toolu_9"));
    assert!(real.stdout.contains("GW-R11"), "{real}");
}
