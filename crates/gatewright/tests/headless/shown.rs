//! What is shown: plain lines in a pipe, a picture at a terminal, JSON for programs.

use serde_json::Value;

use super::fixture::{ONE, WRITES, World, says};

#[test]
fn in_a_pipe_there_is_a_line_an_event_and_the_result_alone_on_the_output() {
    let world = World::with(ONE, WRITES);
    let ran = world.run("").succeeds();
    assert_eq!(ran.stdout, "r-test completed\n");
    let lines: Vec<&str> = ran
        .stderr
        .lines()
        .map(|line| line.split_once("Z ").unwrap().1)
        .collect();
    // What each line is about.
    let about = [
        "r-test",
        "d1 'writer'",
        "d1 'writer'",
        "writing → complete",
        "completed",
    ];
    assert_eq!(lines.len(), about.len(), "{ran}");
    for (line, fact) in lines.iter().zip(about) {
        says(line, fact);
    }
    assert!(!ran.stderr.contains('\u{1b}'));
}

fn events(text: &str) -> Vec<Value> {
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn json_is_one_object_a_line() {
    let asked = ONE.replace(
        "on.done = \"complete\"",
        "retry = 0\non.done = \"complete\"",
    );
    let world = World::with(&asked, "exit 1");
    let ran = world.run("--json").exits(6);
    let names: Vec<String> = events(&ran.stdout)
        .iter()
        .map(|event| event["event"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        names,
        ["driving", "worker_began", "worker_ended", "asked", "left"]
    );
    let events = events(&ran.stdout);
    assert!(events.iter().all(|event| event["run"] == "r-test"));
    let last = events.last().unwrap();
    assert_eq!(last["status"], "waiting");
    says(last["reason"].as_str().unwrap(), "crashed");
    world.agent(WRITES);
    world.gatewright("retry r-test").succeeds();
    let ran = world.gatewright("resume r-test --json").succeeds();
    let events = self::events(&ran.stdout);
    assert_eq!(events[0]["again"], true);
    assert_eq!(events.last().unwrap()["status"], "completed");
}

#[test]
fn a_rehearsal_is_told_in_the_history() {
    let world = World::with(ONE, WRITES);
    world.run("").succeeds();
    let agent = world.programs().join("agent");
    let noted = world.history("noted");
    let tells = |entry: &Value| entry["fact"].to_string().contains(agent.to_str().unwrap());
    assert!(noted.iter().any(tells), "{noted:?}");
}

/// No screen, report or commit of a rehearsal looks like that of real agents.
#[test]
fn a_rehearsal_is_marked_wherever_its_evidence_is_shown() {
    let world = super::places::repository(ONE, WRITES);
    world.run("--branch").succeeds();
    for line in [
        "status r-test",
        "list --all",
        "show r-test",
        "show r-test --markdown",
    ] {
        let ran = world.gatewright(line).succeeds();
        assert!(ran.stdout.contains("rehearsal"), "{line}\n{ran}");
    }
    world.gatewright("show r-test --html page.html").succeeds();
    says(&world.project.read("page.html"), "rehearsal");
    let commit = world
        .project
        .git(["log", "-1", "--format=%B", "gatewright/r-test-try"])
        .stdout;
    says(&commit, "rehearsal");
    assert_eq!(world.facts("status r-test")["rehearsal"], true);
    assert_eq!(world.facts("list --all")["runs"][0]["rehearsal"], true);
    // The journal itself tells it, where the settings of the run are not there.
    let settings = world.project.state().join("headless/r-test.json");
    std::fs::remove_file(&settings).unwrap();
    assert_eq!(world.facts("status r-test")["rehearsal"], true);

    let real = World::with(ONE, "");
    real.program("gemini", "exit 1");
    real.gatewright("run pipeline.toml --task try --id r-test --runner gemini");
    assert_eq!(real.facts("status r-test")["rehearsal"], false);
    let shown = real.gatewright("show r-test").succeeds();
    assert!(!shown.stdout.contains("rehearsal"), "{shown}");
}

#[test]
fn an_agent_may_not_drive() {
    let world = World::with(ONE, WRITES);
    for line in [
        world.line(""),
        "resume".to_owned(),
        "worker --once".to_owned(),
    ] {
        let mut command = world.command(&line);
        command.env("AI_AGENT", "somebody");
        let ran = testkit::Ran::from(command.output().unwrap()).exits(1);
        says(&ran.stderr, "agent");
    }
    assert!(world.starts().is_empty());
}
