//! A person edits an artifact while a question about it is open.

use testkit::Project;

use crate::fixture::{
    RUN, fact, project, run, says_one_line, stage, start, started, status, to_the_question,
};

const EDITED: &str = "Hello, and well met\n";

/// A run of the small pipeline that asks, after the person has changed the note.
fn edited() -> Project {
    let project = started();
    to_the_question(&project);
    project.write("note.md", EDITED);
    project
}

fn note(project: &Project) -> String {
    run(project, "export r-test --artifact note")
        .succeeds()
        .stdout
}

#[test]
fn an_answer_over_an_edit_is_refused_with_the_two_commands() {
    let project = edited();
    let told = [
        "GW-R125",
        "--with-edits",
        "export r-test --artifact note -o note.md",
    ];
    says_one_line(run(&project, "answer yes"), 1, &told);
    assert_eq!(
        (stage(&project), note(&project)),
        ("asking".into(), "Hello\n".into())
    );
    // The second of them.
    run(&project, "export r-test --artifact note -o note.md").succeeds();
    run(&project, "answer yes").succeeds();
    assert_eq!(
        (stage(&project), note(&project)),
        ("reviewing".into(), "Hello\n".into())
    );
}

#[test]
fn a_person_takes_their_edit_with_the_answer() {
    let project = edited();
    run(&project, "answer yes --with-edits").succeeds();
    assert_eq!(
        (stage(&project).as_str(), note(&project).as_str()),
        ("reviewing", EDITED)
    );
    let history = run(&project, "history r-test").succeeds();
    assert!(history.stdout.contains("approved note"), "{history}");
    run(&project, "verify").succeeds();
}

#[test]
fn edits_without_any_and_another_choice_change_nothing_else() {
    let project = started();
    to_the_question(&project);
    run(&project, "answer yes --with-edits").succeeds();
    assert_eq!(stage(&project), "reviewing");
    let project = edited();
    run(&project, "answer no --with-edits").succeeds();
    assert_eq!(
        (status(&project).as_str(), note(&project).as_str()),
        ("failed", EDITED)
    );
}

#[test]
fn an_edit_that_breaks_the_artifact_is_refused() {
    let project = project();
    start(&project, "multi-ai").succeeds();
    let signal = r#"{ "worker_id": "requirements-gatherer-1", "phase": "requirements_gathering",
        "timestamp": "2026-01-15T10:31:00Z", "status": "completed" }"#;
    project.write(".task/worker-signal.json", signal);
    let story = r#"{ "id": "story-20260115-103000", "title": "t", "requirements": { "functional": ["f"] },
        "acceptance_criteria": [{ "id": "a", "scenario": "s", "given": "g", "when": "w", "then": "t" }],
        "test_criteria": { "commands": ["sh test.sh"] } }"#;
    project.write(".task/user-story.json", story);
    run(&project, "report").succeeds();
    project.write(".task/user-story.json", "{ \"id\": \"story-1\" }");
    let told = run(&project, "answer approve --with-edits");
    says_one_line(told, 1, &["GW-R34", "story"]);
    assert_eq!(stage(&project), "approval");
    // A person's own command counts as approved: they wrote it.
    project.write(
        ".task/user-story.json",
        story.replace("test.sh", "all-tests.sh"),
    );
    run(&project, "answer approve --with-edits").succeeds();
    let approved = fact(&project, &format!("status {RUN}"))["artifacts"].to_string();
    assert!(approved.contains("story"), "{approved}");
    let export = run(&project, "export r-test --artifact story").succeeds();
    assert!(export.stdout.contains("all-tests.sh"), "{export}");
}
