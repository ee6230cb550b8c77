//! People's commands: who may give them, through what, and what is recorded when they may not.

use crate::guarded::pipelines::{FLOW, OPEN};
use crate::guarded::told::check;

const COMMANDS: [&str; 9] = [
    "answer yes",
    "answer continue",
    "finish",
    "skip done",
    "retry",
    "cancel",
    "reset",
    "checkpoint here",
    "bypass 60",
];

fn refused(who: &str) {
    for command in COMMANDS.into_iter().chain(["restore", "adopt"]) {
        let line = format!("{who}: {command}");
        check(
            FLOW,
            &[
                (&line, "refuse R66 | refused"),
                ("# in writing, running", ""),
            ],
        );
    }
}

#[test]
fn an_agent_gives_no_command_of_a_person() {
    refused("model");
}

#[test]
fn a_session_and_the_engine_give_no_command_of_a_person() {
    refused("s1");
    refused("engine");
}

#[test]
fn a_script_gives_no_command_while_a_session_holds_the_run() {
    refused("script");
    check(
        FLOW,
        &[
            ("leaves", "done R02 | detached s1"),
            ("script: reset", "done R72 | reset"),
            (
                "script: skip done",
                "done R67 | overridden done, to judging",
            ),
            ("model: reset", "refuse R66 | refused"),
        ],
    );
}

#[test]
fn a_person_at_a_terminal_or_in_the_session_is_obeyed() {
    for who in ["person", "typed"] {
        for (command, came) in [
            ("skip done", "done R67 | overridden done, to judging"),
            ("cancel", "done R71 | cancelled"),
            ("reset", "done R72 | reset"),
            ("checkpoint here", "done R73 | checkpointed"),
            ("bypass 60", "done R78 | bypassed"),
            ("restore", "done R74 | restored"),
            ("finish", "refuse R65 | refused"),
            ("retry", "refuse R70 | refused"),
            ("answer yes", "refuse R62 | refused"),
        ] {
            check(FLOW, &[(&format!("{who}: {command}"), came)]);
        }
    }
}

#[test]
fn an_adopted_run_leaves_its_session_and_its_workers_behind() {
    check(
        FLOW,
        &[
            (
                "ask alpha-writer call A",
                "allow R10 | admitted d1 alpha-writer",
            ),
            ("begins w1 alpha-writer", "done R41 | began d1 w1"),
            (
                "person: adopt",
                "done R150 | adopted, ended d1 dropped, detached s1",
            ),
            ("# in writing, running", ""),
            ("s2: arrives process 200", "inject R02 | attached s2"),
        ],
    );
    // A run that is over goes nowhere.
    check(
        FLOW,
        &[
            ("person: cancel", "done R71 | cancelled"),
            ("person: adopt", "refuse R150 | refused"),
        ],
    );
}

#[test]
fn a_person_in_a_session_that_does_not_hold_the_run_is_told_so() {
    for command in COMMANDS {
        let line = format!("typed s2: {command}");
        check(
            FLOW,
            &[
                (&line, "refuse R04 | refused"),
                ("# in writing, running", ""),
            ],
        );
    }
    // The session lost the run while it was away.
    check(
        FLOW,
        &[
            ("process 100 dies", ""),
            (
                "s2: arrives process 200",
                "inject R02 | detached s1, attached s2",
            ),
            ("typed: reset", "refuse R04 | refused"),
            ("typed s2: reset", "done R72 | reset"),
        ],
    );
}

#[test]
fn a_persons_answer_in_the_session_is_an_answer() {
    let asked = [
        (
            "person: skip done",
            "done R67 | overridden done, to judging",
        ),
        (
            "person: skip rework",
            "done R67 | overridden rework, to writing",
        ),
        (
            "person: skip done",
            "done R67 | overridden done, to judging",
        ),
        (
            "person: skip rework",
            "done R67 | overridden rework, to writing",
        ),
        (
            "person: skip done",
            "done R67 | overridden done, to judging",
        ),
        (
            "person: skip rework",
            "done R67 | overridden rework, to asked",
        ),
    ];
    for (line, came) in [
        ("s1: answer yes", "refuse R66 | refused"),
        ("model: answer yes", "refuse R66 | refused"),
        ("script: answer yes", "refuse R66 | refused"),
        ("typed: answer maybe", "refuse R61 | refused"),
        ("typed: answer yes", "done R60 | answered yes, to writing"),
        ("person: answer no", "done R60 | answered no, to given_up"),
    ] {
        let lines: Vec<_> = asked.iter().copied().chain([(line, came)]).collect();
        check(FLOW, &lines);
    }
}

#[test]
fn a_report_moves_no_run_that_is_watched() {
    let people = [("person", "R39"), ("typed", "R39")];
    for (who, rule) in people
        .into_iter()
        .chain([("model", "R66"), ("script", "R66")])
    {
        let line = format!("{who}: report alpha-writer");
        let refused = format!("refuse {rule} | refused");
        check(
            FLOW,
            &[
                ("lay draft 1", ""),
                (&line, &refused),
                ("# in writing, running", ""),
            ],
        );
    }
}

#[test]
fn a_person_finishes_an_open_stage_and_an_agent_does_not() {
    let finishing = OPEN.replace("after.scout  = \"noting\"", "on.finish = \"noting\"");
    check(
        &finishing,
        &[
            ("model: finish", "refuse R66 | refused"),
            ("typed: finish", "done R64 | to noting"),
        ],
    );
}

#[test]
fn a_person_gives_a_reason_for_what_cannot_be_undone() {
    for command in ["skip done", "cancel", "reset", "bypass 60", "restore"] {
        let line = format!("person: {command} silently");
        check(FLOW, &[(&line, "refuse R66 | refused")]);
    }
}
