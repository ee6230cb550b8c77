//! Liveness and the inbox: every screen tells a run that lives from one whose owner is frozen, dead, or waits for a person.

use rustix::process::Signal;
use serde_json::{Value, json};

use super::fixture::{World, says, until};
use super::owners::{ASKS, let_go, owned};

/// What the worker of a run says before it works on.
const SAYS: &str = r#"
echo '{"type":"thinking"}'
echo "reading the \033[31mplan"
"#;

/// The same on every screen.
#[track_caller]
fn shown_everywhere(world: &World, state: &str, why: &Value, text: &str) {
    let status = world.facts("status r-test");
    assert_eq!(status["liveness"]["state"], state, "{status}");
    assert_eq!(status["liveness"]["why"], *why, "{status}");
    let list = world.facts("list --all");
    assert_eq!(list["runs"][0]["liveness"]["state"], state, "{list}");
    says(&world.gatewright("status r-test").stdout, text);
    says(&world.gatewright("list --all").stdout, text);
}

fn liveness(world: &World) -> Value {
    world.facts("status r-test")["liveness"]["state"].clone()
}

#[test]
fn a_run_is_live_quiet_while_its_owner_is_frozen_and_lost_when_it_is_killed() {
    let (world, run) = owned(SAYS);
    shown_everywhere(&world, "live", &Value::Null, "● live");
    run.signal(Signal::STOP);
    until("it is frozen", || liveness(&world) == "quiet");
    shown_everywhere(&world, "quiet", &json!("stopped"), "◌ quiet for ");
    assert_eq!(world.facts("inbox")["inbox"], json!([]));
    run.signal(Signal::CONT);
    until("it goes on", || liveness(&world) == "live");
    run.kill();
    shown_everywhere(&world, "lost", &json!("process_gone"), "✗ owner lost");
    let_go(&world);
    world.gatewright("resume r-test").succeeds();
    shown_everywhere(&world, "over", &Value::Null, "· over");
}

#[test]
fn a_run_that_was_stopped_cleanly_has_no_owner_either() {
    let (world, run) = owned(SAYS);
    run.interrupt();
    run.end().exits(130);
    shown_everywhere(&world, "lost", &json!("nobody"), "✗ owner lost");
}

/// What `next` says, and what it says to type.
fn offered(next: &Value) -> Vec<String> {
    let actions = next["next"].as_array().unwrap().iter();
    let commands = actions.flat_map(|action| action["commands"].as_array().unwrap().clone());
    commands
        .map(|command| command.as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn next_answer_and_retry_know_that_nobody_drives_a_headless_run() {
    let (world, run) = owned(SAYS);
    assert_eq!(
        offered(&world.facts("next r-test")),
        [""; 0],
        "it is at work"
    );
    run.kill();
    assert_eq!(
        offered(&world.facts("next r-test")),
        ["gatewright resume r-test"]
    );
    let shown = world.gatewright("next r-test").succeeds().stdout;
    assert!(!shown.contains("is working"), "{shown}");
    let shown = world.gatewright("answer r-test").succeeds().stdout;
    says(&shown, "gatewright resume r-test");
    let refused = world.person("retry r-test", "").exits(1);
    says(&refused.stdout, "gatewright resume r-test");

    let asked = super::fixture::ONE
        .replace("start = \"writing\"", "start = \"asking\"")
        .replace(
            "[stages.writing]",
            "[stages.asking]\nask = \"Begin?\"\non.yes = \"writing\"\n\n[stages.writing]",
        );
    let world = World::with(&asked, super::fixture::WRITES);
    world.run("").exits(6);
    let answered = world.facts("answer r-test yes");
    assert_eq!(offered(&answered), ["gatewright resume r-test"]);
    assert_eq!(
        offered(&world.facts("next r-test")),
        ["gatewright resume r-test"]
    );
}

#[test]
fn what_a_worker_did_last_is_shown_and_its_escape_sequences_are_not() {
    let (world, run) = owned(SAYS);
    let last = || world.facts("status r-test")["dispatches"][0]["last"]["words"].clone();
    until("its words are kept", || {
        last().as_str().is_some_and(|words| words.contains("the"))
    });
    let shown = world.gatewright("status r-test").succeeds().stdout;
    says(&shown, "reading the");
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
    let_go(&world);
    run.end().succeeds();
}

#[test]
fn a_question_is_in_the_inbox_with_what_to_type_and_other_screens_begin_with_it() {
    let world = World::with(ASKS, "");
    assert_eq!(world.facts("inbox")["inbox"], json!([]));
    world.gatewright(&world.line("")).exits(6);
    shown_everywhere(&world, "waiting", &Value::Null, "? waits for you");
    let entry = world.facts("inbox")["inbox"][0].clone();
    assert_eq!(entry["run"], "r-test");
    assert_eq!(entry["stage"], "asking");
    let commands = json!([
        "gatewright answer r-test yes",
        "gatewright answer r-test no"
    ]);
    let mut typed = entry["commands"].as_array().unwrap().clone();
    typed.sort_by_key(|command| std::cmp::Reverse(command.to_string()));
    assert_eq!(json!(typed), commands, "{entry}");
    assert_eq!(world.facts("status r-test")["asks"]["run"], "r-test");
    assert_eq!(world.facts("list")["waiting_runs"], 1);
    let shown = world.gatewright("inbox").succeeds().stdout;
    says(&shown, "gatewright answer r-test yes");
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
    for screen in ["list", "status r-test"] {
        let shown = world.gatewright(screen).succeeds().stdout;
        let first = shown.lines().next().unwrap();
        says(first, "`gatewright inbox`");
    }
    world.person("answer r-test yes", "").succeeds();
    assert_eq!(world.facts("inbox")["inbox"], json!([]));
    assert_eq!(world.facts("list")["waiting_runs"], 0);
    // Nobody was there to go on with it.
    shown_everywhere(&world, "lost", &json!("nobody"), "✗ owner lost");
}

#[test]
fn the_oldest_question_of_all_projects_comes_first() {
    let world = World::with(ASKS, "");
    let line = |id| world.line("").replace("r-test", id);
    world.gatewright(&line("r-one")).exits(6);
    let elsewhere = world.project.path().join("../elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::write(elsewhere.join("pipeline.toml"), ASKS).unwrap();
    let there = |line: &str| {
        let mut command = world.command(line);
        testkit::Ran::from(command.current_dir(&elsewhere).output().unwrap())
    };
    let shown = there("trust pipeline.toml --show --json").succeeds().stdout;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let hash = shown["hash"].as_str().unwrap();
    there(&format!("trust pipeline.toml --hash {hash}")).succeeds();
    there(&line("r-two")).exits(6);
    let inbox = world.facts("inbox");
    let runs: Vec<&Value> = inbox["inbox"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| &entry["run"])
        .collect();
    assert_eq!(runs, ["r-one", "r-two"], "{inbox}");
    assert_eq!(world.facts("list")["waiting_runs"], 2);
    assert_eq!(world.facts("list")["runs"].as_array().unwrap().len(), 1);
}
