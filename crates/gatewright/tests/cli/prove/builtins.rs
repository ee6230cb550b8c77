//! Every guard of every built-in pipeline holds, and every gate is shown in all three columns.

use serde_json::Value;
use testkit::Project;

use super::fixture::{PROGRAM, broken, proof};

/// The guards that hold in every stage.
const GENERAL: [&str; 7] = [
    "admission",
    "doors",
    "own files",
    "people",
    "settings",
    "sessions",
    "payloads",
];

#[track_caller]
fn check(pipeline: &str, stages: &[&str]) {
    check_in(&Project::new(PROGRAM), pipeline, stages);
}

#[track_caller]
fn check_in(project: &Project, pipeline: &str, stages: &[&str]) {
    let proof = proof(project, pipeline, 0);
    assert_eq!(broken(&proof), Vec::<String>::new());
    assert_eq!(proof["holds"], true);
    let gates = proof["gates"].as_array().unwrap();
    let names: Vec<&str> = gates
        .iter()
        .map(|gate| gate["gate"].as_str().unwrap())
        .collect();
    for expected in stages.iter().chain(&GENERAL) {
        assert!(names.contains(expected), "no gate {expected} in {names:?}");
    }
    for gate in gates {
        for column in ["refusal", "pass", "fault"] {
            let shown = gate["cases"].as_array().unwrap().iter();
            let shown = shown.filter(|case| case["column"] == column).count();
            assert!(shown > 0, "{} shows no {column}", gate["gate"]);
        }
    }
    is_shown_by_the_hook(gates);
}

/// The stages that run commands and no agent.
const CHECKS: [&str; 4] = ["linting", "testing", "quick_testing", "checking"];

/// Nearly every case rests on something that the hook said; the rest on a command of ours.
fn is_shown_by_the_hook(gates: &[Value]) {
    for gate in gates {
        for case in gate["cases"].as_array().unwrap() {
            let asked = !case["exchanges"].as_array().unwrap().is_empty();
            let what = case["what"].as_str().unwrap();
            let by_command = what.contains("`gatewright ");
            let by_check = CHECKS.contains(&gate["gate"].as_str().unwrap());
            assert!(asked || by_command || by_check, "{what} rests on nothing");
        }
    }
}

#[test]
fn the_guards_of_ansible_hold() {
    check(
        "ansible",
        &[
            "scaffolding",
            "generating",
            "validating",
            "linting",
            "debugging",
            "reviewing",
            "escalate",
            "artifacts",
        ],
    );
}

#[test]
fn the_guards_of_context_first_hold() {
    check(
        "context-first",
        &["IDLE", "GATHERING", "REFINING", "EXECUTING", "COMPLETE"],
    );
}

#[test]
fn the_guards_of_multi_ai_hold() {
    check(
        "multi-ai",
        &[
            "requirements_gathering",
            "approval",
            "quick_implementing",
            "quick_reviewing",
            "quick_testing",
            "plan_drafting",
            "plan_refining",
            "plan_reviewing",
            "implementing",
            "implementing_loop",
            "code_reviewing",
            "testing",
            "needs_user_input",
            "clarify",
            "exceeded",
            "stuck",
            "artifacts",
        ],
    );
}

#[test]
fn the_guards_of_phases_hold() {
    check(
        "phases",
        &[
            "planning",
            "executing",
            "verifying",
            "escalate",
            "artifacts",
        ],
    );
}

/// What `gatewright new` begins with is guarded as well as what comes with the program.
#[test]
fn the_guards_of_every_template_hold() {
    for (template, stages) in [
        ("minimal", &["working", "agreeing"][..]),
        ("checked-work", &["working", "checking", "escalate"]),
        ("review-loop", &["working", "reviewing", "asking"]),
        (
            "task-graph",
            &["planning", "agreeing", "executing", "checking"],
        ),
    ] {
        let project = Project::new(PROGRAM);
        project
            .run(["new", "mine", "--template", template])
            .succeeds();
        project.trust("mine");
        check_in(&project, "mine", stages);
    }
}
