//! Ends before their time: limits, signals, a killed step, a run that somebody cancels.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use testkit::pipelines::PARTS;
use testkit::{Ran, until};

use super::fixture::{APPROVES, ONE, OTHER, REVIEW, WORKED, World, began, done, well};

/// A worker that notes itself and its child, and works for long. The child leaves the group.
fn works_on(id: &str) -> String {
    [
        began(id).as_str(),
        WORKED,
        "setsid sh -c 'echo $$ > \"$0/child\"; exec sleep 100' \"$here\" &",
        "while [ ! -s \"$here/child\" ]; do sleep 0.01; done",
        "echo $$ > \"$here/worker.tmp\"; mv \"$here/worker.tmp\" \"$here/worker\"",
        "wait",
        "touch \"$here/over\"",
    ]
    .join("\n")
}

fn is_gone(process: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.trim())).unwrap_or_default();
    let state = stat
        .rsplit_once(')')
        .map_or("", |(_, rest)| rest.trim_start());
    state.is_empty() || state.starts_with('Z')
}

#[track_caller]
fn workers_are_gone(world: &World) {
    for name in ["worker", "child"] {
        let process = world.noted(name);
        assert!(!process.is_empty(), "there was no {name}");
        until("its processes are gone", || is_gone(&process));
    }
    let over = world.programs().join("over");
    assert!(!over.exists(), "the worker ended by itself");
}

/// A step whose worker is at work.
fn begun(world: &World, line: &str) -> Child {
    let mut command = world.child(line);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    until("the worker works", || !world.noted("worker").is_empty());
    child
}

fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

fn ran(child: Child) -> Ran {
    Ran::from(child.wait_with_output().unwrap())
}

#[test]
fn a_worker_that_takes_too_long_is_ended_with_its_children() {
    let quick = REVIEW.replace("writes           = []", "writes = []\ntimeout = \"1s\"");
    let world = World::with(&quick);
    world.codex(&works_on(ONE));
    world.step().exits(1);
    workers_are_gone(&world);
    let ended = world.history("ended");
    assert_eq!(ended.len(), 1, "{ended:?}");
    assert_eq!(ended[0]["fact"]["result"]["fault"], "timeout");
}

#[test]
fn a_worker_that_falls_silent_is_ended() {
    let quick = REVIEW.replace("writes           = []", "writes = []\nheartbeat = \"1s\"");
    let world = World::with(&quick);
    world.codex(&works_on(ONE));
    let ran = world.step().exits(1);
    assert!(ran.stderr.contains("heartbeat"), "{ran}");
    workers_are_gone(&world);
}

#[test]
fn a_signal_to_the_step_ends_its_worker() {
    for by in [Signal::TERM, Signal::INT, Signal::HUP] {
        let world = World::with(REVIEW);
        world.codex(&works_on(ONE));
        let child = begun(&world, "step");
        signal(&child, by);
        ran(child).exits(1);
        workers_are_gone(&world);
        let ended = world.history("ended");
        assert_eq!(ended.len(), 1);
        assert_eq!(ended[0]["fact"]["result"]["fault"], "crashed");
    }
}

/// A step that is killed with its worker, and what is then there of it.
fn killed() -> World {
    let world = World::with(REVIEW);
    world.codex(&works_on(ONE));
    let mut child = begun(&world, "step");
    signal(&child, Signal::KILL);
    child.wait().unwrap();
    workers_are_gone(&world);
    assert_eq!(world.history("ended").len(), 0);
    world
}

#[test]
fn after_a_killed_step_the_next_one_counts_it_as_crashed_and_works() {
    let world = killed();
    world.codex(&well(APPROVES));
    world.step().succeeds();
    assert_eq!(world.stage(), "complete");
    let ended = world.history("ended");
    assert_eq!(ended.len(), 2, "{ended:?}");
    assert_eq!(ended[0]["fact"]["result"]["fault"], "crashed");
    let left = world.project.state().join("working");
    assert_eq!(fs::read_dir(left).unwrap().count(), 0);
}

#[test]
fn whoever_comes_next_notices_that_the_worker_is_gone() {
    for line in ["next", "report --agent review-codex", "finish"] {
        let world = killed();
        world.run(line);
        let ended = world.history("ended");
        assert_eq!(ended.len(), 1, "{line}: {ended:?}");
        assert_eq!(ended[0]["fact"]["result"]["fault"], "crashed");
    }
}

#[test]
fn while_a_worker_works_nobody_takes_it_for_gone_and_no_second_one_begins() {
    let world = World::with(REVIEW);
    world.codex(&works_on(ONE));
    let child = begun(&world, "step");
    let next = world.run("next").succeeds();
    assert!(next.stdout.contains("review-codex"), "{next}");
    let second = world.step().exits(1);
    assert!(second.stderr.contains("review-codex"), "{second}");
    assert_eq!(world.history("ended").len(), 0);
    assert_eq!(world.calls("codex").len(), 1);
    signal(&child, Signal::TERM);
    ran(child).exits(1);
}

#[test]
fn a_run_that_is_cancelled_ends_its_worker() {
    let world = World::with(REVIEW);
    world.codex(&works_on(ONE));
    let child = begun(&world, "step");
    world.run("cancel r-test --reason enough").succeeds();
    let ran = ran(child).exits(1);
    assert!(ran.stderr.contains("GW-R"), "{ran}");
    workers_are_gone(&world);
}

#[test]
fn two_steps_at_once_are_told_apart() {
    let world = World::with(PARTS);
    // Both are at work before either says who it is, and the second one speaks first.
    let id = format!("if [ \"$GATEWRIGHT_STEP\" = a ]; then id={ONE}; else id={OTHER}; fi");
    let script = [
        id.as_str(),
        "touch \"$here/$GATEWRIGHT_STEP.here\"",
        "while [ ! -e \"$here/a.here\" ] || [ ! -e \"$here/b.here\" ]; do sleep 0.01; done",
        "if [ $GATEWRIGHT_STEP = a ]; then while [ ! -e \"$here/b.told\" ]; do sleep 0.01; done; fi",
        "echo \"{\\\"type\\\":\\\"thread.started\\\",\\\"thread_id\\\":\\\"$id\\\"}\"",
        WORKED,
        "mkdir -p .task; echo $GATEWRIGHT_STEP > .task/$GATEWRIGHT_STEP.md",
        &done(1),
        "touch \"$here/b.told\"",
    ]
    .join("\n");
    // A count that two share says nothing about either.
    world.codex(&script);
    let mut children = Vec::new();
    for _ in 0..2 {
        let mut command = world.child("step");
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        children.push(command.spawn().unwrap());
        let here = children.len();
        until("it has begun", || started(world.programs()) == here);
    }
    for child in children {
        ran(child).succeeds();
    }
    let mut tied: Vec<(String, String)> = world
        .history("began")
        .iter()
        .map(|entry| {
            let fact = |name: &str| entry["fact"][name].as_str().unwrap().to_owned();
            (fact("dispatch"), fact("worker"))
        })
        .collect();
    tied.sort();
    assert_eq!(
        tied,
        [
            ("d1".to_owned(), format!("codex:{ONE}")),
            ("d2".to_owned(), format!("codex:{OTHER}"))
        ]
    );
    let ended = world.history("ended");
    assert_eq!(ended.len(), 2, "{ended:?}");
}

fn started(programs: &Path) -> usize {
    let here = |name: &str| programs.join(name).exists();
    [here("a.here"), here("b.here")]
        .into_iter()
        .filter(|is_there| *is_there)
        .count()
}
