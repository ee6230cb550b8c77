//! Questions of workers, runs that went stale, and commands that a person approves.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use testkit::{Project, Ran, until, wait_for};

use crate::fixture::{
    RUN, SMALL, fact, project, run, says_one_line, stage, start, status, to_the_question,
};

const STORY: &str = r#"{
    "id": "story-20260115-103000", "title": "t", "requirements": { "functional": ["f"] },
    "acceptance_criteria": [
        { "id": "a", "scenario": "s", "given": "g", "when": "w", "then": "t" }
    ],
    "test_criteria": { "commands": ["COMMAND"] }
}"#;

const COMPLETED: &str = r#"{ "worker_id": "requirements-gatherer-1", "phase": "requirements_gathering",
    "timestamp": "2026-01-15T10:31:00Z", "status": "completed" }"#;

const QUESTIONS: &str = r#"{ "worker_id": "requirements-gatherer-1", "phase": "requirements_gathering",
    "timestamp": "2026-01-15T10:30:00Z", "status": "needs_input", "questions": [
    { "id": "colour", "question": "Which \u001b[31mcolour?", "options": ["red", "blue"] },
    { "id": "size", "question": "How large?" }
] }"#;

/// A run of `multi-ai` whose first worker has asked two questions.
fn asked() -> Project {
    let project = project();
    start(&project, "multi-ai").succeeds();
    project.write(".task/worker-signal.json", QUESTIONS);
    run(&project, "report").succeeds();
    assert_eq!(stage(&project), "needs_user_input");
    project
}

