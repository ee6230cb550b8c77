//! Handover: the next worker learns which check failed, and what a person said.

use testkit::Ran;

use super::fixture::{World, says};

/// A check that fails until the note is good; a person is asked after the second failure.
const TESTED: &str = r#"
name  = "tested"
about = "Have a note written that a check accepts."
start = "writing"

[counters]
fixes = { max = 1, then = "escalate" }

[artifacts.note]
path   = "note.txt"
format = "text"

[artifacts.advice]
from = "answers"

[stages.writing]
agent   = "writer"
reads   = ["advice?"]
leaves  = ["note"]
on.done = "testing"

[stages.testing]
check     = ['''sh -c 'cat note.txt; grep -q good note.txt' ''']
on.passed = "complete"
on.failed = { to = "writing", count = "fixes" }

[stages.escalate]
ask         = "It fails again. Go on, or stop?"
leaves      = "advice"
on.continue = { to = "@interrupted", reset = ["fixes"], text = "required" }
on.stop     = "stopped"

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"
"#;

const BAD_TWICE: &str =
    r#"if [ "$count" -gt 2 ]; then echo good; else echo "bad $count"; fi > note.txt"#;

/// A run that waits in `escalate`, after two failures.
fn escalated() -> World {
    let world = World::with(TESTED, BAD_TWICE);
    world.run("").exits(6);
    world
}

fn answer(world: &World, words: &[&str]) -> Ran {
    let typed = ["answer", "r-test"].iter().chain(words);
    Ran::from(world.project.command(typed).output().unwrap())
}

#[test]
fn a_failed_check_and_a_persons_words_reach_the_next_worker() {
    let world = escalated();
    let second = world.prompt(2);
    for told in [
        "`testing`",
        "`failed`",
        "grep -q good note.txt",
        "code 1",
        "| bad 1",
    ] {
        says(&second, told);
    }
    // The person sees what failed, and what it was about.
    let next = world.gatewright("next r-test").succeeds();
    for told in [
        "`fixes`",
        "| bad 2",
        "note:\n    bad 2",
        "continue \"TEXT\"",
    ] {
        says(&next.stdout, told);
    }
    answer(&world, &["continue", "write the word good"]).succeeds();
    world.gatewright("resume r-test").succeeds();
    let third = world.prompt(3);
    for told in [
        "answered",
        "> write the word good",
        "| bad 2",
        "\"answer\":",
    ] {
        says(&third, told);
    }
    let answered = world.history("answered");
    assert_eq!(answered[0]["fact"]["words"], "write the word good");
}

#[test]
fn a_choice_that_needs_words_does_not_count_without_them() {
    let world = escalated();
    let refused = answer(&world, &["continue"]).exits(1);
    says(&refused.stderr, "GW-R109");
    let refused = answer(&world, &["continue", "  \n "]).exits(1);
    says(&refused.stderr, "GW-R109");
    assert!(world.history("answered").is_empty());
    // The other choice needs none.
    answer(&world, &["stop"]).succeeds();
}

#[test]
fn a_choice_that_does_not_exist_names_the_nearest() {
    let world = escalated();
    let refused = answer(&world, &["contineu", "go on then"]).exits(1);
    says(&refused.stderr, "GW-R61");
    says(&refused.stderr, "did you mean 'continue'?");
    assert!(world.history("answered").is_empty());
}

#[test]
fn words_are_bounded_redacted_and_harmless_to_a_terminal() {
    let world = escalated();
    let long = "x".repeat(1024 * 100);
    let refused = answer(&world, &["continue", &long]);
    assert_ne!(refused.code, Some(0), "{refused}");
    says(&refused.stderr, "102400");
    assert!(
        world.history("answered").is_empty(),
        "nothing is lost or done"
    );

    let token = format!("ghp_{}", "a1B2".repeat(9));
    let words = format!("\u{1b}[31mtry\u{202e} it with {token}");
    answer(&world, &["continue", &words]).succeeds();
    world.gatewright("resume r-test").succeeds();
    let history = serde_json::to_string(&world.history("answered")).unwrap();
    let told = world.prompt(3);
    for text in [&history, &told] {
        assert!(!text.contains(&token), "{text}");
        says(text, "redacted");
    }
    for hostile in ['\u{1b}', '\u{202e}'] {
        assert!(!told.contains(hostile), "{told}");
    }
    let status = world.gatewright("status r-test").succeeds();
    assert!(!status.stdout.contains('\u{1b}'), "{status}");
}

#[test]
fn words_for_a_question_that_is_over_are_refused() {
    let world = escalated();
    answer(&world, &["stop"]).succeeds();
    let refused = answer(&world, &["continue", "one more time"]);
    assert_ne!(refused.code, Some(0), "{refused}");
    assert_eq!(world.history("answered").len(), 1);
}

#[test]
fn a_person_at_the_terminal_sees_the_cause_and_may_add_words() {
    let world = World::with(TESTED, BAD_TWICE);
    let typed = "continue write the word good\n";
    let ran = world.person(&world.line(""), typed).succeeds();
    for told in ["What led here", "| bad 2", "continue / stop"] {
        says(&ran.stdout, told);
    }
    says(&world.prompt(3), "> write the word good");
}

/// A step that may say why it failed.
const EXPLAINED: &str = r#"
name  = "explained"
about = "One step, which says what went wrong."
start = "working"

[artifacts.report]
path    = "out/{step}.json"
format  = "json"
outcome = { field = "status", values = { completed = "done", failed = "failed" }, reason = "error" }

[stages.working]
steps     = [{ id = "a", title = "Build it", agent = "writer" }]
leaves    = ["report"]
on.done   = "complete"
on.failed = "stopped"

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"
"#;

#[test]
fn the_reason_that_a_step_gave_is_in_the_history_and_in_the_retry() {
    let script = r#"mkdir -p out
if [ "$count" -gt 1 ]; then echo '{"status": "completed"}'
else echo '{"status": "failed", "error": "there is no compiler here"}'; fi > out/a.json"#;
    let world = World::with(EXPLAINED, script);
    world.run("").succeeds();
    says(&world.prompt(2), "there is no compiler here");
    let retried = world.history("step_retried");
    let reason = retried[0]["fact"]["reason"].to_string();
    says(&reason, "there is no compiler here");
}
