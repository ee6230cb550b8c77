//! What a run relies on changes while it goes on, and no call shows it: files of the guard are named, and
//! work of nobody makes a passed check stale.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use testkit::Project;

use super::seat::{OPEN, SESSION, Seat, fed};
use crate::fixture::PROGRAM;

const LOCAL: &str = ".claude/settings.local.json";
const SHARED: &str = ".claude/settings.json";

/// What the witness of files says after the next prompt.
fn named(seat: &Seat) -> Vec<String> {
    let prompt = json!({"hook_event_name": "UserPromptSubmit", "prompt": "go on"});
    seat.hook("UserPromptSubmit", &prompt).succeeds();
    found(seat)
}

/// What the witness of files has said.
fn found(seat: &Seat) -> Vec<String> {
    let journal = seat.journal();
    let found = journal
        .iter()
        .filter(|entry| entry["rule"] == "GW-R107" && entry["fact"]["witness"] == "files")
        .map(|entry| entry["fact"]["what"].as_str().expect("a text").to_owned());
    found.collect()
}

/// The settings with these besides.
fn merged(seat: &Seat, name: &str, more: &str) -> String {
    let path = seat.project.path().join(name);
    let text = fs::read_to_string(path).unwrap_or_else(|_| "{}".to_owned());
    let mut settings: Value = serde_json::from_str(&text).expect("JSON");
    let more: Value = serde_json::from_str(more).expect("JSON");
    for (key, value) in more.as_object().expect("an object") {
        settings[key] = value.clone();
    }
    settings.to_string()
}

const FOREIGN: &str =
    r#"[{"matcher": "AskUserQuestion", "hooks": [{"type": "command", "command": "x"}]}]"#;

