//! A cap of the fleet ends turns on all machines, within the turn.

use super::budget::{READS_ON, two};
use super::fixture::{says, until};
use super::fleet::Fleet;

#[test]
fn what_one_machine_spends_in_flight_ends_the_turns_of_all() {
    let fleet = Fleet::new(&two("turns = 99", "claude"), "exit 1");
    let (one, two) = (
        fleet.machine("one", "--label one"),
        fleet.machine("two", "--label two"),
    );
    // The first turn there ends and tells its cost, so what a token costs is known for the second one.
    let script = format!("[ \"$count\" != 1 ] || : > \"$here/enough.1\"\n{READS_ON}");
    let script = script.replace("$here/enough\"", "$here/enough.$count\"");
    one.program("claude", &script);
    two.program("claude", &script.replace("!= 1 ] ||", "!= 0 ] ||"));
    fleet
        .laptop
        .gatewright("caps --fleet --day cost=10.00")
        .succeeds();
    let queue = |run: &str, label: &str| {
        let line =
            format!("start pipeline.toml --queue --fleet --task {run} --id {run} --label {label}");
        fleet.laptop.gatewright(&line).succeeds();
    };
    queue("f-2", "two");
    let second = two.begin("worker --fleet");
    until("it is at work", || two.noted("messages.1") == ["4"]);
    assert_eq!(
        fleet.laptop.facts("caps --fleet")["caps"][0]["reached"],
        false
    );
    queue("f-1", "one");
    let first = one.begin("worker --fleet");
    until("its second turn is at work", || {
        one.noted("messages.2") == ["4"]
    });
    // 0.40 was told, and 5.04 are in flight there. What is in flight on the other machine nobody knows.
    fleet
        .laptop
        .gatewright("caps --fleet --day cost=5.00")
        .succeeds();
    let cut = |run: &str| fleet.laptop.history_of(run, "cut_short").len();
    until("both turns are ended", || {
        cut("f-1") == 1 && cut("f-2") == 1
    });
    let waits = || {
        let queue = fleet.laptop.facts("queue");
        let rows = queue.as_array().unwrap().clone();
        rows.iter().all(|row| row["waits"]["for"] == "cap") && rows.len() == 2
    };
    until("both wait for the cap", waits);
    assert_eq!(
        fleet.laptop.facts("caps --fleet")["caps"][0]["reached"],
        true
    );
    let remarks = fleet.laptop.gatewright("history f-2").succeeds();
    says(&remarks.stdout, "the cap of the fleet (all)");

    for world in [&one, &two] {
        let done = |count: usize| world.programs().join(format!("enough.{count}"));
        (1..9).for_each(|count| std::fs::write(done(count), "").unwrap());
    }
    fleet
        .laptop
        .gatewright("caps --fleet --day none")
        .succeeds();
    for (run, worker) in [("f-1", first), ("f-2", second)] {
        fleet.is_delivered(run);
        worker.interrupt();
        worker.end().exits(130);
        assert_eq!(fleet.laptop.status(run), "completed");
        assert_eq!(fleet.laptop.history_of(run, "retried").len(), 0);
        fleet.laptop.gatewright(&format!("verify {run}")).succeeds();
    }
}
