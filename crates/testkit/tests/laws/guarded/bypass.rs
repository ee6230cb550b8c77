//! Leniency: a bypassed run and an advisory pipeline say what they would refuse, and let it through.

use crate::guarded::pipelines::{FLOW, WAVES};
use crate::guarded::told::check;

/// What is refused in the first stage of the flow, and what becomes of it when nobody is strict.
const REFUSED: [(&str, &str, &str); 9] = [
    ("ask judge call B", "refuse R11 | refused", "warned"),
    ("write w9 call M", "refuse R22 | refused", "warned"),
    ("begins w9 judge", "refuse R22 | refused", "warned"),
    ("tool Write touches state", "refuse R23 | refused", "warned"),
    ("tool Write touches draft", "refuse R24 | refused", "warned"),
    ("tool Bash door claude", "refuse R26 | refused", "warned"),
    ("unhook", "refuse R25 | refused", "warned"),
    ("stop", "hold R91 | held 1", "held 1, warned"),
    // Every tool call of an agent that nobody admitted would leave a line.
    ("tool Read by w9 judge", "refuse R22 | refused", ""),
];

fn lenient(rule: &str, facts: &str) -> String {
    match facts {
        "" => format!("inject {rule}"),
        facts => format!("inject {rule} | {facts}"),
    }
}

#[test]
fn every_refusal_is_let_through_and_recorded_while_a_bypass_lasts() {
    for (line, strict, facts) in REFUSED {
        check(
            FLOW,
            &[
                ("person: bypass 60", "done R78 | bypassed"),
                (line, &lenient("R79", facts)),
                ("wait 59", ""),
                (line, &lenient("R79", &facts.replace("held 1", "held 2"))),
                ("wait 1", ""),
                (line, &strict.replace("held 1", "held 3")),
            ],
        );
    }
}

#[test]
fn an_advisory_pipeline_only_says_what_it_would_refuse() {
    let advisory = FLOW.replace(
        "start = \"writing\"",
        "start = \"writing\"\nmode = \"advisory\"",
    );
    for (line, strict, facts) in REFUSED {
        check(FLOW, &[(line, strict)]);
        check(&advisory, &[(line, &lenient("R19", facts))]);
    }
}

#[test]
fn a_list_that_is_ahead_and_a_tool_that_is_denied_are_let_through_too() {
    check(
        WAVES,
        &[
            ("person: bypass 60", "done R78 | bypassed"),
            ("todo a", "inject R79 | warned"),
        ],
    );
    check(
        FLOW,
        &[
            (
                "person: skip done",
                "done R67 | overridden done, to judging",
            ),
            ("tool Edit", "refuse R20 | refused"),
            ("ask judge call A", "allow R10 | admitted d1 judge"),
            ("begins w1 judge", "done R41 | began d1 w1"),
            ("person: bypass 60", "done R78 | bypassed"),
            ("tool Edit", "inject R79 | warned"),
            ("edit src/main.rs", ""),
            // The worker hears it at every tool, so it is not written down each time.
            ("used by w1 judge", "inject R79"),
        ],
    );
}

#[test]
fn a_bypass_holds_no_worker_and_believes_none() {
    check(
        FLOW,
        &[
            (
                "ask alpha-writer call A",
                "allow R10 | admitted d1 alpha-writer",
            ),
            ("begins w1 alpha-writer", "done R41 | began d1 w1"),
            ("tool Read by w1 alpha-writer", "allow R21 | worked d1"),
            ("typed: bypass 60", "done R78 | bypassed"),
            (
                "stopping w1",
                "refuse R34 | ended d1 missing, retried missing",
            ),
            ("# in writing, running", ""),
        ],
    );
}

#[test]
fn a_bypass_lets_nobody_act_as_a_person() {
    check(
        FLOW,
        &[
            ("model: bypass 60", "refuse R66 | refused"),
            ("s1: bypass 60", "refuse R66 | refused"),
            ("script: bypass 60", "refuse R66 | refused"),
            ("ask judge call A", "refuse R11 | refused"),
            ("person: bypass 60", "done R78 | bypassed"),
            ("model: reset", "refuse R66 | refused"),
            ("script: cancel", "refuse R66 | refused"),
            ("s2: stop", "done R04"),
            // A time that is past ends it.
            ("person: bypass 0", "done R78 | bypassed"),
            ("ask judge call A", "refuse R11 | refused"),
            ("leaves", "done R02 | detached s1"),
            ("script: bypass 60", "done R78 | bypassed"),
        ],
    );
}

#[test]
fn a_bypassed_run_advances_on_checked_outcomes_alone() {
    check(
        FLOW,
        &[
            ("person: bypass 60", "done R78 | bypassed"),
            ("ask judge call A", "inject R79 | warned"),
            ("begins w1 judge", "inject R79 | warned"),
            ("tool Write by w1 judge", "inject R79"),
            ("lay verdict 1 APPROVED", ""),
            ("stopping w1", "done R30 | noted"),
            ("returned call A tools 1 w1", "done R30 | noted"),
            ("# in writing, running", ""),
        ],
    );
}
