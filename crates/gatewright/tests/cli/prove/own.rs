//! A project's own pipeline: trusted first, proved with its own bytes, and none of its commands run.

use std::fs;

use testkit::Project;

use super::fixture::{PROGRAM, TINY, broken, proof, says, trusted};

/// Something of everything that a pipeline can have. Its check would leave a mark, if it were run.
const ODD: &str = r#"
name   = "odd"
about  = "Something of everything."
start  = "noting"

[params]
where = { about = "where it goes", required = true }

[groups]
helpers = ["Explore", "help-*"]

[artifacts.note]
path    = "notes/{run}.md"
format  = "bundle"
require = ["author", "place.name"]

[artifacts.answer]
from    = "reply"
outcome = { field = "status", values = { yes = "done", no = "failed" } }

[artifacts.part]
path   = "parts/{step}.txt"
format = "text"

[artifacts.verdict]
path    = "verdict.json"
format  = "json"
schema  = "verdict.json"
outcome = { field = "review.status", values = ["approved", "needs_changes", "needs_clarification"] }

[artifacts.judgement]
path    = "judgement.json"
format  = "json"
outcome = { field = "status", values = ["passed", "failed"] }

[artifacts.loose]
path   = "loose.txt"
format = "text"
strict = false

[stages.noting]
agent   = "session"
leaves  = ["note"]
on.done = "looking"

[stages.looking]
allow          = ["helpers", "thinker"]
leaves.thinker = ["answer"]
after.thinker  = "building"

[stages.building]
steps = [
    { id = "a", title = "first", agent = "builder" },
    { id = "b", title = "second", agent = "builder" },
    { id = "c", title = "third", agent = "painter", needs = ["a", "b"] },
]
leaves    = ["part"]
stop      = "hold"
on.done   = "tidying"
on.failed = "stopped"

[stages.tidying]
agent      = "tidier"
leaves     = ["loose"]
tools.deny = ["Web*", "Bash"]
writes     = ["src/**"]
stop       = "hold"
on.done    = "testing"
on.crashed = "asking"

[stages.testing]
check     = ["scripts/test.sh {where}", "touch marked-by-a-check"]
on.passed = "reviewing"
on.failed = "asking"

[stages.asking]
ask    = "Shall it go on?"
on.yes = "tidying"
on.no  = "stopped"

[stages.reviewing]
review = "tidier"
panel  = [{ agent = "reader", leaves = "verdict" }]
rounds = 3
on.approved            = "judging"
on.needs_clarification = "asking"
on.exceeded            = "stopped"

[stages.judging]
agent     = "judge"
runner    = "codex"
leaves    = ["judgement"]
writes    = []
on.passed = "complete"
on.failed = "asking"

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"
"#;

const VERDICT: &str = r##"{
    "type": "object",
    "required": ["review", "notes"],
    "properties": {
        "review": { "$ref": "#/$defs/review" },
        "notes": { "type": "array", "minItems": 1, "items": { "type": "string", "minLength": 3 } }
    },
    "$defs": { "review": { "type": "object", "required": ["status"] } }
}"##;

fn odd() -> Project {
    let project = Project::new(PROGRAM);
    project.write(".gatewright/mine.toml", ODD);
    project.write(".gatewright/verdict.json", VERDICT);
    let mark = project.home().join("mark");
    let script = project.write(
        "scripts/test.sh",
        format!("#!/bin/sh\ntouch {}\n", mark.display()),
    );
    testkit::make_executable(&script);
    project
}

#[test]
fn a_pipeline_that_nobody_trusts_is_not_proved() {
    let project = odd();
    let ran = project.run(["prove-guards", "mine"]);
    says(ran, 1, &["gatewright trust mine"]);
}

#[test]
fn the_guards_of_an_odd_pipeline_hold_and_its_commands_are_not_run() {
    let project = odd();
    project.trust("mine");
    let proof = proof(&project, "mine", 0);
    assert_eq!(broken(&proof), Vec::<String>::new());
    assert!(!project.home().join("mark").exists(), "a script was run");
    for (gate, words) in [
        ("building", "GW-R13"),
        ("building", "GW-R14"),
        ("tidying", "GW-R20"),
        ("tidying", "GW-R38"),
        ("testing", "asking"),
        ("looking", "'thinker'"),
        ("reviewing", "NOT APPROVED"),
        ("reviewing", "'reader'"),
        ("judging", "'judge'"),
    ] {
        let gates = proof["gates"].as_array().unwrap();
        let gate = gates.iter().find(|one| one["gate"] == gate).unwrap();
        let mut cases = gate["cases"].as_array().unwrap().iter();
        let shown = cases.any(|case| case.to_string().contains(words));
        assert!(shown, "{words} is not shown in {gate}");
    }
}

#[test]
fn an_artifact_that_nobody_can_guess_is_told() {
    let project = Project::new(PROGRAM);
    let text = TINY.replace(
        "format = \"text\"",
        "format = \"json\"\nschema = \"note.json\"",
    );
    project.write(".gatewright/mine.toml", text);
    let schema = r#"{ "required": ["x"], "properties": { "x": { "pattern": "^[0-9]{7}$" } } }"#;
    project.write(".gatewright/note.json", schema);
    project.trust("mine");
    let proof = proof(&project, "mine", 1);
    assert_eq!(
        (&proof["broken"], &proof["holds"]),
        (&0.into(), &false.into())
    );
    let told = broken(&proof);
    assert!(
        told.iter().any(|told| told.starts_with("writing pass: ")),
        "{told:?}"
    );
}

#[test]
fn a_proof_shows_what_was_sent_and_leaves_nothing_behind() {
    let project = trusted(TINY);
    let temporary = project.home().join("tmp");
    fs::create_dir(&temporary).unwrap();
    let before = fs::read_dir(project.state()).unwrap().count();
    let mut command = project.command(["prove-guards", "mine", "--verbose"]);
    let output = command.env("TMPDIR", &temporary).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    for words in [
        "writing (",
        "\"hook_event_name\":\"PreToolUse\"",
        "\"permissionDecision\":\"deny\"",
        "GW-R11",
    ] {
        assert!(text.contains(words), "does not show {words:?}\n{text}");
    }
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
    assert_eq!(fs::read_dir(project.state()).unwrap().count(), before);
}

#[test]
fn every_gate_has_its_line_as_soon_as_it_is_tested() {
    let project = trusted(TINY);
    let ran = project.run(["prove-guards", "mine", "--json"]).succeeds();
    let told: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let gates = told["proofs"][0]["gates"].as_array().unwrap();
    let expected: Vec<String> = gates
        .iter()
        .map(|gate| {
            let cases = gate["cases"].as_array().unwrap().len();
            format!("{}: {cases}", gate["gate"].as_str().unwrap())
        })
        .collect();
    // The first line says that it begins.
    let lines: Vec<&str> = ran.stderr.lines().skip(1).map(str::trim).collect();
    assert_eq!(lines.len(), expected.len(), "{ran}");
    for (line, expected) in lines.iter().zip(&expected) {
        assert!(line.starts_with(expected), "{line:?}, not {expected:?}");
    }
}
