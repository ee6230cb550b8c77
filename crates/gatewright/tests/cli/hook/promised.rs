//! Where every session has a run, a gate was promised: while no run can begin, no agent does.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::Ran;

use super::seat::{OPEN, Seat};

fn tool(name: &str, input: Value) -> Value {
    json!({
        "hook_event_name": "PreToolUse", "tool_name": name, "tool_use_id": "t1",
        "tool_input": input,
    })
}

fn shell(command: &str) -> Value {
    tool("Bash", json!({"command": command}))
}

fn skill(name: &str) -> Value {
    tool("Skill", json!({"skill": name}))
}

fn agent(tool_name: &str) -> Value {
    let input = json!({"subagent_type": "writer", "prompt": "p", "description": "d"});
    tool(tool_name, input)
}

/// Every call that starts an agent and that we can recognise.
fn starting() -> Vec<Value> {
    vec![
        agent("Agent"),
        agent("Task"),
        tool("Workflow", json!({"script": "x"})),
        tool("SendMessage", json!({"to": "a1", "message": "go on"})),
        skill("forking"),
        skill("of-a-plugin"),
        shell("claude -p 'do it'"),
        shell("cd /tmp && claude --bare -p 'do it'"),
    ]
}

fn ordinary() -> Vec<Value> {
    vec![
        shell("ls"),
        shell("cargo test"),
        skill("plain"),
        tool("Read", json!({"file_path": "README.md"})),
        tool("Write", json!({"file_path": "a.txt", "content": "a"})),
        tool("Edit", json!({"file_path": ".gatewright/open.toml"})),
    ]
}

fn with_skills(seat: Seat) -> Seat {
    let write = |name: &str, text: &str| {
        let path = format!(".claude/skills/{name}/SKILL.md");
        seat.project.write(path, text);
    };
    write("plain", "---\nname: plain\n---\nLook.");
    write("forking", "---\nname: forking\ncontext: fork\n---\nLook.");
    seat
}

fn only_file_in(folder: PathBuf) -> PathBuf {
    let mut files = fs::read_dir(folder).expect("the folder is there");
    files.next().expect("a file").expect("a file").path()
}

