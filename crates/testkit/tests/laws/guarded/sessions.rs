//! Sessions: they return, in another process or as successors; they take over, or must wait.

use engine::Fact;

use crate::guarded::pipelines::FLOW;
use crate::guarded::told::check;
use crate::guarded::world::World;

const AT_WORK: [(&str, &str); 2] = [
    (
        "ask alpha-writer call A",
        "allow R10 | admitted d1 alpha-writer",
    ),
    ("begins w1 alpha-writer", "done R41 | began d1 w1"),
];

fn told(lines: &[(&str, &str)]) {
    let lines: Vec<_> = AT_WORK.iter().chain(lines).copied().collect();
    check(FLOW, &lines);
}

#[test]
fn the_same_session_goes_on_and_nothing_is_reset() {
    told(&[
        // Compaction, and a hook that does not know its process.
        ("arrives process 100", "inject R02"),
        ("arrives", "inject R02"),
        ("tool Read by w1 alpha-writer", "allow R21 | worked d1"),
        ("# in writing, running", ""),
    ]);
}

#[test]
fn a_session_in_another_process_has_lost_its_workers() {
    told(&[
        (
            "arrives process 101",
            "inject R02 | ended d1 dropped, attached s1",
        ),
        ("arrives process 101", "inject R02"),
        ("tool Read by w1 alpha-writer", "refuse R22 | refused"),
        ("stopping w1", "done R42"),
        // Nobody failed, so no attempt is spent.
        (
            "ask alpha-writer call B",
            "allow R10 | admitted d2 alpha-writer",
        ),
        (
            "failed call B",
            "refuse R37 | ended d2 crashed, retried crashed",
        ),
        (
            "ask alpha-writer call C",
            "allow R10 | admitted d3 alpha-writer",
        ),
        (
            "failed call C",
            "refuse R37 | ended d3 crashed, retried crashed",
        ),
    ]);
}

/// The mark goes with the entry that binds the session: no crash comes between the two.
#[test]
fn a_host_that_is_not_known_marks_the_run_in_the_same_decision() {
    told(&[
        ("arrives process 100 unverified", "inject R02"),
        (
            "arrives process 101 unverified",
            "inject R02 | ended d1 dropped, attached s1, unevaluated",
        ),
        ("arrives process 101 unverified", "inject R02"),
        ("arrives process 102", "inject R02 | attached s1"),
    ]);
    let marks = |unverified| {
        let world = World::begun_by(FLOW, unverified);
        let marks = world.journal.iter();
        let marks = marks.filter(|entry| matches!(entry.fact, Fact::Unevaluated { .. }));
        (marks.count(), world.run.unjudged)
    };
    assert_eq!(marks(None), (0, 0));
    assert_eq!(marks(Some("a shell")), (1, 1));
}

#[test]
fn a_process_that_becomes_known_costs_nobody_its_work() {
    check(
        FLOW,
        &[
            ("leaves", "done R02 | detached s1"),
            ("arrives", "inject R02 | attached s1"),
            AT_WORK[0],
            AT_WORK[1],
            ("arrives process 100", "inject R02 | attached s1"),
            ("tool Read by w1 alpha-writer", "allow R21 | worked d1"),
            (
                "arrives process 101",
                "inject R02 | ended d1 dropped, attached s1",
            ),
        ],
    );
}

#[test]
fn after_a_clear_the_new_session_is_the_heir_and_has_the_workers() {
    told(&[
        (
            "s2: arrives process 100 heir s1",
            "inject R02 | attached s2",
        ),
        ("ask alpha-writer call B", "done R04"),
        ("s2: ask alpha-writer call B", "refuse R12 | refused"),
        ("tool Read by w1 alpha-writer", "done R04"),
        ("s2: tool Read by w1 alpha-writer", "allow R21 | worked d1"),
        // The heir of somebody else inherits nothing.
        ("s3: arrives process 300 heir s1", "refuse R03"),
        ("lay draft 1", ""),
        ("stopping w1", "done R04"),
        (
            "s2: stopping w1",
            "done R32 | captured draft, ended d1 done, to judging",
        ),
    ]);
}

