//! Always-on runs: one that did nothing ends some time after its session, and one that did something waits.

use std::process::Command;

use serde_json::{Value, json};
use testkit::Ran;

use super::seat::{SESSION, Seat, fed};

fn statuses(seat: &Seat) -> Vec<String> {
    let ran = seat.project.run(["list", "--all", "--json"]).succeeds();
    let listed: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let runs = listed["runs"].as_array().expect("a list").iter();
    runs.map(|run| run["status"].as_str().unwrap_or_default().to_owned())
        .collect()
}

fn ends(seat: &Seat, reason: &str) -> Ran {
    let ended = json!({"hook_event_name": "SessionEnd", "reason": reason});
    seat.hook("SessionEnd", &ended)
}

fn begins(seat: &Seat, source: &str) -> Ran {
    let begun = json!({"hook_event_name": "SessionStart", "source": source});
    seat.hook("SessionStart", &begun)
}

fn prompt() -> Value {
    json!({"hook_event_name": "UserPromptSubmit", "prompt": "what is this?"})
}

/// Moves the last change of every run into the past, as far as the list knows it.
fn two_days_pass(seat: &Seat) {
    let database = rusqlite::Connection::open(seat.project.state().join("store.db")).unwrap();
    let days = 2 * 24 * 60 * 60 * 1_000;
    let past = format!("UPDATE runs SET updated_at = updated_at - {days}");
    database.execute_batch(&past).unwrap();
}

#[test]
fn a_run_that_did_nothing_ends_some_time_after_its_session() {
    let seat = Seat::enrolled();
    seat.hook("UserPromptSubmit", &prompt()).succeeds();
    ends(&seat, "prompt_input_exit").succeeds();
    // The same session goes on with the same run.
    begins(&seat, "resume").succeeds();
    assert_eq!(statuses(&seat), ["running"]);
    for number in 0..3 {
        let (second, third) = (format!("second-{number}"), format!("third-{number}"));
        ends(&seat, "prompt_input_exit").succeeds();
        begins_as(&seat, &second).succeeds();
        assert!(!statuses(&seat).contains(&"cancelled".to_owned()));
        end_as(&seat, &second);
        two_days_pass(&seat);
        begins_as(&seat, &third).succeeds();
        let shown = statuses(&seat);
        assert_eq!(
            shown.iter().filter(|it| *it == "running").count(),
            1,
            "{shown:?}"
        );
        seat.project.run(["gc", "--older-than", "0s"]).succeeds();
        assert_eq!(statuses(&seat), ["running"]);
        end_as(&seat, &third);
        // It is guarded, by a run of its own.
        begins(&seat, "resume").succeeds();
    }
    seat.project.run(["verify"]).succeeds();
}

fn begins_as(seat: &Seat, session: &str) -> Ran {
    let begun = json!({"hook_event_name": "SessionStart", "source": "startup",
        "session_id": session, "cwd": seat.project.path()});
    let mut command = seat.command("SessionStart");
    command.env("CLAUDE_CODE_SESSION_ID", session);
    fed(command, begun.to_string().as_bytes())
}

fn end_as(seat: &Seat, session: &str) {
    let ended = json!({"hook_event_name": "SessionEnd", "reason": "other",
        "session_id": session, "cwd": seat.project.path()});
    let mut command = seat.command("SessionEnd");
    command.env("CLAUDE_CODE_SESSION_ID", session);
    fed(command, ended.to_string().as_bytes());
}

#[test]
fn a_run_that_did_something_or_has_an_heir_does_not_end() {
    let seat = Seat::enrolled();
    ends(&seat, "clear").succeeds();
    assert_eq!(statuses(&seat), ["running"]);
    let seat = Seat::enrolled();
    let call = json!({"hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_use_id": "t-1",
        "tool_input": {"subagent_type": "writer", "prompt": "x", "description": "x"}});
    seat.hook("PreToolUse", &call).succeeds();
    ends(&seat, "other");
    assert_eq!(statuses(&seat), ["running"]);
    seat.project.run(["gc", "--older-than", "0s"]).succeeds();
    assert_eq!(statuses(&seat), ["running"]);
}

/// A host that is killed says nothing. `gc` finds that its process is gone.
#[test]
fn a_run_whose_session_was_killed_ends_when_somebody_tidies_up() {
    let seat = Seat::installed();
    let mut host = Command::new("sleep").arg("600").spawn().expect("sleep");
    let mut command = seat.command("SessionStart");
    command.env("CLAUDE_PID", host.id().to_string());
    let begun = json!({"hook_event_name": "SessionStart", "source": "startup",
        "session_id": SESSION, "cwd": seat.project.path()});
    fed(command, begun.to_string().as_bytes()).succeeds();
    seat.project.run(["gc"]).succeeds();
    assert_eq!(statuses(&seat), ["running"], "its host lives");
    host.kill().expect("killed");
    host.wait().expect("ended");
    seat.project.run(["gc"]).succeeds();
    assert_eq!(statuses(&seat), ["cancelled"]);
    seat.project.run(["verify"]).succeeds();
}