/// What prevents a run from starting, and what fixes that.
type Trouble = (&'static str, fn(&Seat), fn(&Seat));

fn store(seat: &Seat) -> PathBuf {
    seat.project.state().join("store.db")
}

const TROUBLES: [Trouble; 5] = [
    (
        "a damaged store",
        |seat| {
            let junk = b"this is no database, and long enough to be looked at twice";
            fs::write(store(seat), junk).expect("written");
        },
        |seat| {
            seat.project.person(["verify", "--repair"], "").succeeds();
        },
    ),
    (
        "no store can be made",
        |seat| {
            fs::remove_file(store(seat)).expect("removed");
            fs::create_dir(store(seat)).expect("made");
        },
        |seat| fs::remove_dir(store(seat)).expect("removed"),
    ),
    (
        "a definition that is not trusted",
        |seat| {
            let changed = OPEN.replace("Anything goes", "Everything goes");
            seat.project.write(".gatewright/open.toml", changed);
        },
        |seat| {
            seat.project.write(".gatewright/open.toml", OPEN);
        },
    ),
    (
        "a broken definition",
        |seat| {
            seat.project.write(".gatewright/open.toml", "name = ");
        },
        |seat| {
            seat.project.write(".gatewright/open.toml", OPEN);
        },
    ),
    (
        "a damaged file of the project",
        |seat| {
            let file = only_file_in(seat.project.state().join("projects"));
            fs::rename(&file, seat.project.state().join("aside")).expect("moved");
            fs::write(file, "{").expect("written");
        },
        |seat| {
            let file = only_file_in(seat.project.state().join("projects"));
            fs::rename(seat.project.state().join("aside"), file).expect("moved");
        },
    ),
];

fn is_silent(ran: &Ran) -> bool {
    (ran.code, ran.stdout.as_str(), ran.stderr.as_str()) == (Some(0), "", "")
}

#[test]
fn while_no_run_can_begin_no_agent_begins_and_ordinary_tools_go_on() {
    for (name, break_it, mend) in TROUBLES {
        let seat = with_skills(Seat::installed());
        break_it(&seat);
        let started = json!({"hook_event_name": "SessionStart", "source": "startup"});
        let told = seat.hook("SessionStart", &started).succeeds();
        assert!(told.stdout.contains("systemMessage"), "{name}: {told}");
        for call in starting() {
            let ran = seat.hook("PreToolUse", &call);
            assert_eq!(ran.code, Some(0), "{name}: {call}: {ran}");
            for part in [
                r#""permissionDecision":"deny""#,
                "GW-R101",
                "`gatewright doctor`",
            ] {
                assert!(ran.stdout.contains(part), "{name}: {call}: {ran}");
            }
        }
        for call in ordinary() {
            let ran = seat.hook("PreToolUse", &call);
            assert!(is_silent(&ran), "{name}: {call}: {ran}");
        }
        let prompt = json!({"hook_event_name": "UserPromptSubmit", "prompt": "go on"});
        let told = seat.hook("UserPromptSubmit", &prompt).succeeds();
        assert!(told.stdout.contains("systemMessage"), "{name}: {told}");
        mend(&seat);
        let ran = seat.hook("PreToolUse", &agent("Agent"));
        assert!(is_silent(&ran), "{name}: {ran}");
        let admitted = |entry: &Value| entry["rule"] == "GW-R10";
        assert!(seat.journal().iter().any(admitted), "{name}");
    }
}

#[test]
fn where_a_run_can_begin_it_judges_every_door() {
    for (call, rule) in [
        (shell("claude -p 'do it'"), "GW-R26"),
        (tool("Workflow", json!({"script": "x"})), "GW-R26"),
    ] {
        let seat = Seat::installed();
        let ran = seat.hook("PreToolUse", &call);
        assert!(ran.stdout.contains(rule), "{call}: {ran}");
    }
}

#[test]
fn where_runs_begin_by_a_command_nothing_is_refused_without_one() {
    let text = OPEN.replace("begins = \"session\"", "begins = \"command\"");
    let seat = with_skills(Seat::installed_as("open", &text));
    fs::write(store(&seat), b"no database").expect("written");
    for call in starting().into_iter().chain(ordinary()) {
        let ran = seat.hook("PreToolUse", &call);
        assert!(is_silent(&ran), "{call}: {ran}");
    }
}

#[test]
fn the_model_is_told_too_that_a_command_began_no_run() {
    let text = OPEN.replace("begins = \"session\"", "begins = \"command\"");
    let seat = Seat::installed_as("open", &format!("{text}\n[commands]\ngo = \"start\"\n"));
    let typed = |arguments: &str| {
        let payload = json!({
            "hook_event_name": "UserPromptExpansion", "expansion_type": "slash_command",
            "command_name": "go", "command_args": arguments, "prompt": format!("/go {arguments}"),
        });
        let ran = seat.hook("UserPromptExpansion", &payload).succeeds();
        let told: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        told["hookSpecificOutput"]["additionalContext"].to_string()
    };
    let told = typed("");
    assert!(told.contains("task"), "{told}");
    assert!(!told.contains("`working`"), "{told}");
    let told = typed("write it");
    assert!(told.contains("`working`"), "{told}");
}

#[test]
fn a_command_without_its_parameter_is_told_how_to_type_it() {
    let text = OPEN.replace("begins = \"session\"", "begins = \"command\"");
    let more = "[params]\ntarget = { about = \"what to write\", is = \"path\" }\n\n[commands]\ngo = \"start\"\n";
    let seat = Seat::installed_as("open", &format!("{text}\n{more}"));
    let typed = |arguments: &str| {
        let payload = json!({
            "hook_event_name": "UserPromptExpansion", "expansion_type": "slash_command",
            "command_name": "go", "command_args": arguments, "prompt": format!("/go {arguments}"),
        });
        seat.hook("UserPromptExpansion", &payload).succeeds().stdout
    };
    for arguments in ["", "Greet people"] {
        let told = typed(arguments);
        assert!(told.contains("`/go target=VALUE TASK`"), "{told}");
        assert!(!told.contains("--param"), "{told}");
    }
    let told = typed("target=site.yml Greet people");
    assert!(told.contains("`working`"), "{told}");
}

#[test]
fn where_nothing_is_installed_nothing_is_said_and_no_store_is_opened() {
    let seat = with_skills(Seat::bare());
    for call in starting().into_iter().chain(ordinary()) {
        let ran = seat.hook("PreToolUse", &call);
        assert!(is_silent(&ran), "{call}: {ran}");
    }
    assert!(!seat.project.state().exists());
}

#[test]
fn a_session_of_which_nobody_can_see_whether_it_holds_a_run_begins_no_agent() {
    let seat = Seat::enrolled();
    let sessions = seat.project.state().join("sessions");
    fs::rename(&sessions, seat.project.state().join("aside")).expect("moved");
    // Not even root can look through a link to itself.
    std::os::unix::fs::symlink(&sessions, &sessions).expect("linked");
    let ran = seat.hook("PreToolUse", &agent("Agent"));
    assert_eq!(ran.code, Some(2), "{ran}");
    assert!(ran.stderr.contains("GW-R101"), "{ran}");
    let ran = seat.hook("PreToolUse", &shell("ls"));
    assert_eq!(ran.code, Some(0), "{ran}");
    // What is not judged by the run is judged by the call itself.
    let ran = seat.hook("PreToolUse", &shell("claude -p 'do it'"));
    assert_eq!(ran.code, Some(2), "{ran}");
}
