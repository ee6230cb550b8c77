//! Keys: what is sent twice with the same key is done once.

use serde_json::Value;
use testkit::Project;

use crate::fixture::{
    RUN, entries, fact, number_of_runs, run, says_one_line, started, to_the_question, trusted,
};

/// Sends a line twice; the second time adds nothing and gives the same answer.
#[track_caller]
fn twice(project: &Project, line: &str) {
    let line = format!("{line} --key k-{}", line.len());
    let first = run(project, &line);
    let after = counts(project);
    let second = run(project, &line);
    assert_eq!(second.code, first.code, "{line}\n{first}\n{second}");
    assert_eq!(counts(project), after, "{line}");
}

fn counts(project: &Project) -> Vec<(String, usize)> {
    let listed = fact(project, "list --all");
    let ids = listed["runs"].as_array().unwrap().iter();
    let ids = ids.map(|run| run["run"].as_str().unwrap().to_owned());
    ids.map(|id| (id.clone(), entries(project, &id))).collect()
}

#[test]
fn every_command_that_writes_does_it_once() {
    let project = trusted();
    twice(&project, "start small.toml --task x --by-hand");
    let id = fact(&project, "list")["runs"][0]["run"]
        .as_str()
        .unwrap()
        .to_owned();
    twice(&project, &format!("report {id} --agent reader"));
    twice(&project, &format!("report {id} --outcome crashed"));
    run(&project, &format!("report {id} --outcome crashed")).succeeds();
    run(&project, &format!("report {id} --outcome crashed")).succeeds();
    twice(&project, &format!("retry {id}"));
    project.write("note.md", "Hallo\n");
    twice(&project, &format!("report {id} --agent writer"));
    twice(&project, &format!("check {id}"));
    twice(&project, &format!("skip {id} --reason x"));
    twice(&project, &format!("skip {id} --as passed --reason x"));
    twice(&project, &format!("checkpoint {id} here"));
    twice(&project, &format!("answer {id} no-such-choice"));
    twice(&project, &format!("answer {id} yes"));
    twice(&project, &format!("restore {id} here --reason x"));
    twice(&project, &format!("fork {id} --at 1"));
    twice(&project, &format!("reset {id} --reason x"));
    twice(&project, &format!("cancel {id} --reason x"));
    run(&project, "verify").succeeds();
}

#[test]
fn a_repeated_start_gives_the_same_run_whatever_became_of_the_file() {
    let project = trusted();
    let start = || fact(&project, "start small.toml --task x --by-hand --key once")["run"].clone();
    let first: Value = start();
    project.write("small.toml", "gone");
    assert_eq!(start(), first);
}

#[test]
fn another_key_is_another_event() {
    let project = started();
    run(&project, "checkpoint r-test a --key one").succeeds();
    run(&project, "checkpoint r-test a --key two").succeeds();
    assert_eq!(entries(&project, RUN), 3);
}

#[test]
fn a_key_is_bound_to_its_command_and_its_arguments() {
    let project = started();
    run(&project, "checkpoint r-test a --key z").succeeds();
    let used = &["key z", "`checkpoint …`"];
    for line in [
        "checkpoint r-test b --key z",
        "report --key z",
        "report --outcome crashed --key z",
        "cancel --reason x --key z",
        "reset --reason x --key z",
        "check --key z",
    ] {
        says_one_line(run(&project, line), 1, used);
    }
    assert_eq!(entries(&project, RUN), 2);
    // How the run is named and how the facts are printed makes no difference.
    let again = fact(&project, "checkpoint r-te a --key z");
    assert_eq!(again["repeated"], true);
    run(&project, "checkpoint r-test a --key zz").succeeds();
}

#[test]
fn a_key_that_began_a_run_begins_no_other() {
    let project = trusted();
    let start = "start small.toml --by-hand --id r-test --key once --task";
    run(&project, &format!("{start} x")).succeeds();
    run(&project, &format!("{start} x")).succeeds();
    let used = &["key once", "`start …`"];
    says_one_line(run(&project, &format!("{start} y")), 1, used);
    says_one_line(run(&project, "fork r-test --at 1 --key once"), 1, used);
    says_one_line(run(&project, "checkpoint r-test a --key once"), 1, used);
    assert_eq!(number_of_runs(&project), 1);
}

#[test]
fn a_refusal_is_repeated_as_a_refusal() {
    let project = started();
    to_the_question(&project);
    let first = run(&project, "report --agent writer --key no").exits(1);
    let second = run(&project, "report --agent writer --key no").exits(1);
    assert_eq!(first.stderr, second.stderr);
}

#[test]
fn a_key_is_short_and_plain() {
    let project = started();
    for key in ["", "a\nb", "é", &"k".repeat(97)] {
        project
            .run(["checkpoint", RUN, "here", "--key", key])
            .exits(2);
    }
}
