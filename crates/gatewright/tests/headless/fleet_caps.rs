//! A cap of the fleet ends turns on all machines, within the turn, and no two machines get the same rest of it.

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
    // 0.40 was told, and more than 2.00 are in flight there. What is in flight on the other machine nobody knows.
    fleet
        .laptop
        .gatewright("caps --fleet --day cost=2.00")
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
    let cap = &fleet.laptop.facts("caps --fleet")["caps"][0];
    assert_eq!(cap["reached"], true);
    // What a turn that was ended cost nobody tells: it stays an estimate.
    assert!(cap["used"]["estimated_cents"].as_u64() > Some(200), "{cap}");
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

/// Claude Code, which waits until all are at work, and then spends 11 cents with each message, for as long as it may.
const SPENDS: &str = r#"
most=999999
while [ $# -gt 0 ]; do
    case $1 in
        --session-id|--resume) id=$2 ;;
        --max-budget-usd) most=$(echo "$2" | tr -d .) ;;
    esac
    shift
done
echo "$most" >> "$here/allowed"
echo "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"$id\"}"
while [ ! -e "$here/go" ]; do sleep 0.05; done
ends() {
    echo "{\"type\":\"result\",\"subtype\":\"$1\",\"is_error\":$2,\"errors\":[\"$1\"],\"result\":\"all is well\",\"session_id\":\"$id\",\"total_cost_usd\":$(printf %d.%02d $((cost / 100)) $((cost % 100))),\"usage\":{\"output_tokens\":10}}"
}
cost=0
for number in $(seq 40); do
    echo "{\"type\":\"assistant\",\"message\":{\"id\":\"msg_$count.$number\",\"content\":[{\"type\":\"text\",\"text\":\"$number\"}],\"usage\":{\"output_tokens\":10}}}"
    cost=$((cost + 11))
    [ $cost -lt ${most#0} ] || { ends error_max_budget_usd true; exit 1; }
done
ends success false
"#;

#[test]
fn two_machines_at_once_do_not_both_spend_the_rest_of_a_cap() {
    let fleet = Fleet::new(&two("turns = 99", "claude"), "exit 1");
    fleet
        .laptop
        .gatewright("caps --fleet --day cost=2.00")
        .succeeds();
    let machines = ["1", "2"].map(|name| {
        let machine = fleet.machine(name, &format!("--label m{name}"));
        machine.program("claude", SPENDS);
        let line =
            format!("start pipeline.toml --queue --fleet --task t --id f-{name} --label m{name}");
        fleet.laptop.gatewright(&line).succeeds();
        let worker = machine.begin("worker --fleet");
        until("it is at work", || machine.noted("allowed").len() == 1);
        (machine, worker)
    });
    let let_go = |file: &str| {
        let folders = machines.iter().map(|(machine, _)| machine.programs());
        folders.for_each(|folder| std::fs::write(folder.join(file), "").unwrap());
    };
    let cap = || fleet.laptop.facts("caps --fleet")["caps"][0].clone();
    assert_eq!(cap()["reserved_cents"], 200);
    for (machine, _) in &machines {
        assert_eq!(machine.noted("allowed"), ["100"]);
    }
    let_go("go");
    until("the cap is reached", || cap()["reached"] == true);
    let rows = || fleet.laptop.facts("queue").as_array().unwrap().clone();
    let waits = || rows().iter().all(|row| row["waits"]["for"] == "cap");
    until("both wait for the cap", || waits() && rows().len() == 2);
    // Each went on with its message, and no further.
    assert_eq!(cap()["used"]["cost_cents"], 220);
    assert_eq!(cap()["reserved_cents"], 0);
    fleet
        .laptop
        .gatewright("caps --fleet --day none")
        .succeeds();
    for (run, (_, worker)) in ["f-1", "f-2"].into_iter().zip(machines) {
        fleet.is_delivered(run);
        worker.interrupt();
        worker.end().exits(130);
        assert_eq!(fleet.laptop.status(run), "completed");
        assert_eq!(fleet.laptop.history_of(run, "retried").len(), 0);
        fleet.laptop.gatewright(&format!("verify {run}")).succeeds();
    }
}

#[test]
fn a_run_waits_while_those_at_work_may_use_the_rest_of_a_cap() {
    let fleet = Fleet::new(&two("turns = 99", "claude"), "exit 1");
    fleet
        .laptop
        .gatewright("caps --fleet --day cost=1.00")
        .succeeds();
    let [first, second] = ["1", "2"].map(|name| {
        let machine = fleet.machine(name, &format!("--label m{name}"));
        // A turn of one message.
        machine.program("claude", &SPENDS.replace("seq 40", "seq 1"));
        machine
    });
    let queue = |name: &str| {
        let line =
            format!("start pipeline.toml --queue --fleet --task t --id f-{name} --label m{name}");
        fleet.laptop.gatewright(&line).succeeds();
    };
    queue("1");
    let worker = first.begin("worker --fleet --once");
    until("it is at work", || first.noted("allowed") == ["100"]);
    queue("2");
    second.gatewright("worker --fleet --once").succeeds();
    assert_eq!(second.noted("allowed"), [""; 0], "nothing is free");
    let rows = fleet.laptop.facts("queue").as_array().unwrap().clone();
    let row = rows.iter().find(|row| row["run"] == "f-2").unwrap();
    assert_eq!(row["waits"]["for"], "cap");
    assert_eq!(row["waits"]["reserved_cents"], 100, "{row}");
    for machine in [&first, &second] {
        std::fs::write(machine.programs().join("go"), "").unwrap();
    }
    worker.end().succeeds();
    second.gatewright("worker --fleet --once").succeeds();
    for run in ["f-1", "f-2"] {
        assert_eq!(fleet.laptop.status(run), "completed");
    }
    let cap = &fleet.laptop.facts("caps --fleet")["caps"][0];
    assert_eq!(cap["used"]["cost_cents"], 44, "{cap}");
}
