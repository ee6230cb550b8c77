//! Workers of a fleet as processes: slow git, a remote that deletes nothing, outages, and what they spend.

use std::fs;

use tempfile::TempDir;

use super::fixture::{ONE, World, says, until};
use super::fleet::Fleet;
use super::fleet_trouble::behind;
use super::owners::{at_work, let_go, works_until_let_go};
use super::under_way::is_alive;

/// On this machine git fetches nothing until a file says so.
fn slow_fetch(world: &World) {
    let path = world.programs().join("git");
    let script = r#"#!/bin/sh
here=$(dirname "$0")
case " $* " in
*" fetch "*) echo fetch >> "$here/fetches"; while [ ! -e "$here/arrived" ]; do sleep 0.05; done ;;
esac
PATH=${PATH#*:}
exec git "$@"
"#;
    fs::write(&path, script).unwrap();
    testkit::make_executable(&path);
}

#[test]
fn a_worker_keeps_its_run_while_git_fetches_longer_than_a_lease_lasts() {
    let fleet = Fleet::new(ONE, "echo note > note.txt");
    let build = fleet.machine("build", "");
    slow_fetch(&build);
    fleet.queue("f-1", "").succeeds();
    let worker = build.begin("worker --fleet --runs 4");
    until("git fetches", || build.noted("fetches").len() == 1);
    let until_first = fleet
        .server
        .sql("team", "SELECT lease_until FROM gatewright.runs");
    let is_later = format!("SELECT gatewright.now_ms() > {until_first} + 3000");
    until("the first term is over", || {
        fleet.server.sql("team", &is_later) == "t"
    });
    let state = "SELECT last_fence, tries FROM gatewright.queue JOIN gatewright.runs ON id = run";
    assert_eq!(fleet.server.sql("team", state), "1|1");
    assert_eq!(build.noted("fetches").len(), 1);
    fs::write(build.programs().join("arrived"), "").unwrap();
    fleet.is_delivered("f-1");
    worker.interrupt();
    worker.end().exits(130);
    assert_eq!(fleet.laptop.status("f-1"), "completed");
    assert_eq!(fleet.laptop.starts(), ["writing"]);
}

#[test]
fn a_remote_that_deletes_nothing_holds_up_no_run_that_is_over() {
    let fleet = Fleet::new(ONE, "echo note > note.txt");
    let build = fleet.machine("build", "");
    fleet.queue("f-1", "").succeeds();
    fleet.remote_deletes_nothing();
    let ran = build.gatewright("worker --fleet --once").succeeds();
    says(&ran.stderr, "its trees stay at the remote");
    let queued = "SELECT count(*) FROM gatewright.queue";
    assert_eq!(fleet.server.sql("team", queued), "0");
    assert_eq!(fleet.laptop.status("f-1"), "completed");
    assert_eq!(fleet.at_branch("f-1", "note.txt"), "note");
}

#[test]
fn a_database_that_was_away_is_no_failed_try_of_the_run() {
    let fleet = Fleet::new(ONE, &works_until_let_go(""));
    let (build, proxy) = behind(&fleet, "build");
    fleet.queue("f-1", "").succeeds();
    let worker = build.begin("worker --fleet");
    at_work(&fleet.laptop, 1);
    proxy.cut();
    let agent = fleet.laptop.noted("workers")[0].clone();
    until("its agent has ended", || !is_alive(&agent));
    proxy.open();
    at_work(&fleet.laptop, 2);
    let tries = "SELECT tries FROM gatewright.queue";
    assert_eq!(fleet.server.sql("team", tries), "1");
    let_go(&fleet.laptop);
    fleet.is_delivered("f-1");
    worker.interrupt();
    worker.end().exits(130);
    assert_eq!(fleet.laptop.status("f-1"), "completed");
}

