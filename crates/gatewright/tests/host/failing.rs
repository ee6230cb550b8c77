//! The hook that is missing, crashes, is slow, or gets nonsense: the host lets nothing through that was
//! promised to be guarded.

use std::fs;

use testkit::model::{Actor, agent_in_foreground, bash, say};

use crate::stage::{Stage, program};

/// A session whose run has begun, and whose hooks then call another program.
fn with_hook(script: &str) -> (Stage, String) {
    let start = format!("{} start story --task 'a story'", program());
    let stage = Stage::story([
        Actor::new(
            "GO-MAIN",
            [
                bash(&start),
                say("STARTED"),
                say("STILL"),
                say("STILL"),
                say("STILL"),
                agent_in_foreground("critic", "GO-CRITIC"),
                say("END"),
                say("END"),
                say("END"),
                say("END"),
            ],
        ),
        Actor::new("GO-CRITIC", [bash("echo x > judged.txt"), say("JUDGED")]),
    ]);
    let first = stage.claude().ask("GO-MAIN: begin").succeeds();
    let broken = stage.path("broken-hook");
    match script {
        "" => {}
        script => {
            fs::write(&broken, script).expect("a script");
            testkit::make_executable(&broken);
        }
    }
    let settings = stage.project.read(".claude/settings.local.json");
    let other = broken.to_str().expect("text");
    stage.project.write(
        ".claude/settings.local.json",
        settings.replace(program(), other),
    );
    stage.claude().resume(first.session_id()).ask("go on");
    let told = stage.model.told("GO-MAIN");
    (stage, told)
}

#[test]
fn a_missing_hook_lets_no_agent_through() {
    let (stage, _) = with_hook("");
    assert!(stage.model.requests_of("GO-CRITIC").is_empty());
    assert!(!stage.path("judged.txt").exists());
    assert!(!stage.place().ends_with("completed"));
}

#[test]
fn a_crashing_hook_lets_no_agent_through() {
    let (stage, _) = with_hook("#!/bin/sh\nkill -9 $$\n");
    assert!(stage.model.requests_of("GO-CRITIC").is_empty());
    assert!(!stage.path("judged.txt").exists());
}

#[test]
fn a_slow_hook_lets_no_agent_through() {
    let (stage, _) = with_hook("#!/bin/sh\ncat > /dev/null\nsleep 20\n");
    assert!(stage.model.requests_of("GO-CRITIC").is_empty());
}

#[test]
fn where_every_session_has_a_run_and_none_can_begin_no_agent_begins() {
    let stage = Stage::always_on([
        Actor::new(
            "GO-MAIN",
            [
                agent_in_foreground("context-gatherer", "GO-GATHERER"),
                bash("claude -p 'GO-GATHERER: look'"),
                bash("echo x > ordinary.txt"),
                say("END"),
            ],
        ),
        Actor::new("GO-GATHERER", [bash("echo x > gathered.txt"), say("SEEN")]),
    ]);
    let store = stage.project.state().join("store.db");
    fs::create_dir_all(stage.project.state()).expect("a folder");
    fs::write(store, "no database, and long enough to be looked at").expect("written");
    stage.claude().ask("GO-MAIN: begin").succeeds();
    let told = stage.model.told("GO-MAIN");
    assert_eq!(told.matches("GW-R101").count(), 2, "{told}");
    assert!(told.contains("gatewright verify --repair"), "{told}");
    assert!(stage.model.requests_of("GO-GATHERER").is_empty());
    assert!(!stage.path("gathered.txt").exists());
    assert!(stage.path("ordinary.txt").exists());
}
