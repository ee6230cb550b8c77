//! What the host need not ask a person about: what the worker must leave now, and our own harmless commands.

use std::path::Path;

use serde_json::{Value, json};

use super::seat::{Seat, fed};

const STORY: &str = r#"
name   = "story"
about  = "Write a story."
begins = "session"
start  = "working"

[artifacts.draft]
path   = ".claude/draft.md"
format = "text"

[artifacts.notes]
path   = ".claude/notes.md"
format = "text"

[stages.working]
agent   = "writer"
leaves  = ["draft"]
on.done = "noting"

[stages.noting]
agent   = "session"
leaves  = ["notes"]
on.done = "complete"

[stages.complete]
end = "completed"
"#;

/// A session whose writer is at work.
fn at_work() -> Seat {
    let seat = Seat::enrolled_in("story", STORY);
    let asked = json!({
        "hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_use_id": "t-writer",
        "tool_input": {"subagent_type": "writer", "prompt": "p", "description": "d"},
    });
    seat.hook("PreToolUse", &asked).succeeds();
    let began = json!({
        "hook_event_name": "SubagentStart", "agent_id": "a-writer", "agent_type": "writer",
    });
    seat.hook("SubagentStart", &began).succeeds();
    seat
}

/// Is the person spared this question? `agent` is the worker that would use the tool.
fn is_permitted(seat: &Seat, agent: Option<&str>, tool: &str, input: &Value) -> bool {
    let mut payload = json!({
        "hook_event_name": "PermissionRequest", "tool_name": tool, "tool_input": input,
        "session_id": super::seat::SESSION, "cwd": seat.project.path(),
    });
    if let Some(agent) = agent {
        payload["agent_id"] = json!(format!("a-{agent}"));
        payload["agent_type"] = json!(agent);
    }
    let folder = Path::new(env!("CARGO_BIN_EXE_gatewright")).parent();
    let folder = folder.expect("a program lies in a folder");
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let mut command = seat.command("PermissionRequest");
    command.env("PATH", path);
    let ran = fed(command, payload.to_string().as_bytes()).succeeds();
    if ran.stdout.is_empty() {
        return false;
    }
    let told: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(
        told["hookSpecificOutput"]["decision"]["behavior"], "allow",
        "{ran}"
    );
    true
}

#[test]
fn the_worker_whose_turn_it_is_leaves_its_file_without_a_question() {
    let seat = at_work();
    let before = seat.journal().len();
    let writes = |path: &str| json!({ "file_path": path, "content": "x" });
    let writer = Some("writer");
    assert!(is_permitted(
        &seat,
        writer,
        "Write",
        &writes(".claude/draft.md")
    ));
    // The file of another stage, the settings, another tool, another agent, the session itself.
    assert!(!is_permitted(
        &seat,
        writer,
        "Write",
        &writes(".claude/notes.md")
    ));
    assert!(!is_permitted(
        &seat,
        writer,
        "Write",
        &writes(".claude/settings.json")
    ));
    assert!(!is_permitted(
        &seat,
        writer,
        "Write",
        &writes("src/main.rs")
    ));
    assert!(!is_permitted(
        &seat,
        writer,
        "Read",
        &writes(".claude/draft.md")
    ));
    assert!(!is_permitted(
        &seat,
        Some("critic"),
        "Write",
        &writes(".claude/draft.md")
    ));
    assert!(!is_permitted(
        &seat,
        None,
        "Write",
        &writes(".claude/draft.md")
    ));
    // To ask changes nothing.
    assert_eq!(seat.journal().len(), before);
}

#[test]
fn the_session_leaves_its_own_file_without_a_question() {
    let seat = at_work();
    seat.project
        .write(".claude/draft.md", "Once upon a time.\n");
    let stopped = json!({
        "hook_event_name": "SubagentStop", "agent_id": "a-writer", "agent_type": "writer",
        "last_assistant_message": "done", "stop_hook_active": false, "background_tasks": [],
    });
    let tool = json!({
        "hook_event_name": "PreToolUse", "tool_name": "Write", "tool_use_id": "t-write",
        "agent_id": "a-writer", "agent_type": "writer",
        "tool_input": {"file_path": ".claude/draft.md", "content": "x"},
    });
    seat.hook("PreToolUse", &tool).succeeds();
    seat.hook("SubagentStop", &stopped).succeeds();
    let writes = |path: &str| json!({ "file_path": path, "content": "x" });
    assert!(is_permitted(
        &seat,
        None,
        "Write",
        &writes(".claude/notes.md")
    ));
    assert!(!is_permitted(
        &seat,
        None,
        "Write",
        &writes(".claude/draft.md")
    ));
    assert!(!is_permitted(
        &seat,
        Some("writer"),
        "Write",
        &writes(".claude/notes.md")
    ));
}

#[test]
fn our_harmless_commands_pass_and_whatever_else_a_line_does_is_asked() {
    let seat = at_work();
    let line = |line: &str| json!({ "command": line });
    for allowed in [
        "gatewright next",
        "gatewright status --json",
        "gatewright check 2>&1",
    ] {
        assert!(
            is_permitted(&seat, None, "Bash", &line(allowed)),
            "{allowed}"
        );
    }
    for asked in [
        "gatewright answer yes",
        "gatewright next; make",
        "gatewright next > src/main.rs",
        "make",
    ] {
        assert!(!is_permitted(&seat, None, "Bash", &line(asked)), "{asked}");
    }
    // Another program of that name is somebody else's.
    let other = seat.project.path().join("gatewright");
    seat.project.write("gatewright", "#!/bin/sh\n");
    testkit::make_executable(&other);
    let line = line(&format!("{} next", other.display()));
    assert!(!is_permitted(&seat, None, "Bash", &line));
}
