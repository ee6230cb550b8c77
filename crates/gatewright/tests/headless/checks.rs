//! Checks: commands that an agent wrote run only after a person approved them, on a tree that stays.

use serde_json::{Value, from_str};

use super::fixture::{World, says};

/// An agent says how its work is tested.
const STORY: &str = r#"
name  = "story"
about = "Have an agent say what tests its work."
start = "telling"

[artifacts.story]
path   = "story.json"
format = "json"

[stages.telling]
agent   = "teller"
leaves  = ["story"]
on.done = "approval"

[stages.approval]
ask        = "May these commands test the work?"
on.approve = { to = "testing", approves = ["story"] }
on.stop    = "stopped"

[stages.testing]
check     = { from = "story.commands" }
on.passed = "complete"
on.failed = "stopped"

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"
"#;

fn tells(command: &str) -> String {
    format!("echo '{{\"commands\": [\"{command}\"]}}' > story.json")
}

#[test]
fn an_agents_commands_run_only_after_a_person_approved_them() {
    let world = World::with(STORY, &tells("touch-it"));
    let here = world.programs().display().to_string();
    world.program("touch-it", &format!("echo ran >> {here}/ran"));
    world.run("").exits(6);
    assert!(world.noted("ran").is_empty(), "nobody has approved it yet");
    world.gatewright("resume r-test").exits(6);
    assert!(world.noted("ran").is_empty());
    world.gatewright("answer r-test approve").succeeds();
    world.gatewright("resume r-test").succeeds();
    assert_eq!(world.noted("ran"), ["ran"]);
}