/// A turn that costs 40 cents, and a check that waits for a file.
fn costs_then_checks(go: &str) -> String {
    format!(
        r#"
name  = "costs"
about = "Say something, then wait."
start = "first"

[artifacts.said]
from = "reply"

[stages.first]
agent   = "one"
runner  = "claude"
leaves  = ["said"]
on.done = "testing"

[stages.testing]
check     = [["sh", "-c", "while [ ! -e {go}/go ]; do sleep 0.05; done"]]
on.passed = "complete"
on.failed = "stopped"

[stages.complete]
end = "completed"

[stages.stopped]
end = "failed"
"#
    )
}

#[test]
fn what_a_turn_cost_counts_as_soon_as_it_has_ended() {
    let folder = TempDir::new().unwrap();
    let pipeline = costs_then_checks(folder.path().to_str().unwrap());
    let fleet = Fleet::new(&pipeline, "exit 1");
    let build = fleet.machine("build", "");
    build.program("claude", super::budget::CLAUDE);
    fleet
        .laptop
        .gatewright("start pipeline.toml --queue --fleet --task try --id f-1")
        .succeeds();
    let worker = build.begin("worker --fleet --once");
    until("the turn has ended", || {
        fleet.laptop.history_of("f-1", "ended").len() == 1
    });
    let spent = "SELECT sum(cost) FROM gatewright.spending";
    assert_eq!(fleet.server.sql("team", spent), "40");
    fs::write(folder.path().join("go"), "").unwrap();
    worker.end().succeeds();
    assert_eq!(fleet.server.sql("team", spent), "40");
}

#[test]
fn a_user_is_the_same_with_and_without_a_terminal() {
    let fleet = Fleet::new(ONE, "echo note > note.txt");
    fleet.queue("f-1", "").succeeds();
    let person = "SELECT person FROM gatewright.queue";
    let person = fleet.server.sql("team", person);
    assert!(!person.contains(' '), "{person}");
    fleet
        .laptop
        .gatewright(&format!("caps --fleet --user {person} --day cost=5.00"))
        .succeeds();
    let spends = "SELECT gatewright.note_spending('f-1', 500, 9000, 0, NULL, NULL, NULL)";
    fleet.server.sql("team", spends);
    assert_eq!(fleet.laptop.facts("queue")[0]["waits"]["for"], "cap");
}

#[test]
fn a_start_that_was_killed_before_the_queue_can_be_resumed() {
    let fleet = Fleet::new(ONE, "echo note > note.txt");
    let build = fleet.machine("build", "");
    fleet.queue("f-1", "").succeeds();
    fleet.server.sql("team", "DELETE FROM gatewright.queue");
    let queue = fleet.laptop.facts("queue");
    assert_eq!(queue[0]["run"], "f-1");
    assert_eq!(queue[0]["waits"]["for"], "resume");
    fleet.laptop.gatewright("resume f-1").succeeds();
    build.gatewright("worker --fleet --once").succeeds();
    assert_eq!(fleet.laptop.status("f-1"), "completed");
    // What is over needs no place in the queue.
    assert_ne!(fleet.laptop.gatewright("resume f-1").code, Some(0));
}

#[test]
fn a_label_of_a_live_worker_counts_and_a_lost_worker_is_marked() {
    let fleet = Fleet::new(ONE, &works_until_let_go(""));
    let build = fleet.machine("build", "");
    let worker = build.begin("worker --fleet --runs 1 --label mac");
    fleet.queue("f-1", "--label mac").succeeds();
    at_work(&fleet.laptop, 1);
    let queued = fleet.queue("f-2", "--label mac").succeeds();
    assert!(!queued.stderr.contains("no machine"), "{queued}");
    let waits = &fleet.laptop.facts("queue")[1]["waits"];
    assert_eq!(
        (&waits["for"], &waits["live_workers"]),
        (&"worker".into(), &1.into())
    );
    assert_eq!(waits["place"], 1);
    let workers = || {
        let status = fleet.laptop.facts("fleet status");
        let machines = status["machines"].as_array().unwrap().clone();
        let build = machines
            .into_iter()
            .find(|it| it["name"] == "build")
            .unwrap();
        build["workers"].clone()
    };
    assert_eq!(workers()[0]["is_lost"], false);
    let shown = fleet.laptop.gatewright("fleet status").succeeds().stdout;
    says(&shown, "mac");
    worker.kill();
    let ages = "UPDATE gatewright.workers SET seen_at = seen_at - 60000";
    fleet.server.sql("team", ages);
    assert_eq!(workers()[0]["is_lost"], true);
    let waits = &fleet.laptop.facts("queue")[1]["waits"];
    assert_eq!(waits["for"], "machine");
    let_go(&fleet.laptop);
}

