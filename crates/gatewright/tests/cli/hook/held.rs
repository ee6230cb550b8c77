//! The journal says which run a session holds. Its file in the state folder only says where to look: a
//! session whose file is gone or changed is not free.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::Ran;
use testkit::pipelines::SESSION_WRITER;

use super::seat::{SESSION, Seat, fed};

fn writing() -> String {
    format!("{SESSION_WRITER}\n[commands]\ngo = \"start\"\n")
}

fn agent_call(agent: &str, id: &str) -> Value {
    json!({
        "hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_use_id": id,
        "tool_input": {"subagent_type": agent, "prompt": "work", "description": "work"},
    })
}

/// A session whose writer is at work, so that a second one is refused.
fn at_work() -> Seat {
    let seat = Seat::enrolled_in("writing", &writing());
    let admitted = seat.hook("PreToolUse", &agent_call("writer", "toolu_1"));
    assert_eq!(admitted.succeeds().stdout, "");
    seat
}

fn session_file(seat: &Seat) -> PathBuf {
    let listed = fs::read_dir(seat.project.state().join("sessions")).unwrap();
    let mut files = listed.map(|file| file.unwrap().path());
    let is_own = |path: &PathBuf| fs::read_to_string(path).unwrap().contains(SESSION);
    files.find(is_own).expect("the session is enrolled")
}

fn runs(seat: &Seat) -> Vec<Value> {
    let ran = seat.project.run(["list", "--all", "--json"]).succeeds();
    let listed: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    listed["runs"].as_array().expect("a list").clone()
}

fn rules(seat: &Seat, run: &str) -> Vec<String> {
    let ran = seat.project.run(["history", run, "--json"]).succeeds();
    let told: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let entries = told["entries"].as_array().expect("a list").iter();
    entries
        .map(|it| it["rule"].as_str().unwrap_or_default().to_owned())
        .collect()
}

fn is_red(seat: &Seat) -> bool {
    let ran = seat.project.run(["doctor", "--json"]);
    let facts: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    facts["worst"] == "red"
}

/// Writes another run into the session's file.
fn names_run(seat: &Seat, run: &str) {
    let path = session_file(seat);
    let mut value: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    value["run"] = json!(run);
    fs::write(path, value.to_string()).unwrap();
}

fn begins_as(seat: &Seat, session: &str) -> Ran {
    let begun = json!({"hook_event_name": "SessionStart", "source": "startup",
        "session_id": session, "cwd": seat.project.path()});
    let mut command = seat.command("SessionStart");
    command.env("CLAUDE_CODE_SESSION_ID", session);
    fed(command, begun.to_string().as_bytes())
}

#[test]
fn a_session_without_its_file_goes_on_with_its_run() {
    for (what, edit) in [
        (
            "removed",
            (|seat| fs::remove_file(session_file(seat)).unwrap()) as fn(&Seat),
        ),
        ("of a run that never was", |seat| names_run(seat, "r-never")),
        ("of the run of another session", |seat| {
            begins_as(seat, "another").succeeds();
            let all = runs(seat);
            let own = fs::read_to_string(session_file(seat)).unwrap();
            let mut ids = all.iter().filter_map(|run| run["run"].as_str());
            let other = ids.find(|id| !own.contains(id)).unwrap();
            names_run(seat, other);
        }),
    ] {
        let seat = at_work();
        let own = runs(&seat)[0]["run"].as_str().unwrap().to_owned();
        edit(&seat);
        let before = runs(&seat).len();
        let second = seat.hook("PreToolUse", &agent_call("writer", "toolu_2"));
        assert!(second.stdout.contains("GW-R12"), "{what}: {second}");
        assert_eq!(runs(&seat).len(), before, "{what}: no other run began");
        let rules = rules(&seat, &own);
        let marks = rules.iter().filter(|rule| *rule == "GW-R100").count();
        // One for the host of the test, and one for the time in which nobody judged.
        assert_eq!(marks, 2, "{what}: {rules:?}");
    }
}

#[test]
fn the_file_of_another_session_is_not_believed() {
    let seat = at_work();
    begins_as(&seat, "another").succeeds();
    let own = session_file(&seat);
    let folder = fs::read_dir(own.parent().unwrap()).unwrap();
    let other = folder.map(|file| file.unwrap().path());
    let other = other.into_iter().find(|path| *path != own).unwrap();
    assert!(!is_red(&seat));
    fs::copy(other, &own).unwrap();
    let second = seat.hook("PreToolUse", &agent_call("writer", "toolu_2"));
    assert!(second.exits(2).stderr.contains("GW-R101"));
    assert!(is_red(&seat));
}

/// Where a command starts the runs, the session is guarded again when its person speaks.
#[test]
fn a_prompt_brings_a_session_back_to_its_run() {
    let pipeline = writing().replace("begins = \"session\"", "begins = \"command\"");
    let seat = Seat::installed_as("writing", &pipeline);
    let prompt = json!({"hook_event_name": "UserPromptSubmit", "prompt": "go on"});
    // A session that holds no run is as free as any other.
    assert_eq!(seat.hook("UserPromptSubmit", &prompt).stdout, "");
    let nobody = agent_call("nobody", "toolu_1");
    assert_eq!(seat.hook("PreToolUse", &nobody).stdout, "");
    let typed = json!({
        "hook_event_name": "UserPromptExpansion", "expansion_type": "slash_command",
        "command_name": "go", "command_args": "write it", "prompt": "/go write it",
    });
    seat.hook("UserPromptExpansion", &typed).succeeds();
    assert_eq!(runs(&seat).len(), 1);
    fs::remove_file(session_file(&seat)).unwrap();
    seat.hook("UserPromptSubmit", &prompt).succeeds();
    let refused = seat.hook("PreToolUse", &nobody);
    assert!(refused.stdout.contains("GW-R11"), "{refused}");
    assert_eq!(runs(&seat).len(), 1);
}