#[test]
fn commands_that_changed_after_the_approval_do_not_run() {
    let world = World::with(STORY, &tells("test-it"));
    let here = world.programs().display().to_string();
    world.program("test-it", &format!("echo tested >> {here}/ran"));
    world.program("touch-it", &format!("echo touched >> {here}/ran"));
    world.run("").exits(6);
    world.gatewright("answer r-test approve").succeeds();
    // What was approved is pinned by its hash, whatever lies there now.
    world
        .project
        .write("story.json", r#"{"commands": ["touch-it"]}"#);
    world.gatewright("resume r-test").succeeds();
    assert_eq!(world.noted("ran"), ["tested"]);
}

/// A check of the definition, with a fixer for its failures.
const CHECKED: &str = r#"
name  = "checked"
about = "Fix until the check passes."
start = "testing"

[counters]
fixes = { max = 2, then = "stopped" }

[artifacts.fixed]
path   = "fixed.txt"
format = "text"

[stages.testing]
check     = ["check-it"]
on.passed = "complete"
on.failed = { to = "fixing", count = "fixes" }

[stages.fixing]
agent   = "fixer"
leaves  = ["fixed"]
on.done = "testing"

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"
"#;

#[test]
fn a_check_that_fails_leads_to_a_fix_and_is_run_again() {
    let world = World::with(CHECKED, r#"echo "fix $count" > fixed.txt"#);
    world.program(
        "check-it",
        "grep 'fix 2' fixed.txt || { echo 'not the second fix'; exit 1; }",
    );
    let ran = world.run("").succeeds();
    says(&ran.stderr, "not the second fix");
    assert_eq!(world.history("checked").len(), 3);
    // A loop without an end is bounded.
    let world = World::with(CHECKED, r#"echo "fix $count" > fixed.txt"#);
    world.program("check-it", "exit 1");
    let ran = world.run("").exits(1);
    says(&ran.stdout, "r-test failed");
    let fixes = world.starts().into_iter().filter(|at| at == "fixing");
    assert_eq!(fixes.count(), 2);
}

#[test]
fn a_check_that_changes_the_tree_does_not_count_and_a_person_hears_of_it() {
    let world = World::with(CHECKED, "true");
    world.project.write("changed.txt", "a source\n");
    world.program("check-it", "date +%N > changed.txt");
    let ran = world.run("").exits(6);
    says(&ran.stdout, "r-test");
    says(&ran.stderr, "changed.txt");
    says(&ran.stderr, "litter");
    assert!(
        world.starts().iter().all(|at| at != "fixing"),
        "no fixer can change that"
    );
    assert_ne!(world.status("r-test"), "completed");
}

/// A check, then a reviewer that runs the tests itself, and may change nothing.
const REVIEWED: &str = r#"
name  = "reviewed"
about = "Test the work, then review it."
start = "testing"

[artifacts.review]
path   = "review.txt"
format = "text"

[stages.testing]
check     = ["check-it"]
on.passed = "reviewing"
on.failed = "stopped"

[stages.reviewing]
agent   = "reviewer"
leaves  = ["review"]
writes  = []
on.done = "complete"

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"
"#;

/// What a test run of Python leaves behind, each time with other bytes.
const LITTERS: &str = "mkdir -p src/__pycache__ .pytest_cache coverage
for file in src/__pycache__/m.cpython-312.pyc .pytest_cache/lastfailed coverage/lcov.info .coverage; do
    date +%N > $file
done";

#[test]
fn what_test_runs_leave_behind_voids_neither_a_check_nor_a_review() {
    let world = World::with(REVIEWED, &format!("{LITTERS}\necho good > review.txt"));
    world.program("check-it", LITTERS);
    world.run("").succeeds();
    assert!(!world.is_there(".gitignore"));
    assert_eq!(world.status("r-test"), "completed");
    assert_eq!(world.history("checked").len(), 1);
    assert!(
        world.history("checked")[0]["fact"]["made"]
            .as_array()
            .is_some_and(Vec::is_empty)
    );
}

#[test]
fn a_report_that_a_check_writes_voids_nothing_until_somebody_else_writes_to_it() {
    let world = World::with(REVIEWED, "echo good > review.txt");
    world.program("check-it", "date +%N > junit.xml");
    world.run("").succeeds();
    let checked = &world.history("checked")[0]["fact"];
    assert_eq!(checked["made"][0], "junit.xml");
    // A reviewer that changes it has strayed.
    let world = World::with(REVIEWED, "echo good > review.txt; echo forged > junit.xml");
    world.program("check-it", "date +%N > junit.xml");
    world.run("").exits(6);
    assert_ne!(world.status("r-test"), "completed");
    // A pipeline may call it litter.
    let named = REVIEWED.replace("[artifacts", "litter = [\"*.xml\"]\n\n[artifacts");
    let world = World::with(&named, "echo good > review.txt; echo another > junit.xml");
    world.program("check-it", "date +%N > junit.xml");
    world.run("").succeeds();
}

#[test]
fn what_changed_after_a_check_is_checked_again_before_the_run_is_completed() {
    let asking = CHECKED
        .replace("on.passed = \"complete\"", "on.passed = \"agreeing\"")
        .replace(
            "[stages.complete]",
            "[stages.agreeing]\nask = \"Good?\"\non.yes = \"complete\"\n\n[stages.complete]",
        );
    let world = World::with(&asking, "true");
    world.program("check-it", "exit 0");
    world.run("").exits(6);
    assert_eq!(world.history("checked").len(), 1);
    world
        .project
        .write("later.txt", "written after the check\n");
    world.gatewright("answer r-test yes");
    assert_ne!(
        world.status("r-test"),
        "completed",
        "nobody has looked at it"
    );
    world.gatewright("resume r-test").exits(6);
    assert_eq!(world.history("checked").len(), 2);
    world.gatewright("answer r-test yes").succeeds();
    world.gatewright("resume r-test").succeeds();
    assert_eq!(world.status("r-test"), "completed");
}

#[test]
fn a_check_whose_program_is_missing_waits_for_a_person() {
    let world = World::with(CHECKED, "true");
    let ran = world.run("");
    assert_ne!(ran.code, Some(0), "{ran}");
    says(&format!("{}{}", ran.stdout, ran.stderr), "check-it");
    world.program("check-it", "exit 0");
    world.gatewright("retry r-test");
    world.gatewright("resume r-test").succeeds();
}

/// Ten checks, one after the other.
fn many_checks() -> String {
    let stages = (1..=10).map(|number| {
        let next = match number {
            10 => "complete".to_owned(),
            number => format!("check{}", number + 1),
        };
        format!(
            "[stages.check{number}]\ncheck = [\"true\"]\non.passed = \"{next}\"\non.failed = \"stopped\"\n"
        )
    });
    let ends = "[stages.complete]\nend = \"completed\"\n[stages.stopped]\nend = \"failed\"\n";
    let head = "name = \"many\"\nabout = \"Check again and again.\"\nstart = \"check1\"\n";
    [head.to_owned(), stages.collect(), ends.to_owned()].concat()
}

/// Without the rule one of some ten checks was reported too late, and the last one then never.
#[test]
fn what_a_check_found_is_reported_before_the_move_that_it_causes() {
    for _ in 0..3 {
        let world = World::with(&many_checks(), "");
        let ran = world.run("--json").succeeds();
        let events: Vec<Value> = ran
            .stdout
            .lines()
            .filter_map(|it| from_str(it).ok())
            .collect();
        let told = events
            .iter()
            .filter_map(|event| match event["event"].as_str() {
                Some("check_ended") => Some(format!("{} ended", event["check"].as_str()?)),
                Some("moved") => Some(format!("{} left", event["from"].as_str()?)),
                _ => None,
            });
        let expected = (1..=10)
            .flat_map(|number| ["ended", "left"].map(|what| format!("check{number} {what}")));
        assert_eq!(told.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    }
}
