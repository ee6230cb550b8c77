//! What workers printed: kept without secrets, shown, followed, and gone with the run.

use std::fs;

use serde_json::Value;

use super::fixture::{ONE, WRITES, World, says, until};

const PRINTS: &str = r#"echo "I begin with ghp_0123456789abcdefghijklmnopqrstuvwxyz"
echo "a warning" >&2
while [ -e "$here/wait" ]; do sleep 0.05; done
echo "I am done"
echo "note $count" > note.txt"#;

#[test]
fn the_output_of_each_worker_is_kept_and_goes_with_the_run() {
    let world = World::with(ONE, PRINTS);
    world.run("").succeeds();
    let ran = world.gatewright("logs r-test").succeeds();
    for part in ["d1 'writer'", "I begin", "a warning", "I am done"] {
        says(&ran.stdout, part);
    }
    assert!(!ran.stdout.contains("ghp_0123"), "{ran}");
    let ran = world.gatewright("logs r-test d1 --json").succeeds();
    let lines: Vec<Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 3, "{ran}");
    let mut streams: Vec<&str> = lines
        .iter()
        .map(|line| line["stream"].as_str().unwrap())
        .collect();
    streams.sort_unstable();
    assert_eq!(streams, ["stderr", "stdout", "stdout"]);
    says(
        &world.gatewright("logs r-test writer").succeeds().stdout,
        "I am done",
    );
    world.gatewright("logs r-test d7").exits(3);
    let logs = world.project.state().join("logs");
    assert_eq!(fs::read_dir(&logs).unwrap().count(), 1);
    world.person("gc --older-than 0s", "delete\n").succeeds();
    assert_eq!(fs::read_dir(&logs).unwrap().count(), 0);
}

#[test]
fn a_followed_log_ends_with_its_run() {
    let world = World::with(ONE, PRINTS);
    let wait = world.programs().join("wait");
    fs::write(&wait, "").unwrap();
    let run = world.begin(&world.line(""));
    until("it works", || {
        let ran = world.gatewright("logs r-test");
        ran.stdout.contains("I begin")
    });
    let following = world.begin("logs r-test --follow");
    fs::remove_file(wait).unwrap();
    run.end().succeeds();
    let followed = following.end().succeeds();
    says(&followed.stdout, "I begin");
    says(&followed.stdout, "I am done");
}

#[test]
fn a_run_without_workers_has_no_logs() {
    let world = World::with(ONE, WRITES);
    let line = world
        .line("")
        .replace("run pipeline", "start --queue pipeline");
    world.gatewright(&line).succeeds();
    world.gatewright("logs r-test").exits(3);
}

#[test]
fn the_conversation_of_a_worker_can_be_opened_with_one_command() {
    let world = World::with(&ONE.replace("on.done", "retry = 0\non.done"), WRITES);
    world.program(
        "claude",
        r#"id=11111111-2222-4333-8444-555555555555
while [ $# -gt 0 ]; do [ "$1" = --session-id ] && id=$2; shift; done
echo "$id" > "$here/id"
echo "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"$id\"}"
echo "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"I look around\"}]},\"session_id\":\"$id\"}"
echo "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"num_turns\":1,\"result\":\"all is well\",\"session_id\":\"$id\",\"total_cost_usd\":0.40,\"usage\":{\"input_tokens\":10,\"output_tokens\":10}}""#,
    );
    world
        .gatewright("run pipeline.toml --task try --id r-test")
        .exits(6);
    let id = world.noted("id").remove(0);
    let folder = world.project.path().display().to_string();
    let expected = format!("cd {folder} && claude --resume {id}");
    let status = world.facts("status r-test");
    assert_eq!(status["conversations"][0]["command"], expected, "{status}");
    says(
        &world.gatewright("status r-test").succeeds().stdout,
        &expected,
    );
    let logs = world.gatewright("logs r-test").succeeds();
    says(&logs.stdout, &expected);
    says(&logs.stdout, "I look around");
    assert!(!logs.stdout.contains("\"type\""), "{logs}");
    let raw = world.gatewright("logs r-test --raw").succeeds();
    says(&raw.stdout, "\"type\":\"system\"");
}