/// The liveness of a run, as the list has it.
fn listed(world: &World, run: &str) -> serde_json::Value {
    let rows = world.facts("list --all")["runs"]
        .as_array()
        .unwrap()
        .clone();
    let row = rows.into_iter().find(|row| row["run"] == run).unwrap();
    row["liveness"].clone()
}

#[test]
fn an_answered_run_waits_for_a_worker_and_one_that_is_set_aside_for_a_person() {
    let fleet = Fleet::new(super::owners::ASKS, "echo note > note.txt");
    let build = fleet.machine("build", "");
    fleet.queue("f-1", "").succeeds();
    build.gatewright("worker --fleet --once").succeeds();
    let answered = fleet.laptop.gatewright("answer f-1 yes").succeeds();
    assert!(!answered.stdout.contains("resume"), "{answered}");
    assert_eq!(listed(&fleet.laptop, "f-1")["state"], "queued");
    let status = fleet.laptop.gatewright("status f-1").succeeds().stdout;
    assert!(!status.contains("owner lost"), "{status}");

    let aside = "UPDATE gatewright.queue SET set_aside = '5 workers took it'";
    fleet.server.sql("team", aside);
    let liveness = listed(&fleet.laptop, "f-1");
    assert_eq!(liveness["why"], "set_aside");
    let inbox = fleet.laptop.facts("inbox");
    assert_eq!(inbox["inbox"][0]["run"], "f-1");
    assert_eq!(inbox["inbox"][0]["commands"][0], "gatewright resume f-1");
    assert_eq!(fleet.laptop.facts("list")["waiting_runs"], 1);
    let queue = fleet.laptop.gatewright("queue").succeeds().stdout;
    says(&queue, "gatewright resume f-1");
    fleet.laptop.gatewright("resume f-1").succeeds();
    build.gatewright("worker --fleet --once").succeeds();
    assert_eq!(fleet.laptop.status("f-1"), "completed");
}

#[test]
fn what_could_not_be_driven_says_why_while_it_waits() {
    let fleet = Fleet::new(ONE, "echo note > note.txt");
    let build = fleet.machine("build", "");
    fleet.queue("f-1", "").succeeds();
    let broken = "UPDATE gatewright.queue SET settings = 'x'";
    fleet.server.sql("team", broken);
    build.gatewright("worker --fleet --once").exits(1);
    let waits = &fleet.laptop.facts("queue")[0]["waits"];
    assert_eq!(waits["for"], "time");
    says(waits["reason"].as_str().unwrap(), "settings of f-1");
}

#[test]
fn a_slow_network_shows_the_fleet() {
    let fleet = Fleet::new(ONE, "echo note > note.txt");
    let (far, proxy) = behind(&fleet, "far");
    fleet.queue("f-1", "").succeeds();
    // Both ways: half a second for each question.
    proxy.delay(std::time::Duration::from_millis(250));
    let listed = far.gatewright("list --all --json").succeeds();
    says(&listed.stdout, "f-1");
    let before = proxy.connections();
    assert_eq!(far.status("f-1"), "queued");
    assert_eq!(proxy.connections() - before, 1, "one connection is enough");
    let counted = far.gatewright("metrics --all").succeeds();
    assert!(!counted.stderr.contains("fleet"), "{counted}");
    let picture = far.gatewright("watch --once").succeeds();
    says(&picture.stdout, "f-1");
}
