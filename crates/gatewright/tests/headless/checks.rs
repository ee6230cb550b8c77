//! Checks: commands that an agent wrote run only after a person approved them, on a tree that stays.

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
    world.program("check-it", "date +%N > changed.txt");
    let ran = world.run("").exits(6);
    says(&ran.stdout, "r-test");
    says(&ran.stderr, "changed.txt");
    says(&ran.stderr, ".gitignore");
    assert!(
        world.starts().iter().all(|at| at != "fixing"),
        "no fixer can change that"
    );
    assert_ne!(world.status("r-test"), "completed");
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
