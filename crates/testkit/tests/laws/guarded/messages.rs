//! Messages: a worker that is written to works on, or begins anew, and then it is judged anew.

use crate::guarded::pipelines::{FLOW, OPEN, WAVES};
use crate::guarded::told::check;

const AT_WORK: [(&str, &str); 3] = [
    (
        "ask alpha-writer call A",
        "allow R10 | admitted d1 alpha-writer",
    ),
    ("begins w1 alpha-writer", "done R41 | began d1 w1"),
    ("tool Write by w1 alpha-writer", "allow R21 | worked d1"),
];

fn told(lines: &[(&'static str, &'static str)]) {
    let lines: Vec<_> = AT_WORK.iter().chain(lines).copied().collect();
    check(FLOW, &lines);
}

#[test]
fn a_worker_at_work_may_be_written_to() {
    told(&[
        ("write w1 call M", "allow R29"),
        ("write w1 call N", "allow R29"),
        ("lay draft 1", ""),
        (
            "stopping w1",
            "done R32 | captured draft, ended d1 done, to judging",
        ),
    ]);
}

#[test]
fn a_finished_worker_is_asked_for_anew() {
    // Out of turn.
    told(&[
        ("lay draft 1", ""),
        (
            "stopping w1",
            "done R32 | captured draft, ended d1 done, to judging",
        ),
        ("write w1 call M", "refuse R11 | refused"),
        ("begins w1 alpha-writer", "refuse R22 | refused"),
        ("tool Write by w1 alpha-writer", "refuse R22 | refused"),
    ]);
    // In turn: a new attempt, with what lies there as its beginning.
    told(&[
        ("lay draft 1", ""),
        (
            "stopping w1",
            "done R32 | captured draft, ended d1 done, to judging",
        ),
        ("ask judge call B", "allow R10 | admitted d2 judge"),
        ("begins w2 judge", "done R41 | began d2 w2"),
        ("tool Read by w2 judge", "allow R21 | worked d2"),
        ("lay verdict 1 REWORK", ""),
        (
            "stopping w2",
            "done R32 | captured verdict, ended d2 rework, to writing",
        ),
        ("write w1 call M", "allow R10 | admitted d3 alpha-writer"),
        ("write w1 call M", "allow R29"),
        ("begins w1 alpha-writer", "done R41"),
        ("tool Read by w1 alpha-writer", "allow R21 | worked d3"),
        ("stopping w1", "hold R35 | sent back d3"),
        ("lay draft 2", ""),
        (
            "stopping w1",
            "done R32 | captured draft, ended d3 done, to judging",
        ),
    ]);
    // In turn, but another one is at it.
    told(&[
        (
            "failed w1",
            "refuse R37 | ended d1 crashed, retried crashed",
        ),
        (
            "ask alpha-writer call B",
            "allow R10 | admitted d2 alpha-writer",
        ),
        ("write w1 call M", "refuse R12 | refused"),
    ]);
}

#[test]
fn nobody_unknown_is_written_to() {
    check(FLOW, &[("write w9 call M", "refuse R22 | refused")]);
}

#[test]
fn a_finished_worker_that_begins_again_is_judged_by_its_turn() {
    told(&[
        (
            "failed w1",
            "refuse R37 | ended d1 crashed, retried crashed",
        ),
        (
            "begins w1 alpha-writer",
            "done R41 | admitted d2 alpha-writer",
        ),
        ("tool Write by w1 alpha-writer", "allow R21 | worked d2"),
    ]);
    // It is known by what it did, whatever it calls itself now.
    told(&[
        ("lay draft 1", ""),
        (
            "stopping w1",
            "done R32 | captured draft, ended d1 done, to judging",
        ),
        ("lay verdict 1 APPROVED", ""),
        ("begins w1 judge", "refuse R22 | refused"),
    ]);
}

#[test]
fn a_worker_of_a_session_that_died_may_be_written_to() {
    told(&[
        (
            "arrives process 101",
            "inject R02 | ended d1 dropped, attached s1",
        ),
        ("tool Read by w1 alpha-writer", "refuse R22 | refused"),
        ("write w1 call M", "allow R10 | admitted d2 alpha-writer"),
        ("begins w1 alpha-writer", "done R41"),
        ("tool Read by w1 alpha-writer", "allow R21 | worked d2"),
    ]);
}

#[test]
fn a_message_into_a_task_graph_is_for_the_one_step_that_can_begin() {
    check(
        WAVES,
        &[
            ("ask builder call A step a", "allow R10 | admitted d1 a"),
            ("begins w1 builder", "done R41 | began d1 w1"),
            (
                "failed w1",
                "refuse R37 | ended d1 crashed, retried a crashed",
            ),
            ("write w1 call M", "refuse R13 | refused"),
            ("ask builder call B step b", "allow R10 | admitted d2 b"),
            ("write w1 call M", "allow R10 | admitted d3 a"),
        ],
    );
}

#[test]
fn a_helper_may_be_written_to_as_long_as_it_may_be_called() {
    check(
        OPEN,
        &[
            ("ask helper-x call A", "allow R10 | admitted d1 helper-x"),
            ("begins w1 helper-x", "done R41 | began d1 w1"),
            ("tool Read by w1 helper-x", "allow R21 | worked d1"),
            ("stopping w1", "done R32 | ended d1 done"),
            ("write w1 call M", "allow R10 | admitted d2 helper-x"),
            ("person: cancel", "done R71 | cancelled"),
            ("write w1 call N", "allow R29"),
            ("stopping w1", "done R31 | ended d2 late"),
            ("write w1 call O", "refuse R16 | refused"),
        ],
    );
}

#[test]
fn only_those_who_were_admitted_write_to_others() {
    told(&[
        ("write w1 call M by w9 Explore", "refuse R22 | refused"),
        ("write w1 call M by w1 alpha-writer", "allow R29"),
        (
            "failed w1",
            "refuse R37 | ended d1 crashed, retried crashed",
        ),
        // Nobody begins work through somebody who does nothing here.
        ("write w1 call M by w9 Explore", "refuse R22 | refused"),
        ("write w1 call M by w1 alpha-writer", "refuse R22 | refused"),
        ("write w1 call M", "allow R10 | admitted d2 alpha-writer"),
    ]);
}
