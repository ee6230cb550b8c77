//! A hook that has more to look at than it has time for.

use std::fs::{self, File};

use serde_json::json;

use super::seat::{OPEN, Seat};

/// What the agents of this pipeline may change is restricted, so the tree is read before one begins.
fn narrow() -> Seat {
    let writes = "writes    = [\"notes/**\"]";
    Seat::enrolled_in("open", &OPEN.replace("stop      = \"hold\"", writes))
}

/// A file without content that takes minutes to read.
const HUGE: u64 = 1 << 36;

/// It takes as long as a hook has time.
#[test]
fn what_takes_too_long_is_refused_before_the_host_gives_up_and_is_marked() {
    let seat = narrow();
    let huge = seat.project.path().join("huge");
    let file = File::create(&huge).expect("a file can be made");
    file.set_len(HUGE).expect("a file may have holes");
    let asked = json!({
        "hook_event_name": "PreToolUse",
        "tool_name": "Agent",
        "tool_input": {"subagent_type": "writer", "prompt": "write"},
        "tool_use_id": "toolu_1",
    });
    let ran = seat.hook("PreToolUse", &asked);
    assert_eq!(ran.code, Some(2), "{ran}");
    assert!(ran.stderr.contains("GW-R101"), "{ran}");

    fs::remove_file(huge).expect("the file can be removed");
    seat.hook("PreToolUse", &asked).succeeds();
    let journal = seat.journal();
    let told = |rule: &str, part: &str| {
        let entries = journal.iter().filter(|entry| entry["rule"] == rule);
        entries
            .filter(|entry| entry["text"].to_string().contains(part))
            .count()
    };
    assert_eq!(told("GW-R100", "PreToolUse"), 1, "{journal:?}");
    assert_eq!(told("GW-R10", "'writer' (d1)"), 1, "{journal:?}");
}

/// After a look that took long there is a pause. It is the worker's end that counts.
#[test]
fn in_a_large_project_the_tree_is_not_compared_at_every_call_but_at_the_end() {
    let seat = narrow();
    let agent = json!({"agent_id": "a1", "agent_type": "writer"});
    let with = |more: serde_json::Value| {
        let mut payload = agent.clone();
        let more = more.as_object().expect("an object").clone();
        payload.as_object_mut().expect("an object").extend(more);
        payload
    };
    let asked = json!({
        "hook_event_name": "PreToolUse",
        "tool_name": "Agent",
        "tool_input": {"subagent_type": "writer", "prompt": "write"},
        "tool_use_id": "toolu_1",
    });
    seat.hook("PreToolUse", &asked).succeeds();
    let began = with(json!({"hook_event_name": "SubagentStart"}));
    seat.hook("SubagentStart", &began).succeeds();
    let used = with(json!({
        "hook_event_name": "PostToolUse",
        "tool_name": "Write",
        "tool_input": {"file_path": "stray.txt", "content": "x"},
        "tool_response": {},
    }));
    seat.project.write("stray.txt", "x");
    let told = || seat.hook("PostToolUse", &used).stdout.contains("GW-R38");
    assert!(told(), "a short look delays nobody");

    let runs = fs::read_dir(seat.project.state().join("heads")).expect("the runs");
    let run = runs.map(|run| run.expect("a run").file_name()).next();
    let looks = seat.project.state().join("looks");
    let note = looks.join(run.expect("one run"));
    fs::create_dir_all(&looks).expect("a folder can be made");
    // An hour for one look, and it has just ended.
    fs::write(&note, "3600000").expect("a file can be written");
    assert!(!told(), "the worker would only wait");

    let stops = with(json!({
        "hook_event_name": "SubagentStop",
        "stop_hook_active": false,
        "last_assistant_message": "done",
    }));
    seat.hook("SubagentStop", &stops);
    let journal = seat.journal();
    let sent_back = journal.iter().any(|entry| entry["rule"] == "GW-R43");
    assert!(sent_back, "{journal:?}");
}
