//! Versions of agent programs: a newer one is reported and used; one that is too old or silent never starts.

use std::fs;

use hosts::Program;

use super::fixture::{ONE, World, says};

const RUN: &str = "run pipeline.toml --task try --id r-test --runner codex";

/// A project whose Codex answers to `--version` with this, and fails at any work.
fn with_codex(version: &str) -> World {
    let world = World::with(&ONE.replace("on.done", "retry = 0\non.done"), "");
    put_codex(&world, version);
    world
}

fn put_codex(world: &World, version: &str) {
    let path = world.programs().join("codex");
    let script = format!("#!/bin/sh\n[ \"$1\" = --version ] && {{ {version}; exit; }}\nexit 1\n");
    fs::write(&path, script).unwrap();
    testkit::make_executable(&path);
}

#[test]
fn a_version_that_nobody_tried_is_told_and_works() {
    let world = with_codex("echo codex-cli 9.1.0-alpha.2");
    let ran = world.gatewright(RUN).exits(6);
    for version in ["codex 9.1.0", "0.166.0"] {
        says(&ran.stderr, version);
    }
    assert_eq!(world.history("admitted").len(), 1, "{ran}");
    let mut noted = world.history("noted");
    noted.retain(|entry| entry["fact"].to_string().contains("codex 9.1.0"));
    assert_eq!(noted.len(), 1, "{}", world.facts("history r-test"));
}

#[test]
fn the_tested_version_is_no_news() {
    let world = with_codex("echo codex-cli 0.166.0");
    let ran = world.gatewright(RUN).exits(6);
    assert!(!ran.stderr.contains("0.166.0"), "{ran}");
    assert_eq!(world.history("admitted").len(), 1, "{ran}");
}

#[test]
fn what_is_too_old_or_does_not_tell_is_not_started_and_costs_no_attempt() {
    for (version, told, hint) in [
        (
            "echo codex-cli 0.139.9",
            "codex 0.139.9",
            "`npm install -g @openai/codex`",
        ),
        ("echo soon", "'soon'", "--version`"),
        ("true", "codex", "--version`"),
        (
            "echo no such node >&2; exit 127",
            "127: no such node",
            "--version`",
        ),
        ("kill -9 $$", "signal 9", "--version`"),
        ("printf '\\377\\376 0.1.2.3.4'", "codex 0.1.2", "0.140.0"),
    ] {
        let world = with_codex(version);
        for line in [RUN, "resume r-test"] {
            let ran = world.gatewright(line).exits(4);
            says(&ran.stderr, told);
            says(&ran.stderr, hint);
        }
        let ran = world.gatewright("worker --once").exits(1);
        says(&ran.stderr, told);
        assert!(world.history("admitted").is_empty(), "{version}");
        put_codex(&world, "echo codex-cli 0.166.0");
        world.gatewright("resume r-test").exits(6);
        assert_eq!(world.history("admitted").len(), 1, "{version}");
    }
}

#[test]
fn what_is_called_tested_is_what_the_tests_run_with() {
    let pinned = [
        testkit::claude::VERSION,
        testkit::codex::VERSION,
        testkit::gemini::VERSION,
    ];
    let tested = Program::ALL.map(|program| program.tested().to_string());
    assert_eq!(tested, pinned);
}
