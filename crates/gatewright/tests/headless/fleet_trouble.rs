//! A fleet whose database is slow, restarts or cannot be reached while a run is at work.

use std::time::Duration;

use testkit::proxy::Proxy;

use super::fixture::{ONE, World, says, until};
use super::fleet::Fleet;
use super::owners::{at_work, let_go, works_until_let_go};
use super::under_way::is_alive;

/// One more machine, whose way to the database is ours.
pub(crate) fn behind(fleet: &Fleet, name: &str) -> (World, Proxy) {
    let proxy = Proxy::to(fleet.server.port());
    let world = World::new(testkit::Project::new(super::fixture::PROGRAM), "exit 1");
    let port = |port: u16| format!(":{port}/");
    let address = fleet.server.address("team");
    let address = address.replace(&port(fleet.server.port()), &port(proxy.port()));
    let joined = world.gatewright(&format!("fleet join {address} --name {name}"));
    joined.succeeds();
    (world, proxy)
}

#[test]
fn a_slow_database_is_waited_for() {
    let fleet = Fleet::new(ONE, "echo note > note.txt");
    let (build, proxy) = behind(&fleet, "far");
    fleet.queue("f-1", "").succeeds();
    // Both ways: half a second for each question.
    proxy.delay(Duration::from_millis(250));
    build.gatewright("worker --fleet --once").succeeds();
    assert_eq!(fleet.laptop.status("f-1"), "completed");
    assert_eq!(fleet.laptop.history_of("f-1", "relocated").len(), 0);
}

#[test]
fn a_server_that_restarts_loses_nothing_of_a_run_at_work() {
    let fleet = Fleet::new(ONE, &works_until_let_go(""));
    let build = fleet.machine("build", "");
    fleet.queue("f-1", "").succeeds();
    let worker = build.begin("worker --fleet");
    at_work(&fleet.laptop, 1);
    fleet.server.crash();
    let_go(&fleet.laptop);
    fleet.server.start_again();
    fleet.is_delivered("f-1");
    worker.interrupt();
    worker.end().exits(130);
    assert_eq!(fleet.laptop.status("f-1"), "completed");
    assert_eq!(fleet.laptop.starts(), ["writing"]);
    fleet.laptop.gatewright("verify f-1").succeeds();
}

#[test]
fn a_machine_that_is_cut_off_ends_its_agents_when_another_has_the_run() {
    let fleet = Fleet::new(ONE, &works_until_let_go(""));
    let (cut_off, proxy) = behind(&fleet, "cut-off");
    let other = fleet.machine("other", "");
    fleet.queue("f-1", "").succeeds();
    let first = cut_off.begin("worker --fleet");
    at_work(&fleet.laptop, 1);
    proxy.cut();
    let second = other.begin("worker --fleet");
    at_work(&fleet.laptop, 2);
    proxy.open();
    let agent = fleet.laptop.noted("workers")[0].clone();
    until("the agent that was cut off has ended", || !is_alive(&agent));
    let_go(&fleet.laptop);
    fleet.is_delivered("f-1");
    for worker in [&first, &second] {
        worker.interrupt();
    }
    second.end().exits(130);
    first.end().exits(130);
    assert_eq!(fleet.laptop.status("f-1"), "completed");
    assert_eq!(fleet.laptop.history_of("f-1", "ended").len(), 2);
    fleet.laptop.gatewright("verify f-1").succeeds();
}

#[test]
fn without_its_database_a_worker_says_so_and_goes_on_when_it_is_back() {
    let fleet = Fleet::new(ONE, "echo note > note.txt");
    let (build, proxy) = behind(&fleet, "build");
    let worker = build.begin("worker --fleet");
    until("it has begun", || worker.said().contains("takes runs"));
    proxy.cut();
    until("it says so", || {
        worker.said().contains("cannot look for runs")
    });
    fleet.queue("f-1", "").succeeds();
    proxy.open();
    fleet.is_delivered("f-1");
    worker.interrupt();
    worker.end().exits(130);
    assert_eq!(fleet.laptop.status("f-1"), "completed");

    proxy.cut();
    let ran = build.gatewright("worker --fleet --once").exits(4);
    says(&ran.stderr, "cannot reach the database server");
}

#[test]
fn a_machine_whose_network_says_nothing_ends_its_agents() {
    let fleet = Fleet::new(ONE, &works_until_let_go(""));
    let (silent, proxy) = behind(&fleet, "silent");
    let other = fleet.machine("other", "");
    fleet.queue("f-1", "").succeeds();
    let first = silent.begin("worker --fleet");
    at_work(&fleet.laptop, 1);
    // Nothing is refused, and nothing is answered.
    proxy.stall();
    let agent = fleet.laptop.noted("workers")[0].clone();
    let second = other.begin("worker --fleet");
    at_work(&fleet.laptop, 2);
    until("its agent has ended", || !is_alive(&agent));
    let_go(&fleet.laptop);
    fleet.is_delivered("f-1");
    proxy.open();
    for worker in [&first, &second] {
        worker.interrupt();
    }
    second.end().exits(130);
    first.end().exits(130);
    assert_eq!(fleet.laptop.status("f-1"), "completed");
    fleet.laptop.gatewright("verify f-1").succeeds();
}

#[test]
fn a_remote_that_refuses_the_tree_costs_no_work_that_was_done() {
    let fleet = Fleet::new(ONE, "echo note > note.txt");
    let build = fleet.machine("build", "");
    fleet.queue("f-1", "").succeeds();
    let hook = fleet.close_remote();
    let refused = build.gatewright("worker --fleet --once").exits(1);
    says(&refused.stderr, "does not take the tree of f-1");
    assert_eq!(fleet.laptop.history_of("f-1", "ended").len(), 0);
    std::fs::remove_file(&hook).unwrap();
    let now = "UPDATE gatewright.queue SET not_before = 0";
    fleet.server.sql("team", now);
    build.gatewright("worker --fleet --once").succeeds();
    assert_eq!(fleet.laptop.status("f-1"), "completed");
    assert_eq!(fleet.laptop.starts(), ["writing"]);
    fleet.laptop.gatewright("verify f-1").succeeds();
}
