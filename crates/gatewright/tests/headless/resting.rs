//! A run that rests looks the same on every screen: until when, why, and who goes on with it.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::Value;
use testkit::terminal::Terminal;

use super::fixture::{PROGRAM, World, says, until};
use super::limits::{LATER, codex, one};
use super::under_way::UnderWay;

/// A worker that has left `r-test` at rest: its service asks to wait for two days.
fn limited() -> (World, UnderWay) {
    let world = World::with(&one(""), "");
    world.program("codex", &codex("true", LATER));
    let worker = queued(&world);
    (world, worker)
}

/// The same, for the cap of a day, which an earlier run has used up.
fn capped() -> (World, UnderWay) {
    let two = one("").replace("on.done = \"complete\"", "on.done = \"again\"");
    let two = format!(
        "{two}\n[stages.again]\nagent = \"speaker\"\nleaves = [\"said\"]\non.done = \"complete\"\n"
    );
    let world = World::with(&two, "");
    world.program("codex", &codex("false", ""));
    world.gatewright("caps --day tokens=11").succeeds();
    let worker = queued(&world);
    (world, worker)
}

fn queued(world: &World) -> UnderWay {
    let line = "start pipeline.toml --queue --task try --id r-test --runner codex";
    world.gatewright(line).succeeds();
    let worker = world.begin("worker");
    until("it rests", || worker.said().contains("r-test rests until"));
    worker
}

fn row(world: &World, command: &str) -> Value {
    let facts = world.facts(command);
    let rows = facts.get("runs").unwrap_or(&facts);
    let mut rows = rows
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["run"] == "r-test");
    rows.next().unwrap().clone()
}

/// What each screen says, while a worker is there.
fn every_screen_says(world: &World, cause: &str, reason: &str) {
    let status = world.facts("status r-test");
    let rest = &status["rest"];
    assert_eq!(status["liveness"]["state"], "rests", "{status}");
    assert_eq!(rest["cause"], cause);
    assert_eq!(rest["goes_on"], true);
    says(rest["reason"].as_str().unwrap(), reason);
    let listed = row(world, "list");
    assert_eq!(listed["liveness"]["state"], "rests", "{listed}");
    assert_eq!(listed["rest"], *rest);
    let queued = &row(world, "queue")["waits"];
    assert_eq!(queued["for"], "rest", "{queued}");
    assert_eq!(queued["until"], rest["until"]);
    assert_eq!(world.facts("next r-test")["rest"], *rest);
    for command in ["status r-test", "next r-test", "queue"] {
        let said = world.gatewright(command).succeeds().stdout;
        says(&said, "rests until");
        says(&said, reason);
        assert!(!said.contains("no process drives it"), "{command}: {said}");
        assert!(!said.contains("owner lost"), "{command}: {said}");
    }
    says(&world.gatewright("list").succeeds().stdout, "rests until");
}

#[test]
fn every_screen_says_until_when_a_limited_run_rests_and_why() {
    let (world, worker) = limited();
    every_screen_says(&world, "service", "usage limit");
    worker.kill();
}

#[test]
fn every_screen_says_until_when_the_cap_of_a_day_lets_a_run_rest_and_how_to_raise_it() {
    let (world, worker) = capped();
    every_screen_says(&world, "cap", "tokens 11 of 11");
    let said = world.gatewright("status r-test").succeeds().stdout;
    let words: Vec<&str> = said.split_whitespace().collect();
    says(&words.join(" "), "`gatewright caps`");
    world.gatewright("caps --day none").succeeds();
    until("it goes on", || world.status("r-test") == "completed");
    worker.interrupt();
    worker.end().exits(130);
    assert_eq!(world.facts("status r-test")["rest"], Value::Null);
}

#[test]
fn without_a_worker_the_run_says_that_it_needs_one() {
    let (world, worker) = limited();
    worker.kill();
    let status = world.facts("status r-test");
    assert_eq!(status["liveness"]["state"], "lost", "{status}");
    assert_eq!(status["liveness"]["why"], "no_worker");
    assert_eq!(status["rest"]["goes_on"], false);
    for command in ["status r-test", "next r-test", "queue"] {
        let said = world.gatewright(command).succeeds().stdout;
        says(&said, "rests until");
        says(&said, "gatewright worker");
    }
    let next = world.begin("worker");
    until("the next worker keeps it", || {
        world.facts("status r-test")["rest"]["goes_on"] == true
    });
    assert_eq!(world.starts().len(), 1, "nobody asks the service before");
    next.interrupt();
    next.end().exits(130);
}

#[test]
fn the_summary_of_a_worker_says_what_a_run_rests_for() {
    for ((_world, worker), reason) in [(limited(), "usage limit"), (capped(), "tokens 11 of 11")] {
        worker.interrupt();
        let ran = worker.end().exits(130);
        says(&ran.stdout, "rests until");
        says(&ran.stdout, reason);
        says(&ran.stdout, "`gatewright worker`");
    }
}

#[test]
fn a_run_that_a_process_of_its_own_keeps_rests_too() {
    let world = World::with(&one(""), "");
    world.program("codex", &codex("true", LATER));
    let run = world.begin("run pipeline.toml --task try --id r-test --runner codex");
    until("it rests", || run.said().contains("usage limit"));
    until("that is shown", || {
        world.facts("status r-test")["liveness"]["state"] == "rests"
    });
    assert_eq!(row(&world, "queue")["waits"]["for"], "rest");
    assert_eq!(row(&world, "list")["rest"]["goes_on"], true);
    run.kill();
    assert_eq!(world.facts("status r-test")["rest"]["goes_on"], false);
}

#[test]
fn a_queued_run_waits_for_the_cap_of_a_day_and_nothing_is_begun() {
    let (world, worker) = capped();
    let line = "start pipeline.toml --queue --task more --id r-more --runner codex";
    world.gatewright(line).succeeds();
    let rows = world.facts("queue");
    let rows = rows.as_array().unwrap();
    let more = rows.iter().find(|row| row["run"] == "r-more").unwrap();
    assert_eq!(more["waits"]["for"], "time", "{more}");
    says(more["waits"]["reason"].as_str().unwrap(), "gatewright caps");
    world.gatewright("caps --day none").succeeds();
    until("it goes on", || world.status("r-more") == "completed");
    worker.kill();
}

#[test]
fn the_screen_and_the_page_show_the_rest() {
    let (world, worker) = limited();
    let mut command = world.project.at_home("sh");
    command.args(["-c", &format!("'{PROGRAM}' watch")]);
    let screen = Terminal::open(&command);
    screen.wait_for("rests until");
    let mut command = world.project.at_home("sh");
    command.args(["-c", &format!("'{PROGRAM}' serve")]);
    let served = Terminal::open(&command);
    let page = page(&served.wait_for("Ctrl-C ends it"), "run/r-test");
    says(&page, "rests until");
    says(&page, "usage limit");
    worker.kill();
}

/// The page of the server whose screen this is.
fn page(screen: &str, path: &str) -> String {
    let address = screen.split("http://127.0.0.1:").nth(1).unwrap();
    let (port, rest) = address.split_once('/').unwrap();
    let key = rest.split('/').next().unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", port.parse().unwrap())).unwrap();
    let request = format!("GET /{key}/{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}
