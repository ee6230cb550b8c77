//! Several pipelines in one project: no start command is ignored in silence.

use serde_json::{Value, json};
use testkit::Project;

use super::seat::{OPEN, Seat};

const OTHER: &str = r#"
name   = "other"
about  = "Begins with a command."
begins = "command"
start  = "waiting"

[commands]
other        = "start"
other-answer = "answer"

[stages.waiting]
ask    = "Go on?"
on.yes = "complete"
on.no  = "given_up"

[stages.complete]
end = "completed"

[stages.given_up]
end = "failed"
"#;

fn typed(seat: &Seat, command: &str) -> Value {
    let payload = json!({
        "hook_event_name": "UserPromptExpansion", "expansion_type": "slash_command",
        "command_name": command, "command_args": "greet people", "prompt": format!("/{command} greet people"),
    });
    let ran = seat.hook("UserPromptExpansion", &payload).succeeds();
    serde_json::from_str(&ran.stdout).unwrap_or_default()
}

fn installs(project: &Project, name: &str, pipeline: &str) {
    project.write(format!(".gatewright/{name}.toml"), pipeline);
    project.trust(name);
    project.run(["init", name, "--yes"]).succeeds();
}

#[test]
fn the_start_command_of_another_pipeline_says_why_nothing_starts_and_what_to_type() {
    // Every session has a run of the first, so the other one runs headless.
    let seat = Seat::installed_as("open", OPEN);
    installs(&seat.project, "other", OTHER);
    let begun = json!({"hook_event_name": "SessionStart", "source": "startup"});
    seat.hook("SessionStart", &begun).succeeds();
    let told = typed(&seat, "other");
    for text in [
        &told["systemMessage"],
        &told["hookSpecificOutput"]["additionalContext"],
    ] {
        let text = text.as_str().expect("a text");
        assert!(text.contains("gatewright run other"), "{text}");
    }
    let told = typed(&seat, "other-answer");
    let text = told["systemMessage"].as_str().expect("a line");
    assert!(text.contains("`other`"), "{text}");
    // A command that belongs to nobody is the host's affair.
    assert_eq!(typed(&seat, "compact"), Value::Null);
}

/// The host reports a typed command twice, first as a prompt. In a session whose prompts are its task,
/// the command of another pipeline is none.
#[test]
fn the_start_command_of_another_pipeline_is_not_the_task() {
    let seat = Seat::installed_as("open", OPEN);
    installs(&seat.project, "other", OTHER);
    let begun = json!({"hook_event_name": "SessionStart", "source": "startup"});
    seat.hook("SessionStart", &begun).succeeds();
    let prompt = |text: &str| {
        let payload = json!({"hook_event_name": "UserPromptSubmit", "prompt": text});
        seat.hook("UserPromptSubmit", &payload).succeeds();
    };
    let task = || {
        let status = seat.project.run(["status", "--json"]).succeeds();
        let status: Value = serde_json::from_str(&status.stdout).expect("JSON");
        status["task"].as_str().expect("a task").to_owned()
    };
    let before = task();
    prompt("/other greet people");
    typed(&seat, "other");
    assert_eq!(task(), before);
    prompt("/other-answer yes");
    assert_eq!(task(), before);
    prompt("Greet the people");
    assert_eq!(task(), "Greet the people");
    // A command of nobody's pipeline is a prompt like any other.
    prompt("/fix-issue 12");
    assert_eq!(task(), "Greet the people\n\n/fix-issue 12");
}

#[test]
fn a_session_with_a_run_of_a_command_names_the_way_to_end_it() {
    let third = OTHER.replace("other", "third");
    let seat = Seat::installed_as("other", OTHER);
    installs(&seat.project, "third", &third);
    typed(&seat, "other");
    let told = typed(&seat, "third");
    let text = told["systemMessage"].as_str().expect("a line");
    assert!(text.contains("gatewright cancel r-"), "{text}");
    let runs = seat.project.run(["list", "--json"]).succeeds();
    assert_eq!(runs.stdout.matches("\"third\"").count(), 0, "{runs}");
}

#[test]
fn two_pipelines_with_the_same_slash_command_are_not_installed_together() {
    let seat = Seat::installed_as("other", OTHER);
    let same = OTHER.replace("name   = \"other\"", "name   = \"same\"");
    seat.project.write(".gatewright/same.toml", same.clone());
    seat.project.trust("same");
    let refused = seat.project.run(["init", "same", "--yes"]);
    assert_eq!(refused.code, Some(1), "{refused}");
    assert!(refused.stderr.contains("/other"), "{refused}");
    assert!(
        refused.stderr.contains("same-other"),
        "a name to choose: {refused}"
    );
    // With another name for each it is accepted.
    let renamed = same
        .replace("other        =", "same-other   =")
        .replace("other-answer =", "same-answer  =");
    installs(&seat.project, "same", &renamed);
    // The same pipeline again is not a second one.
    seat.project.run(["init", "other", "--yes"]).succeeds();
}
