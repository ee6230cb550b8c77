//! A route in a session: the hook decides it from the files of the project, before and after the work.

use serde_json::{Value, json};

use super::seat::Seat;

pub(super) const ROUTED: &str = r#"
name   = "routed"
about  = "Fix what is small, and plan the rest."
begins = "session"
start  = "sizing"

[stages.sizing]
route        = [{ outcome = "small", files = 2, lines = 10 }]
on.small     = "working"
on.otherwise = "planning"

[stages.working]
agent   = "session"
stop    = "hold"
on.done = "trying"

[stages.trying]
check     = ["true"]
on.passed = "complete"
on.failed = "planning"

[stages.planning]
ask    = "It is not small. Shall it be planned?"
on.yes = "complete"
on.no  = "complete"

[stages.complete]
end = "completed"
"#;

/// The session works and stops; the rules by which the route was decided come back.
fn after(work: impl FnOnce(&Seat)) -> (Value, Vec<String>) {
    let seat = Seat::enrolled_in("routed", ROUTED);
    let used = json!({"tool_name": "Bash", "tool_input": {"command": "true"}, "tool_response": {}});
    seat.hook("PostToolUse", &used).succeeds();
    work(&seat);
    seat.hook("Stop", &json!({"stop_hook_active": false}));
    let status = seat.project.run(["status", "--json"]).succeeds();
    let status: Value = serde_json::from_str(&status.stdout).expect("JSON");
    let journal = seat.journal();
    let routed = journal
        .iter()
        .filter(|entry| entry["fact"]["kind"] == "routed");
    let rules = routed.map(|entry| entry["rule"].as_str().expect("a rule").to_owned());
    (status["stage"]["name"].clone(), rules.collect())
}

#[test]
fn a_session_whose_work_stays_small_goes_on_along_the_shorter_way() {
    let (stage, rules) = after(|seat| {
        seat.project.write("small.txt", "one line\n");
    });
    assert_eq!(stage, "trying");
    assert_eq!(rules, ["GW-R115", "GW-R117"]);
}

#[test]
fn a_session_whose_work_has_grown_is_sent_the_longer_way() {
    let (stage, rules) = after(|seat| {
        seat.project.write("large.txt", "line\n".repeat(40));
    });
    assert_eq!(stage, "planning");
    assert_eq!(rules, ["GW-R115", "GW-R118"]);
}
