//! `gatewright metrics`: figures over the runs of a project, counted from their journals.

use std::fs;

use serde_json::json;
use testkit::Project;

use crate::fixture::{PROGRAM, fact, project, run, started, to_the_end, to_the_question};

#[test]
fn a_whole_run_is_counted() {
    let project = started();
    project.write("note.md", "nothing\n");
    run(&project, "report").succeeds();
    run(&project, "check").exits(1);
    to_the_question(&project);
    run(&project, "finish").exits(1);
    to_the_end(&project);
    let figures = fact(&project, "metrics");
    assert_eq!(figures["runs"]["statuses"], json!({ "completed": 1 }));
    assert_eq!(figures["runs"]["success_permille"], json!(1000));
    assert_eq!(figures["runs"]["time"]["count"], json!(1));
    let check = &figures["checks"][0];
    assert_eq!(check["stage"], json!("testing"));
    assert_eq!((&check["passed"], &check["failed"]), (&json!(1), &json!(1)));
    let review = &figures["reviews"][0];
    assert_eq!(
        (&review["rounds"], &review["approvals"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(figures["people"]["acts"], json!({ "answer": 1 }));
    let writing = figures["stages"]
        .as_array()
        .unwrap()
        .iter()
        .find(|stage| stage["stage"] == "writing");
    assert_eq!(writing.unwrap()["entered"], json!(2));
    let agents: Vec<&str> = figures["agents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|agent| agent["agent"].as_str().unwrap())
        .collect();
    assert_eq!(agents, ["reader", "writer"]);
    let text = run(&project, "metrics").succeeds().stdout;
    assert!(text.contains("100.0 %"), "{text}");
    assert!(text.contains("small/testing"), "{text}");
}

#[test]
fn runs_are_chosen_by_pipeline_time_and_project() {
    let project = started();
    let total = |line: &str| fact(&project, line)["runs"]["total"].clone();
    assert_eq!(total("metrics"), json!(1));
    assert_eq!(total("metrics --pipeline small"), json!(1));
    assert_eq!(total("metrics --pipeline other"), json!(0));
    assert_eq!(total("metrics --since 1d"), json!(1));
    assert_eq!(total("metrics --since 0s"), json!(0));
    // Another project with the same state folder.
    let elsewhere = project.home().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    let there = |line: &str| {
        let mut command = project.command(line.split_whitespace());
        let output = command.current_dir(&elsewhere).output().unwrap();
        let facts: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        facts["runs"]["total"].clone()
    };
    assert_eq!(there("metrics --json"), json!(0));
    assert_eq!(there("metrics --all --json"), json!(1));
}

#[test]
fn nothing_to_count_is_said() {
    let project = Project::new(PROGRAM);
    let ran = run(&project, "metrics").succeeds();
    assert_eq!(ran.stdout, "");
    assert!(
        ran.stderr.contains("gatewright ") && ran.stderr.lines().count() == 1,
        "{ran}"
    );
    assert_eq!(fact(&project, "metrics")["runs"]["total"], json!(0));
    for line in ["metrics --since 7", "metrics --pipeline a/b", "metrics r-1"] {
        run(&project, line).exits(2);
    }
}

/// Figures tell names and numbers: no task, no reason, nothing that an agent wrote.
#[test]
fn no_text_of_a_run_is_told() {
    let project = project();
    project.person(["trust", "small.toml"], "yes\n");
    let task = "SECRET-TASK sk-ant-api03-abcdefghijklmnop";
    project
        .run(["start", "small.toml", "--task", task, "--by-hand"])
        .succeeds();
    run(&project, "cancel --reason SECRET-REASON").succeeds();
    let told = run(&project, "metrics --json").succeeds().stdout;
    assert!(!told.contains("SECRET"), "{told}");
    assert!(!told.contains("sk-ant"), "{told}");
}

/// An unreadable run is reported, and the others are counted.
#[test]
fn a_damaged_run_is_left_out_and_told() {
    let project = started();
    run(&project, "fork r-test --at 1 --id r-fork").succeeds();
    let store = rusqlite::Connection::open(project.state().join("store.db")).unwrap();
    let damage = "UPDATE runs SET head = zeroblob(32) WHERE id = 'r-fork'";
    assert_eq!(store.execute(damage, []).unwrap(), 1);
    drop(store);
    let ran = run(&project, "metrics --json").exits(5);
    assert!(ran.stderr.contains("damaged"), "{ran}");
    let figures: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(figures["runs"]["total"], json!(1));
}