#[test]
fn the_questions_of_a_worker_are_shown_and_answered_at_once() {
    let project = asked();
    let shown = run(&project, "answer").succeeds();
    for words in ["colour", "Which colour?", "red, blue", "How large?"] {
        assert!(shown.stdout.contains(words), "{words}\n{shown}");
    }
    assert!(!shown.stdout.contains('\u{1b}'), "{shown}");
    // `next` prints the same list, and not the file of the worker.
    let next = run(&project, "next").succeeds();
    for told in [&shown, &next] {
        assert!(told.stdout.contains("size  How large?"), "{told}");
        assert!(told.stdout.contains("such as: red, blue"), "{told}");
        assert!(!told.stdout.contains("worker_id"), "{told}");
    }
    for command in ["answer r-test", "next r-test"] {
        let facts = fact(&project, command);
        assert_eq!(facts["questions"][1]["id"], "size", "{command}");
    }

    says_one_line(
        run(&project, "answer --answer colour=red"),
        1,
        &["GW-R63", "'size'"],
    );
    let unknown = "answer --answer colour=red --answer size=2 --answer shape=x";
    says_one_line(run(&project, unknown), 1, &["GW-R63", "'shape'"]);
    let told = "--answer colour=TEXT --answer size=TEXT";
    says_one_line(run(&project, "answer red"), 1, &["GW-R62", told]);
    let twice = "answer --answer colour=red --answer colour=blue";
    says_one_line(run(&project, twice), 2, &["--answer colour"]);
    run(&project, "answer --answer colour=red --answer size=2").succeeds();
    assert_eq!(stage(&project), "requirements_gathering");
    let export = run(&project, "export r-test").stdout;
    assert!(export.contains(r#"\"answer\":\"red\""#), "{export}");
}

/// A run of `multi-ai` whose story with this test command was approved.
fn approved(command: &str) -> Project {
    let project = project();
    start(&project, "multi-ai").succeeds();
    project.write(".task/worker-signal.json", COMPLETED);
    project.write(".task/user-story.json", STORY.replace("COMMAND", command));
    run(&project, "report").succeeds();
    run(&project, "answer approve").succeeds();
    for (stage, outcome) in [
        ("plan_drafting", "completed"),
        ("plan_refining", "completed"),
        ("plan_reviewing", "approved"),
        ("implementing_loop", "complete"),
        ("code_reviewing", "approved"),
    ] {
        assert_eq!(self::stage(&project), stage);
        project
            .run([
                "skip",
                "--as",
                outcome,
                "--reason",
                "not what this test is about",
            ])
            .succeeds();
    }
    assert_eq!(stage(&project), "testing");
    project
}

#[test]
fn commands_that_a_person_approved_are_run() {
    let project = approved("sh test.sh");
    project.write("test.sh", "echo tested; exit 0\n");
    run(&project, "check").succeeds();
    assert_eq!(status(&project), "completed");
}

#[test]
fn a_command_that_tests_nothing_or_destroys_is_refused_before_anybody_could_approve_it() {
    for command in ["true", "rm -rf .", "sh -c true", "echo All tests passed"] {
        let project = project();
        start(&project, "multi-ai").succeeds();
        project.write(".task/worker-signal.json", COMPLETED);
        project.write(".task/user-story.json", STORY.replace("COMMAND", command));
        says_one_line(
            run(&project, "report"),
            1,
            &["GW-R34", &format!("`{command}`")],
        );
        assert_eq!(stage(&project), "requirements_gathering", "{command}");
    }
}

#[test]
fn what_the_story_says_after_the_approval_does_not_count() {
    let project = approved("sh test.sh");
    project.write("test.sh", "exit 1\n");
    project.write(
        ".task/user-story.json",
        STORY.replace("COMMAND", "sh other.sh"),
    );
    project.write("other.sh", "exit 0\n");
    let ran = run(&project, "check").exits(1);
    assert!(ran.stdout.contains("sh test.sh: exit 1"), "{ran}");
    assert_eq!(stage(&project), "implementing_loop");
}

#[test]
fn a_stale_run_is_shown_and_asks() {
    let project = project();
    project.write("stale.toml", format!("ttl = \"1s\"\n{SMALL}"));
    start(&project, "stale.toml").succeeds();
    until("the run is stale", || {
        run(&project, "list").stdout.contains("STALE")
    });
    assert!(run(&project, "status").stdout.contains("STALE"));
    assert_eq!(fact(&project, "list")["runs"][0]["stale"], true);
    let next = run(&project, "next").succeeds().stdout;
    assert!(next.contains("gatewright answer r-test continue"), "{next}");
    project.write("note.md", "Hello\n");
    says_one_line(run(&project, "report"), 1, &["GW-R93"]);
    says_one_line(run(&project, "check"), 1, &["GW-R93"]);
    run(&project, "answer r-test continue").succeeds();
    run(&project, "report").succeeds();
    assert_eq!(stage(&project), "testing");
}

#[test]
fn continue_can_also_be_a_choice() {
    let project = project();
    let text = SMALL.replace("on.yes = \"reviewing\"", "on.continue = \"reviewing\"");
    project.write("continue.toml", text);
    start(&project, "continue.toml").succeeds();
    says_one_line(run(&project, "answer continue"), 1, &["GW-R76"]);
    to_the_question(&project);
    run(&project, "answer continue").succeeds();
    assert_eq!(stage(&project), "reviewing");
}

#[test]
fn a_check_is_refused_where_there_is_none() {
    let project = project();
    start(&project, "small.toml").succeeds();
    let before = crate::fixture::entries(&project, RUN);
    says_one_line(run(&project, "check"), 1, &["GW-R52", "'writer'"]);
    assert_eq!(fact(&project, "check")["reply"], "refuse");
    assert_eq!(crate::fixture::entries(&project, RUN), before);
}

#[test]
fn a_program_that_is_missing_says_nothing_about_the_work() {
    let project = project();
    project.write(
        "missing.toml",
        SMALL.replace("grep -q Hello note.md", "no-such-program-here note.md"),
    );
    start(&project, "missing.toml").succeeds();
    project.write("note.md", "Hello\n");
    run(&project, "report").succeeds();
    let told = &["GW-R55", "no-such-program-here", "trust --environment"];
    let ran = says_one_line(run(&project, "check --key once"), 4, told);
    assert!(!ran.stderr.contains("settings"), "{ran}");
    says_one_line(run(&project, "check --key once"), 4, &["GW-R55"]);
    assert_eq!(stage(&project), "testing");
}

#[test]
fn a_check_that_is_interrupted_ends_its_commands_and_says_nothing() {
    let project = project();
    project.write(
        "slow.toml",
        SMALL.replace("grep -q Hello note.md", "sh slow.sh"),
    );
    project.write("slow.sh", "echo $$ > slow.pid\nsleep 60\n");
    start(&project, "slow.toml").succeeds();
    project.write("note.md", "Hello\n");
    run(&project, "report").succeeds();
    let before = crate::fixture::entries(&project, RUN);
    let mut command = project.child(["check"]);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let slow = wait_for("the check runs", || {
        fs::read_to_string(project.path().join("slow.pid"))
            .ok()
            .filter(|pid| pid.ends_with('\n'))
    });
    let id = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-TERM", &id])
            .status()
            .unwrap()
            .success()
    );
    let ran = Ran::from(child.wait_with_output().unwrap());
    says_one_line(ran, 4, &["gatewright check"]);
    let process = format!("/proc/{}", slow.trim());
    until("the check has ended", || !Path::new(&process).exists());
    assert_eq!(crate::fixture::entries(&project, RUN), before);
}

/// The run went on meanwhile: the words are refused in one line, and nothing counts twice.
#[test]
fn an_answer_with_words_for_a_run_that_moved_on_is_refused() {
    let project = project();
    start(&project, "small.toml").succeeds();
    to_the_question(&project);
    run(&project, "answer r-test yes").succeeds();
    let late = project.run(["answer", RUN, "no", "I changed my mind"]);
    says_one_line(late, 1, &["GW-R62", "reviewing"]);
    assert_eq!(stage(&project), "reviewing");
    let history = run(&project, "history r-test").succeeds().stdout;
    assert_eq!(history.matches("answered").count(), 1, "{history}");
}