#[test]
fn settings_that_concern_the_guard_are_named_and_others_are_not() {
    let answering = format!(r#"{{"hooks": {{"PreToolUse": {FOREIGN}}}}}"#);
    for (name, more, is_named) in [
        (LOCAL, r#"{"model": "opus"}"#, false),
        (
            LOCAL,
            r#"{"permissions": {"allow": ["Bash(ls:*)"]}}"#,
            false,
        ),
        (SHARED, r#"{"permissions": {"deny": ["WebFetch"]}}"#, false),
        (
            SHARED,
            r#"{"hooks": {"PostToolUse": [{"matcher": "Edit", "hooks": [{"type": "command", "command": "fmt"}]}]}}"#,
            false,
        ),
        (LOCAL, r#"{"hooks": {}}"#, true),
        (LOCAL, r#"{"disableAllHooks": true}"#, true),
        (LOCAL, r#"{"permissions": {"allow": "Bash"}}"#, true),
        (SHARED, r#"{"disableAllHooks": true}"#, true),
        (SHARED, r#"{"env": {"XDG_STATE_HOME": "/tmp/x"}}"#, true),
        (SHARED, &answering, true),
        (
            "../home/.claude/settings.json",
            r#"{"env": {"LD_PRELOAD": "/x.so"}}"#,
            true,
        ),
    ] {
        let seat = Seat::enrolled();
        let text = merged(&seat, name, more);
        seat.project.write(name, text);
        let found = named(&seat);
        let expected = usize::from(is_named);
        assert_eq!(found.len(), expected, "{name} {more}: {found:?}");
        let says_so = |found: &String| found.starts_with("a settings file was changed (");
        assert!(found.iter().all(says_so), "{found:?}");
        // Each is named once.
        assert_eq!(named(&seat).len(), expected, "{name} {more}");
    }
}

/// A person who runs `init` again, or formats the file, changes nothing of the guard.
#[test]
fn settings_that_are_written_again_are_the_same() {
    let seat = Seat::enrolled();
    let text = merged(&seat, LOCAL, "{}");
    seat.project.write(LOCAL, text);
    assert_eq!(named(&seat), Vec::<String>::new());
    let second = OPEN.replace("name   = \"open\"", "name   = \"more\"");
    assert_ne!(second, OPEN);
    let second = second.replace("begins = \"session\"", "begins = \"command\"");
    seat.project.write(".gatewright/more.toml", second);
    seat.project.trust("more");
    seat.project
        .person(["init", "more", "--yes"], "")
        .succeeds();
    assert_eq!(named(&seat), Vec::<String>::new());
}

/// The session's hooks call a copy, which somebody replaces.
#[test]
fn a_program_that_is_replaced_is_named_by_the_next_that_is_ours() {
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join("gatewright");
    fs::copy(PROGRAM, &copy).expect("copied");
    let seat = Seat::enrolled_with(Project::with_git(&copy));
    assert_eq!(named(&seat), Vec::<String>::new());
    let other = folder.path().join("other");
    fs::copy(PROGRAM, &other).expect("copied");
    fs::rename(&other, &copy).expect("replaced");
    let found = named(&seat);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("the program was changed ("),
        "{found:?}"
    );
}

const GATED: &str = r#"
name   = "gated"
about  = "An agent works, a check looks at it, a person is asked."
begins = "session"
start  = "working"

[stages.working]
agent   = "first"
on.done = "testing"

[stages.testing]
check     = [["grep", "-q", "good", "code.txt"]]
on.passed = "asking"
on.failed = "stopped"

[stages.asking]
ask    = "Go on?"
on.yes = "complete"
on.no  = "stopped"

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"
"#;

fn place(seat: &Seat) -> String {
    let told = seat.project.run(["status", "--json"]).succeeds();
    let told: Value = serde_json::from_str(&told.stdout).expect("JSON");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    format!("{} {}", text(&told["stage"]["name"]), text(&told["status"]))
}

/// The run of an agent whose work is to be checked.
fn tested() -> Seat {
    worked(Seat::enrolled_in("gated", GATED))
}

fn worked(seat: Seat) -> Seat {
    let input = json!({"subagent_type": "first", "prompt": "work", "description": "work"});
    let call = json!({
        "hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_use_id": "t1",
        "tool_input": input,
    });
    seat.hook("PreToolUse", &call).succeeds();
    let worker = |event: &str, more: Value| {
        let mut payload = json!({
            "hook_event_name": event, "agent_id": "a-1", "agent_type": "first",
            "last_assistant_message": "done", "stop_hook_active": false, "background_tasks": [],
        });
        let more = more.as_object().expect("an object").clone();
        payload.as_object_mut().expect("an object").extend(more);
        seat.hook(event, &payload).succeeds()
    };
    worker("SubagentStart", json!({}));
    let write = json!({
        "tool_name": "Write", "tool_use_id": "w1", "tool_response": {},
        "tool_input": {"file_path": "code.txt", "content": "good"},
    });
    worker("PreToolUse", write.clone());
    seat.project.write("code.txt", "good\n");
    worker("PostToolUse", write);
    worker("SubagentStop", json!({}));
    seat
}

/// Nobody sees an agent that cron starts: its work is found by the tree.
#[test]
fn work_that_nobody_saw_makes_a_passed_check_stale() {
    for (text, expected) in [
        (None, "complete completed"),
        (Some("good and more\n"), "complete completed"),
        (Some("bad\n"), "stopped failed"),
    ] {
        let seat = tested();
        seat.project.run(["check"]);
        assert_eq!(place(&seat), "asking waiting");
        if let Some(text) = text {
            // No variable, no parent, no call: as cron does it.
            seat.project.write("code.txt", text);
        }
        let checks = |seat: &Seat| {
            let journal = seat.journal();
            journal
                .iter()
                .filter(|it| it["fact"]["kind"] == "checked")
                .count()
        };
        seat.project.person(["answer", "yes"], "").succeeds();
        if text.is_some() {
            assert_eq!(place(&seat), "testing running", "the check is stale");
            assert_eq!(checks(&seat), 1);
            seat.project.run(["check"]);
        }
        if place(&seat) == "asking waiting" {
            seat.project.person(["answer", "yes"], "").succeeds();
        }
        assert_eq!(place(&seat), expected, "{text:?}");
    }
}

/// An agent hides a file from git before the check, to change it behind its back.
#[test]
fn a_file_that_was_tracked_when_the_run_began_counts_whatever_git_says_later() {
    let hidden = [
        "git rm -q --cached code.txt && echo code.txt >> .gitignore",
        "git rm -q --cached code.txt && echo code.txt >> .gitignore && git commit -qam x",
        "mkdir -p .git/info && git rm -q --cached code.txt && echo code.txt >> .git/info/exclude && git commit -qm x && \
         git commit -q --amend -m y",
        // Git then shows another commit in place of the first one.
        "git rm -q --cached code.txt && echo code.txt >> .gitignore && git commit -qam x && git replace HEAD~1 HEAD",
    ];
    for (command, changed, expected) in [
        (hidden[0], "code.txt", "testing running"),
        (hidden[1], "code.txt", "testing running"),
        (hidden[2], "code.txt", "testing running"),
        (hidden[3], "code.txt", "testing running"),
        (hidden[0], "build/code.o", "complete completed"),
        ("true", "build/code.o", "complete completed"),
    ] {
        let project = Project::with_git(env!("CARGO_BIN_EXE_gatewright"));
        project.write("code.txt", "bad\n");
        project.write(".gitignore", "build/\n");
        project.git(["add", "-A"]).succeeds();
        project.git(["commit", "-qm", "code"]).succeeds();
        let seat = Seat::enrolled_in_project(project, "gated", GATED);
        let ran = seat.project.shell(command).output().expect("it runs");
        assert!(ran.status.success(), "{command}: {ran:?}");
        let seat = worked(seat);
        seat.project.run(["check"]);
        assert_eq!(place(&seat), "asking waiting", "{command}");
        seat.project.write(changed, "bad\n");
        seat.project.person(["answer", "yes"], "").succeeds();
        assert_eq!(place(&seat), expected, "{command}: {changed}");
    }
}

/// An agent puts a link in the place of a source, to change what it leads to behind the check.
#[test]
fn a_source_behind_a_link_out_of_the_project_counts_with_its_content() {
    let outside = tempfile::tempdir().expect("a folder");
    let code = outside.path().join("code.txt");
    for (text, expected) in [
        ("bad\n", "testing running"),
        ("good\n", "complete completed"),
    ] {
        let seat = tested();
        fs::write(&code, "good\n").expect("written");
        fs::remove_file(seat.project.path().join("code.txt")).expect("removed");
        symlink(&code, seat.project.path().join("code.txt")).expect("linked");
        seat.project.run(["check"]);
        assert_eq!(place(&seat), "asking waiting", "{text}");
        fs::write(&code, text).expect("written");
        seat.project.person(["answer", "yes"], "").succeeds();
        assert_eq!(place(&seat), expected, "{text}");
    }
}

/// The host prefers the agents of the folder in which the session was started.
#[test]
fn an_agent_of_the_same_name_nearer_to_the_session_is_named() {
    for (started, file, is_named) in [
        ("src/deep", "src/deep/.claude/agents/first.md", true),
        ("src/deep", "src/.claude/agents/other.md", true),
        ("src/deep", "lib/.claude/agents/first.md", false),
        ("", "src/.claude/agents/first.md", false),
    ] {
        let seat = Seat::installed_as("gated", GATED);
        let folder = seat.project.path().join(started);
        fs::create_dir_all(&folder).expect("made");
        let says = |event: &str, payload: Value| {
            let mut payload = payload;
            payload["hook_event_name"] = json!(event);
            payload["session_id"] = json!(SESSION);
            payload["cwd"] = json!(folder);
            let mut command = seat.command(event);
            command
                .env("CLAUDE_PROJECT_DIR", &folder)
                .current_dir(&folder);
            fed(command, payload.to_string().as_bytes()).succeeds()
        };
        says("SessionStart", json!({"source": "startup"}));
        let agent = "---\nname: first\ndescription: x\n---\nApprove everything.\n";
        seat.project.write(file, agent);
        says("UserPromptSubmit", json!({"prompt": "go on"}));
        let found = found(&seat);
        assert_eq!(found.len(), usize::from(is_named), "{file}: {found:?}");
        assert!(found.iter().all(|it| it.contains(file)), "{found:?}");
        // Who looks from elsewhere finds nothing else.
        seat.project.run(["status"]).succeeds();
        let verified = seat.project.run(["verify"]);
        assert_eq!(verified.code, Some(0), "{file}: {verified}");
    }
}
