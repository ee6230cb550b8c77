//! A person edits an artifact while the session's run asks, and answers in the session.

use serde_json::{Value, json};
use testkit::Ran;

use super::answers::Asked;
use crate::answer_record::BY_PERSON;

const NOTE: &str = r#"
name   = "asks"
about  = "Asks about a note."
begins = "session"
start  = "working"

[commands]
asks-answer = "answer"

[artifacts.note]
path   = "note.md"
format = "text"

[stages.working]
agent   = "writer"
leaves  = ["note"]
on.done = "asking"

[stages.asking]
ask    = "Is the note right?"
on.yes = { to = "more", approves = ["note"] }
on.no  = "less"

[stages.more]
allow     = ["*"]
on.finish = "complete"

[stages.less]
allow     = ["*"]
on.finish = "complete"

[stages.complete]
end = "completed"
"#;

const EDITED: &str = "Hello, and well met\n";

/// A session at the question about the note, which the person has changed.
fn edited() -> Asked {
    edited_in(NOTE)
}

fn edited_in(pipeline: &str) -> Asked {
    let asked = Asked::after_work(pipeline, "note.md", "Hello\n");
    asked.seat.project.write("note.md", EDITED);
    asked
}

/// The person types the slash command with these words.
fn types(asked: &Asked, words: &str) -> String {
    let payload = json!({
        "expansion_type": "slash_command", "command_name": "asks-answer", "command_args": words,
        "prompt": format!("/asks-answer {words}"), "prompt_id": format!("p {words}"),
    });
    let ran = asked.hook("UserPromptExpansion", payload);
    let told: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    told["systemMessage"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// The person answers the host's question, whose options the session wrote.
fn answers(asked: &Asked, call: &str, options: &[&str], answer: &str) -> Ran {
    let options = options.iter().map(|label| json!({"label": label}));
    let question =
        json!({"question": "Is the note right?", "options": options.collect::<Vec<_>>()});
    let told = json!({"questions": [question], "answers": {"Is the note right?": answer}});
    asked.records(call, &told, BY_PERSON);
    asked.hears(call, &told)
}

/// The note as the run has it.
fn note(asked: &Asked) -> String {
    let project = &asked.seat.project;
    let run = project.run(["status", "--json"]).succeeds();
    let run: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let id = run["run"].as_str().expect("an id").to_owned();
    let kept = project.run(["export", &id, "--artifact", "note"]);
    kept.succeeds().stdout
}

/// How often a person's edit was captured.
fn taken(asked: &Asked) -> usize {
    let journal = asked.seat.journal();
    let by_rule = journal.iter().filter(|entry| entry["rule"] == "GW-R125");
    by_rule
        .filter(|entry| entry["fact"]["kind"] == "captured")
        .count()
}

#[test]
fn the_refusal_in_a_session_names_what_to_type_there() {
    let asked = edited();
    let told = types(&asked, "yes");
    assert!(told.contains("GW-R125"), "{told}");
    assert!(told.contains("`/asks-answer yes --with-edits`"), "{told}");
    let told = answers(&asked, "a1", &["yes", "no"], "yes").stdout;
    let told: Value = serde_json::from_str(&told).expect("JSON");
    for text in [
        &told["systemMessage"],
        &told["hookSpecificOutput"]["additionalContext"],
    ] {
        let text = text.as_str().expect("the person and the session hear it");
        assert!(text.contains("`/asks-answer yes --with-edits`"), "{text}");
    }
    assert_eq!((asked.chosen().len(), taken(&asked)), (0, 0));
}

#[test]
fn a_person_takes_their_edit_with_a_slash_command() {
    for words in [
        "yes --with-edits",
        "--with-edits yes",
        "yes --with-edits well met",
    ] {
        let asked = edited();
        types(&asked, words);
        assert_eq!(asked.chosen(), ["yes"], "{words}");
        assert_eq!(
            (note(&asked).as_str(), taken(&asked)),
            (EDITED, 1),
            "{words}"
        );
        // The host may report a command twice.
        types(&asked, words);
        assert_eq!((asked.chosen().len(), taken(&asked)), (1, 1), "{words}");
    }
}

/// A worker's questions are answered in the host's dialogue, so the edits can be taken alone.
#[test]
fn edits_are_taken_before_the_answer_too() {
    let asked = edited();
    let told = types(&asked, "--with-edits");
    assert!(told.contains("note"), "{told}");
    assert_eq!((asked.chosen().len(), taken(&asked)), (0, 1));
    answers(&asked, "a1", &["yes", "no"], "yes");
    assert_eq!(
        (asked.chosen(), note(&asked)),
        (vec!["yes".into()], EDITED.into())
    );
}

#[test]
fn a_person_takes_their_edit_in_the_hosts_own_question() {
    let without = NOTE.replace("[commands]\nasks-answer = \"answer\"\n", "");
    let asked = edited_in(&without);
    let told = answers(&asked, "a1", &["yes", "no"], "yes").stdout;
    assert!(told.contains("`yes --with-edits`"), "{told}");
    answers(&asked, "a2", &["yes", "no"], "yes --with-edits");
    assert_eq!(asked.chosen(), ["yes"]);
    assert_eq!((note(&asked).as_str(), taken(&asked)), (EDITED, 1));
}

/// The session writes the options, and may have changed the file: only a typed word takes an edit.
#[test]
fn an_option_that_the_session_wrote_takes_no_edit() {
    let asked = edited();
    let told = answers(
        &asked,
        "a1",
        &["yes --with-edits", "no"],
        "yes --with-edits",
    );
    assert!(told.stdout.contains("GW-R125"), "{told}");
    assert_eq!((asked.chosen().len(), taken(&asked)), (0, 0));
}

#[test]
fn an_agent_takes_no_edit() {
    let asked = edited();
    asked.hook(
        "PreToolUse",
        json!({
            "tool_name": "Skill", "tool_use_id": "t-skill",
            "tool_input": {"skill": "asks-answer", "args": "yes --with-edits"},
        }),
    );
    let by_shell = asked.hook(
        "PreToolUse",
        json!({
            "tool_name": "Bash", "tool_use_id": "t-shell",
            "tool_input": {"command": "gatewright answer yes --with-edits"},
        }),
    );
    assert!(by_shell.stdout.contains("deny"), "{by_shell}");
    assert_eq!((asked.chosen().len(), taken(&asked)), (0, 0));
}
