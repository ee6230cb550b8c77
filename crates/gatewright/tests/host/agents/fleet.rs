//! A run of a fleet with real workers: their hooks decide on a copy of the run, and refuse as at home.

use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;
use testkit::database::Server;
use testkit::model::{Actor, bash, say};
use testkit::pipelines::ONE;

use super::world::{World, you_are};

fn pipeline(runner: &str) -> String {
    ONE.replace(
        "on.done",
        &format!("runner  = \"{runner}\"\nretry   = 0\non.done"),
    )
}

#[test]
fn the_workers_of_a_fleet_are_guarded_and_told_what_to_do() {
    let server = Server::start();
    let address = server.database("team");
    for runner in ["claude", "codex", "gemini"] {
        let writer = you_are("writer");
        let world = World::planned(&pipeline(runner), |project| {
            let turns = [
                bash(&format!("echo x > {}/evil", project.state().display())),
                bash("echo text > note.txt"),
                say("MADE"),
            ];
            vec![Actor::new(&writer, turns)]
        });
        let remote = TempDir::new().unwrap();
        let mut init = Command::new("git");
        let init = init.args(["init", "--quiet", "--bare"]).arg(remote.path());
        assert!(init.status().unwrap().success());
        let origin = remote.path().to_str().unwrap();
        world
            .project
            .git(["remote", "add", "origin", origin])
            .succeeds();
        world.type_in(&["fleet", "setup", &address]).succeeds();
        world.type_in(&["fleet", "join", &address]).succeeds();
        let run = format!("f-{runner}");
        let start = [
            "start",
            "pipeline.toml",
            "--queue",
            "--fleet",
            "--task",
            "Greet people",
        ];
        world
            .type_in(&[start.as_slice(), &["--id", &run]].concat())
            .succeeds();
        world.type_in(&["worker", "--fleet", "--once"]).succeeds();

        let told = world.model.told(&writer);
        for words in ["Greet people", "GW-R23"] {
            assert!(told.contains(words), "{runner}: {words}\n{told}");
        }
        let history = world.type_in(&["history", &run, "--json"]).succeeds();
        let history: Value = serde_json::from_str(&history.stdout).unwrap();
        let entries = history["entries"].as_array().unwrap();
        let refused = entries.iter().filter(|it| it["fact"]["kind"] == "refused");
        assert_eq!(refused.count(), 1, "{runner}");
        assert!(!world.project.state().join("evil").exists(), "{runner}");
        world.type_in(&["verify", &run]).succeeds();
        let branch = format!("gatewright/{run}-greet-people:note.txt");
        let made = Command::new("git")
            .arg("-C")
            .arg(origin)
            .args(["show", &branch])
            .output();
        assert_eq!(made.unwrap().stdout, b"text\n", "{runner}");
    }
}
