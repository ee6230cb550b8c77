//! Views of a guarded run: written by the hooks, and what somebody does to them is noticed by the next one.

use std::fs;

use serde_json::{Value, json};

use super::seat::{OPEN, Seat};

fn seat(views: &str) -> Seat {
    Seat::enrolled_in("open", &format!("{OPEN}\n[views]\n{views}\n"))
}

/// The agent of this number is asked for, begins and ends.
fn works(seat: &Seat, number: usize) -> Vec<testkit::Ran> {
    let (call, worker) = (format!("toolu_{number}"), format!("w{number}"));
    let actor = json!({"agent_id": worker, "agent_type": "bash-writer"});
    let with = |event: &str, more: Value| {
        let mut payload = json!({"hook_event_name": event});
        for (key, value) in more.as_object().expect("an object") {
            payload[key] = value.clone();
        }
        seat.hook(event, &payload)
    };
    vec![
        asked(seat, number),
        with("SubagentStart", actor.clone()),
        with(
            "PreToolUse",
            json!({
                "tool_name": "Read", "tool_use_id": format!("read_{call}"),
                "tool_input": {"file_path": "x"}, "agent_id": worker, "agent_type": "bash-writer",
            }),
        ),
        with(
            "SubagentStop",
            json!({
                "agent_id": worker, "agent_type": "bash-writer", "stop_hook_active": false,
                "last_assistant_message": "done",
            }),
        ),
    ]
}

fn asked(seat: &Seat, number: usize) -> testkit::Ran {
    seat.hook(
        "PreToolUse",
        &json!({
            "hook_event_name": "PreToolUse", "tool_name": "Agent",
            "tool_use_id": format!("toolu_{number}"),
            "tool_input": {"subagent_type": "bash-writer", "prompt": "x", "description": "x"},
        }),
    )
}

#[test]
fn every_hook_that_changes_the_run_writes_its_views() {
    let seat =
        seat("pipeline-state = \"state.json\"\nlog = \"run.log\"\nsessions = \"sessions.txt\"");
    for ran in works(&seat, 1) {
        ran.succeeds();
    }
    let state: Value = serde_json::from_str(&seat.project.read("state.json")).expect("JSON");
    assert_eq!(state["session_id"], super::seat::SESSION);
    assert_eq!(
        state["history"].as_array().expect("a list").len(),
        1,
        "{state}"
    );
    assert_eq!(state["history"][0]["agent"], "bash-writer");
    assert_eq!(
        seat.project.read("sessions.txt"),
        format!("{}\n", super::seat::SESSION)
    );
    let log = seat.project.read("run.log");
    let lines = log
        .lines()
        .filter(|line| line.contains("'bash-writer' (d1)"));
    let rules: Vec<&str> = lines.filter_map(|line| line.rsplit('(').next()).collect();
    for rule in ["GW-R10)", "GW-R32)"] {
        assert!(rules.contains(&rule), "{log}");
    }
}

#[test]
fn twenty_agents_at_once_are_twenty_in_the_view() {
    let seat = seat("pipeline-state = \"state.json\"\nlog = \"run.log\"");
    std::thread::scope(|scope| {
        for number in 0..20 {
            let seat = &seat;
            scope.spawn(move || works(seat, number));
        }
    });
    let state: Value = serde_json::from_str(&seat.project.read("state.json")).expect("JSON");
    let ended = seat
        .journal()
        .iter()
        .filter(|entry| entry.to_string().contains("\"kind\":\"ended\""))
        .count();
    assert_eq!(ended, 20);
    assert_eq!(state["history"].as_array().expect("a list").len(), 20);
    let log = seat.project.read("run.log");
    assert_eq!(log.matches("(GW-R32)").count(), 20, "{log}");
}

#[test]
fn an_edited_view_is_told_to_the_person_by_the_next_hook_that_changes_something() {
    let seat = seat("status = \"status.json\"");
    seat.project
        .write("status.json", "{\"stage\": \"complete\"}");
    let told = |ran: &testkit::Ran| -> Value {
        serde_json::from_str::<Value>(&ran.stdout)
            .map_or(Value::Null, |it| it["systemMessage"].clone())
    };
    let ran = asked(&seat, 1).succeeds();
    let message = told(&ran);
    let message = message.as_str().expect("a message");
    assert!(message.contains("`status.json`"), "{ran}");
    assert!(seat.project.read("status.json").contains("\"working\""));
    let ran = asked(&seat, 2).succeeds();
    assert_eq!(told(&ran), Value::Null, "{ran}");
}

#[test]
fn a_removed_stop_refuses_the_next_agent_and_frees_the_session() {
    let seat = seat("status = { path = \"stop.json\", removed = \"wait\" }");
    let file = seat.project.path().join("stop.json");
    fs::remove_file(&file).expect("the view was there");
    let ran = asked(&seat, 1);
    assert!(ran.stdout.contains("GW-R17"), "{ran}");
    assert!(ran.stdout.contains("`stop.json`"), "{ran}");
    assert!(file.exists(), "it is there again");
    let stop = seat.hook(
        "Stop",
        &json!({"hook_event_name": "Stop", "stop_hook_active": false}),
    );
    assert!(!stop.stdout.contains("\"block\""), "{stop}");
    seat.project.person(["answer", "continue"], "").succeeds();
    let ran = asked(&seat, 2).succeeds();
    assert!(!ran.stdout.contains("GW-R17"), "{ran}");
}

/// The stop is a person's: an agent that pulled it would open the gate that holds it.
#[test]
fn an_agent_does_not_pull_the_stop() {
    let seat = seat("status = { path = \"stop.json\", removed = \"wait\" }\nlog = \"run.log\"");
    let tool = |name: &str, input: Value| {
        seat.hook(
            "PreToolUse",
            &json!({
                "hook_event_name": "PreToolUse", "tool_name": name, "tool_use_id": "b1",
                "tool_input": input,
            }),
        )
    };
    for ran in [
        tool("Bash", json!({"command": "rm stop.json"})),
        tool("Bash", json!({"command": "mv ./stop.json elsewhere"})),
        tool("Write", json!({"file_path": "stop.json", "content": "x"})),
    ] {
        assert!(ran.stdout.contains("GW-R23"), "{ran}");
    }
    // Other views are only pictures.
    let ran = tool("Bash", json!({"command": "rm run.log"})).succeeds();
    assert!(!ran.stdout.contains("deny"), "{ran}");
}

/// A tool that changes nothing in the run is judged on it all the same.
#[test]
fn a_removed_stop_is_noticed_by_any_tool() {
    let seat = seat("status = { path = \"stop.json\", removed = \"wait\" }");
    fs::remove_file(seat.project.path().join("stop.json")).expect("the view was there");
    seat.hook(
        "PreToolUse",
        &json!({
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "b1",
            "tool_input": {"command": "ls"},
        }),
    )
    .succeeds();
    let halted = |entry: &Value| entry["rule"] == "GW-R104";
    assert_eq!(seat.journal().iter().filter(|it| halted(it)).count(), 1);
}
