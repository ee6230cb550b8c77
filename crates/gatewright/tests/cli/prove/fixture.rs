//! What the tests share: small projects, and short ways to say what a proof shows.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::{Project, Ran};

pub(super) const PROGRAM: &str = env!("CARGO_BIN_EXE_gatewright");

/// One agent that leaves a file, and one question.
pub(super) const TINY: &str = r#"
name  = "tiny"
about = "Write a note, and ask about it."
start = "writing"

[artifacts.note]
path   = "note.md"
format = "text"

[stages.writing]
agent   = "writer"
leaves  = ["note"]
stop    = "hold"
on.done = "asking"

[stages.asking]
ask    = "Is it good?"
on.yes = "complete"
on.no  = "writing"

[stages.complete]
end = "completed"
"#;

/// A project with a pipeline of its own, which a person has trusted.
pub(super) fn trusted(text: &str) -> Project {
    let project = Project::new(PROGRAM);
    project.write(".gatewright/mine.toml", text);
    project.trust("mine");
    project
}

/// Writes a program of this text in the place of ours.
pub(super) fn stand_in(project: &Project, text: &str) -> PathBuf {
    let path = project.home().join("gatewright");
    fs::write(&path, text).unwrap();
    testkit::make_executable(&path);
    path
}

/// Every event at which `init` puts a hook.
pub(super) const EVENTS: [&str; 13] = [
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "SubagentStart",
    "SubagentStop",
    "TaskCompleted",
    "Stop",
    "StopFailure",
    "ConfigChange",
];

/// Settings with hooks at these events that call this program.
pub(super) fn install(project: &Project, program: &str, events: &[&str]) {
    let mut hooks = serde_json::Map::new();
    for event in events {
        let hook = json!({
            "type": "command",
            "command": program,
            "args": ["hook", "claude", event],
            "timeout": 10,
        });
        hooks.insert((*event).to_owned(), json!([{ "hooks": [hook] }]));
    }
    let settings = json!({ "hooks": hooks });
    project.write(".claude/settings.local.json", settings.to_string());
}

/// The proof of a pipeline, as JSON.
#[track_caller]
pub(super) fn proof(project: &Project, pipeline: &str, code: i32) -> Value {
    let ran = project
        .run(["prove-guards", pipeline, "--json"])
        .exits(code);
    let mut facts: Value = serde_json::from_str(&ran.stdout).unwrap();
    facts["proofs"][0].take()
}

/// What did not hold: `gate column: what`.
pub(super) fn broken(proof: &Value) -> Vec<String> {
    let gates = proof["gates"].as_array().unwrap().iter();
    let cases = gates.flat_map(|gate| {
        let cases = gate["cases"].as_array().unwrap().iter();
        cases.map(move |case| (gate, case))
    });
    let broken = cases.filter(|(_, case)| case["result"] != "held");
    let told = broken.map(|(gate, case)| {
        let word = |value: &Value| value.as_str().unwrap().to_owned();
        format!(
            "{} {}: {}",
            word(&gate["gate"]),
            word(&case["column"]),
            word(&case["what"])
        )
    });
    told.collect()
}

/// The gates in which something did not hold, each once.
pub(super) fn broken_gates(proof: &Value) -> Vec<String> {
    let told = broken(proof);
    let gates = told.iter().map(|told| told.split_once(": ").unwrap().0);
    let mut gates: Vec<String> = gates.map(str::to_owned).collect();
    gates.dedup();
    gates
}

/// Insists on one line of talk with these words.
#[track_caller]
pub(super) fn says(ran: Ran, code: i32, words: &[&str]) {
    let ran = ran.exits(code);
    for word in words {
        assert!(ran.stderr.contains(word), "does not say {word:?}\n{ran}");
    }
}
