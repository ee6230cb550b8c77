//! Two commands at once, and more: every event is there once, and of two that collide one begins.

use std::thread;

use testkit::{Project, Ran};

use crate::fixture::{RUN, SMALL, entries, fact, run, started, trusted};

fn at_once(project: &Project, lines: Vec<String>) -> Vec<Ran> {
    thread::scope(|scope| {
        let started: Vec<_> = lines
            .iter()
            .map(|line| scope.spawn(move || run(project, line)))
            .collect();
        started
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    })
}

#[test]
fn twenty_at_once_leave_twenty_entries() {
    let project = started();
    let lines = (0..20).map(|n| format!("checkpoint {RUN} c{n}")).collect();
    for ran in at_once(&project, lines) {
        ran.succeeds();
    }
    assert_eq!(entries(&project, RUN), 21);
    run(&project, "verify").succeeds();
}

#[test]
fn one_answer_of_many_counts() {
    let project = started();
    crate::fixture::to_the_question(&project);
    let before = entries(&project, RUN);
    let ran = at_once(&project, vec![format!("answer {RUN} yes"); 6]);
    assert_eq!(ran.iter().filter(|ran| ran.code == Some(0)).count(), 1);
    assert_eq!(ran.iter().filter(|ran| ran.code == Some(1)).count(), 5);
    let history = fact(&project, "history r-test");
    let moves = history["entries"].as_array().unwrap()[before..].iter();
    assert_eq!(
        moves
            .filter(|entry| entry["fact"]["kind"] == "moved")
            .count(),
        1,
        "{history}"
    );
}

#[test]
fn runs_that_would_write_to_the_same_paths_are_not_begun_together() {
    let project = trusted();
    let ran = at_once(
        &project,
        vec!["start small.toml --task x --by-hand".to_owned(); 6],
    );
    let begun: Vec<_> = ran.iter().filter(|ran| ran.code == Some(0)).collect();
    assert_eq!(begun.len(), 1);
    let id = begun[0].stdout.lines().next().unwrap();
    for refused in ran.iter().filter(|ran| ran.code != Some(0)) {
        assert_eq!(refused.code, Some(1), "{refused}");
        assert!(
            refused.stderr.contains(id) && refused.stderr.contains("note.md"),
            "{refused}"
        );
    }
    // With the run in its paths, another one may begin.
    let apart = SMALL
        .replace("\"note.md\"", "\"{run}.md\"")
        .replace("\"verdict.json\"", "\"{run}.json\"");
    let apart = apart.replace("grep -q Hello note.md", "grep -q Hello {run}.md");
    project.write("apart.toml", apart);
    project.trust("apart.toml");
    run(&project, "start apart.toml --task x --by-hand").succeeds();
    run(&project, "start apart.toml --task x --by-hand").succeeds();
    // So may one when the other is over.
    run(&project, &format!("cancel {id} --reason over")).succeeds();
    run(&project, "start small.toml --task x --by-hand").succeeds();
}
