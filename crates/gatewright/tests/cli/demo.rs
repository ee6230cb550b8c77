//! The demo: short, real, and gone without a trace.

use std::fs;

use serde_json::Value;
use testkit::Ran;

use crate::fixture::{project, run};

#[test]
fn the_demo_tells_its_story_in_few_lines_and_leaves_nothing() {
    let project = project();
    let temporary = project.home().join("tmp");
    fs::create_dir(&temporary).unwrap();
    let mut command = project.command(["demo"]);
    let ran = Ran::from(command.env("TMPDIR", &temporary).output().unwrap()).succeeds();
    assert!(ran.stdout.lines().count() <= 40, "{ran}");
    assert!(
        ran.stdout.lines().all(|line| line.chars().count() <= 100),
        "{ran}"
    );
    let mut rest = ran.stdout.as_str();
    for word in [
        "\nREFUSED",
        "\nanswer",
        "\nreview",
        "\nFAILED",
        "\npassed",
        "\ndone",
        "\nverify",
    ] {
        let at = rest
            .find(word)
            .unwrap_or_else(|| panic!("{word} is missing or out of order\n{ran}"));
        rest = &rest[at..];
    }
    assert!(ran.stdout.contains("intact"), "{ran}");
    assert_eq!(ran.stderr, "");
    assert_eq!(
        fs::read_dir(&temporary).unwrap().count(),
        0,
        "something is left behind"
    );
    assert!(
        !project.state().exists(),
        "the demo used the state folder of the person"
    );
}

#[test]
fn the_demo_can_be_told_as_json() {
    let told: Value =
        serde_json::from_str(&run(&project(), "demo --json").succeeds().stdout).unwrap();
    assert_eq!(
        (told["pipeline"].as_str(), told["intact"].as_bool()),
        (Some("multi-ai"), Some(true))
    );
}

#[test]
fn a_temporary_folder_in_a_repository_is_not_taken_for_the_project() {
    let project = project();
    project.git(["init", "--quiet"]);
    let mut command = project.command(["demo"]);
    let ran = Ran::from(command.env("TMPDIR", project.path()).output().unwrap());
    crate::fixture::says_one_line(
        Ran {
            stdout: String::new(),
            ..ran
        },
        4,
        &["TMPDIR"],
    );
}
