//! The hooks of a fleet's worker decide on its machine, whatever the network does.

use testkit::proxy::Proxy;

use super::fixture::{ONE, PROGRAM, says, until};
use super::fleet::Fleet;
use super::fleet_trouble::behind;
use super::owners::{at_work, let_go};

/// A worker that asks for two tools as its host would, notes the answers, and ends when it may.
fn asks(evil: &str) -> String {
    format!(
        r#"
ask() {{
  printf '{{"hook_event_name":"PreToolUse","session_id":"s","cwd":"%s","tool_name":"Write","tool_input":{{"file_path":"%s","content":"x"}}}}' \
    "$PWD" "$2" | '{PROGRAM}' hook claude PreToolUse > "$here/$1.$count" 2>&1
  echo "code $?" >> "$here/$1.$count"
}}
echo $$ >> "$here/workers"
while [ ! -e "$here/go" ]; do sleep 0.05; done
ask fine note.txt
ask evil "{evil}"
echo asked >> "$here/asked"
while [ ! -e "$here/end" ]; do sleep 0.05; done
echo note > note.txt
"#
    )
}

fn judged_without_the_database(break_off: impl Fn(&Proxy)) {
    let fleet = Fleet::new(ONE, "exit 1");
    let (build, proxy) = behind(&fleet, "build");
    let evil = build.project.state().join("store.db");
    fleet.laptop.agent(&asks(evil.to_str().unwrap()));
    fleet.queue("f-1", "").succeeds();
    let worker = build.begin("worker --fleet --once");
    at_work(&fleet.laptop, 1);
    break_off(&proxy);
    let_go(&fleet.laptop);
    until("it has asked", || !fleet.laptop.noted("asked").is_empty());
    assert_eq!(fleet.laptop.noted("fine.1"), ["code 0"]);
    let refused = fleet.laptop.noted("evil.1").join(" ");
    says(&refused, "GW-R23");
    says(&refused, r#""permissionDecision":"deny""#);
    proxy.open();
    std::fs::write(fleet.laptop.programs().join("end"), "").unwrap();
    worker.end().succeeds();
    assert_eq!(fleet.laptop.status("f-1"), "completed");
    // The run has what its hooks decided meanwhile, once.
    let kinds = |kind: &str| fleet.laptop.history_of("f-1", kind);
    let refusals = kinds("refused");
    assert_eq!(refusals.len(), 1, "{refusals:?}");
    assert_eq!(refusals[0]["rule"], "GW-R23");
    assert_eq!((kinds("began").len(), kinds("worked").len()), (1, 1));
    fleet.laptop.gatewright("verify f-1").succeeds();
    let left = std::fs::read_dir(build.project.state().join("working"));
    assert_eq!(left.unwrap().count(), 0, "nothing of the work is left");
}

#[test]
fn a_tool_call_is_judged_while_the_network_is_cut() {
    judged_without_the_database(Proxy::cut);
}

#[test]
fn a_tool_call_is_judged_while_the_database_says_nothing() {
    judged_without_the_database(Proxy::stall);
}