#[test]
fn a_number_of_a_process_that_is_used_again_is_another_process() {
    told(&[
        (
            "arrives process 100/9",
            "inject R02 | ended d1 dropped, attached s1",
        ),
        ("s2: arrives process 200", "refuse R03"),
        // The first process of that number is gone, the one that holds the run is not.
        ("process 100 dies", ""),
        ("s2: arrives process 200", "refuse R03"),
        ("process 100/9 dies", ""),
        (
            "s2: arrives process 200",
            "inject R02 | detached s1, attached s2",
        ),
    ]);
}

#[test]
fn a_run_is_taken_over_only_from_a_session_that_is_gone() {
    told(&[
        ("s2: arrives process 200", "refuse R03"),
        ("s2: ask alpha-writer call B", "done R04"),
        ("process 100 dies", ""),
        (
            "s2: arrives process 200",
            "inject R02 | detached s1, ended d1 dropped, attached s2",
        ),
        (
            "s2: ask alpha-writer call B",
            "allow R10 | admitted d2 alpha-writer",
        ),
        // The earlier one comes back, and hears of it.
        ("arrives process 101", "refuse R03"),
        ("stop", "done R04"),
    ]);
}

#[test]
fn a_session_that_ended_leaves_its_run_to_the_next() {
    told(&[
        ("leaves", "done R02 | detached s1, ended d1 dropped"),
        ("leaves", "done R04"),
        ("stopping w1", "done R04"),
        ("prompt", "done R04"),
        ("s2: arrives process 200", "inject R02 | attached s2"),
        (
            "s2: ask alpha-writer call B",
            "allow R10 | admitted d2 alpha-writer",
        ),
        ("arrives process 101", "refuse R03"),
    ]);
    told(&[
        ("leaves", "done R02 | detached s1, ended d1 dropped"),
        ("arrives process 101", "inject R02 | attached s1"),
        (
            "ask alpha-writer call B",
            "allow R10 | admitted d2 alpha-writer",
        ),
    ]);
}

#[test]
fn a_takeover_keeps_what_the_run_has_come_to() {
    told(&[
        ("tool Write by w1 alpha-writer", "allow R21 | worked d1"),
        ("lay draft 1", ""),
        (
            "stopping w1",
            "done R32 | captured draft, ended d1 done, to judging",
        ),
        ("ask judge call B", "allow R10 | admitted d2 judge"),
        ("begins w2 judge", "done R41 | began d2 w2"),
        ("process 100 dies", ""),
        (
            "s2: arrives process 200",
            "done R02 | detached s1, ended d2 dropped, attached s2",
        ),
        ("# in judging, running", ""),
        ("s2: ask judge call C", "allow R10 | admitted d3 judge"),
        ("s2: begins w3 judge", "done R41 | began d3 w3"),
        ("s2: tool Read by w3 judge", "allow R21 | worked d3"),
        ("lay verdict 1 APPROVED", ""),
        (
            "s2: stopping w3",
            "done R32 | captured verdict, ended d3 approved, gate judging, to over",
        ),
    ]);
}

#[test]
fn a_session_that_was_let_go_may_be_followed_by_another() {
    check(
        FLOW,
        &[
            ("stop", "hold R91 | held 1"),
            ("stop", "hold R91 | held 2"),
            ("stop", "hold R91 | held 3"),
            ("stop", "allow R92 | abandoned"),
            ("leaves", "done R02 | detached s1"),
            ("s2: arrives process 200", "inject R02 | attached s2"),
            ("s2: stop", "allow R90"),
            (
                "s2: ask alpha-writer call A",
                "allow R10 | admitted d1 alpha-writer",
            ),
        ],
    );
}
