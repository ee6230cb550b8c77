//! Every expectation is met when it is true, and fails when it is not.

use super::told;

/// After these steps the first line is true and the second is not.
fn check(steps: &str, met: &str, unmet: &str, found: &str) {
    let good = told(&format!("{steps}\n  {met}"));
    assert!(good.ends_with("1 passed, 0 failed\n"), "{met}\n{good}");
    let bad = told(&format!("{steps}\n  {unmet}"));
    assert!(bad.ends_with("0 passed, 1 failed\n"), "{unmet}\n{bad}");
    assert!(bad.contains("error[GW-S11]"), "{unmet}\n{bad}");
    assert!(
        bad.contains(&format!("help: found {found}\n")),
        "{unmet}\n{bad}"
    );
}

const WORKS: &str = "start\nwriter works ready";
const WAITS: &str = "start\n2 times writer works poor";

#[test]
fn the_place_and_the_status_of_a_run() {
    check(WORKS, "stage look", "stage write", "stage look");
    check(WORKS, "status running", "status failed", "status running");
    check(
        WAITS,
        "waiting",
        "status running",
        "waiting \"Another one?\"",
    );
    check(
        WAITS,
        "waiting \"Another\"",
        "waiting \"Stop\"",
        "waiting \"Another one?\"",
    );
    check("start", "status running", "waiting", "status running");
    check(WORKS, "next check", "next writer", "next check");
    check("start", "next writer", "next writer, check", "next writer");
    check(
        "start\nwriter begins",
        "next wait",
        "next writer",
        "next wait",
    );
}

#[test]
fn what_was_said() {
    let refused = "start\nwriter works ready\nwriter begins";
    let words = "reply refuse GW-R11 \"look is a check, which gatewright runs itself\"";
    check(refused, "reply refuse", "reply allow", words);
    check(refused, "reply refuse GW-R11", "reply refuse GW-R12", words);
    check(
        refused,
        "reply refuse \"check\"",
        "reply refuse \"ask\"",
        words,
    );
    check(refused, "rule GW-R11", "rule GW-R10", "rule GW-R11");
    let held = "reply hold GW-R91 \"the work of write is not done\"";
    check("start\nstop", "reply hold", "reply allow", held);
    check(
        "start\nwriter begins",
        "reply allow",
        "reply done",
        "reply allow GW-R10",
    );
}

#[test]
fn what_a_run_remembers() {
    check(
        WAITS,
        "counter changes 1",
        "counter changes 2",
        "counter changes 1",
    );
    check(
        WORKS,
        "artifact text",
        "no artifact text",
        "text is captured",
    );
    check(
        "start",
        "no artifact text",
        "artifact text",
        "text is not captured",
    );
    check(
        WORKS,
        "not approved text",
        "approved text",
        "text is not approved",
    );
    check(WORKS, "no gate look", "gate look", "look is not passed");
    let looked = "start\nwriter works ready\ncheck passes";
    check(looked, "gate look", "no gate look", "look is passed");
    check(
        "start\nwriter crashes",
        "retries 1",
        "retries 0",
        "retries 1",
    );
    check(WORKS, "not overridden", "overridden", "0 overrides");
    let skipped = "start\nskip ready because \"no time\"";
    check(skipped, "overridden", "not overridden", "1 overrides");
    check("start", "entries 1", "entries 2", "1 entries");
    check(WORKS, "entries +4", "entries +5", "4 entries");
    check("start", "entries 1", "round 1", "no review in write");
    check("start", "entries 1", "steps a=done", "steps");
}

#[test]
fn who_works_and_who_may() {
    check(
        "start",
        "allowed writer",
        "refused writer",
        "writer gets `allow`",
    );
    let refused = "writer gets `refuse` (look is a check, which gatewright runs itself)";
    check(WORKS, "refused writer", "allowed writer", refused);
    check("start", "held by one", "held by nobody", "held by one");
    check(
        "start\nsession closes",
        "held by nobody",
        "held by one",
        "held by nobody",
    );
    check(
        "start\nwriter begins",
        "at work writer",
        "at work nobody",
        "at work writer",
    );
    check(
        "start\nwriter begins",
        "at work 1",
        "at work 2",
        "at work writer",
    );
    check(
        "start",
        "at work nobody",
        "at work writer",
        "at work nobody",
    );
}

/// Asking who may begin changes nothing.
#[test]
fn a_question_leaves_no_trace() {
    let told = told("start\n  allowed writer\n  allowed writer\n  entries 1\n  at work nobody");
    assert!(told.ends_with("1 passed, 0 failed\n"), "{told}");
}

#[test]
fn a_refusal_that_nobody_expects_fails_the_scenario() {
    for (scenario, code) in [
        ("start limit=many", "GW-R01"),
        ("start\nwriter works ready\nwriter begins", "GW-R11"),
        ("start\nwriter works ready\nwriter works ready", "GW-R11"),
        ("start\nfinish", "GW-R65"),
        ("start\nretry", "GW-R70"),
        ("start\nanswer stop", "GW-R62"),
        ("start\nskip ready", "GW-R66"),
        ("start\nsession two opens", "GW-R03"),
        ("start\nreport writer ready", "GW-R39"),
        ("start\nwriter works ready\nwait 8d\ncheck passes", "GW-R93"),
    ] {
        let told = told(scenario);
        assert!(
            told.contains("error[GW-S12]: this was refused: "),
            "{scenario}\n{told}"
        );
        assert!(
            told.contains(&format!("write below it: reply refuse {code} ")),
            "{told}"
        );
    }
}

#[test]
fn a_fault_and_a_held_stop_need_no_word() {
    let told = told("start\nwriter crashes\nstop\nwriter says \"MAYBE\"\nwait 1d");
    assert!(told.ends_with("1 passed, 0 failed\n"), "{told}");
}
