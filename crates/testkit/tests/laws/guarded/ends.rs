//! Ends: told by several witnesses, in any order, late, by phantoms, and counted once.

use engine::{Fact, WorkResult};

use crate::guarded::pipelines::{FLOW, OPEN, WAVES};
use crate::guarded::told::{check, tell};
use crate::guarded::world::World;

const ASKED: (&str, &str) = (
    "ask alpha-writer call A",
    "allow R10 | admitted d1 alpha-writer",
);
const BEGUN: (&str, &str) = ("begins w1 alpha-writer", "done R41 | began d1 w1");
const USED: (&str, &str) = ("tool Write by w1 alpha-writer", "allow R21 | worked d1");

fn ends(world: &World) -> Vec<&WorkResult> {
    let facts = world.journal.iter().map(|entry| &entry.fact);
    facts
        .filter_map(|fact| match fact {
            Fact::Ended { result, .. } => Some(result),
            _ => None,
        })
        .collect()
}

/// Every order of these lines.
fn orders<'a>(lines: &[&'a str]) -> Vec<Vec<&'a str>> {
    if lines.is_empty() {
        return vec![Vec::new()];
    }
    (0..lines.len())
        .flat_map(|at| {
            let mut others = lines.to_vec();
            let first = others.remove(at);
            orders(&others).into_iter().map(move |mut rest| {
                rest.insert(0, first);
                rest
            })
        })
        .collect()
}

#[test]
fn two_witnesses_of_one_end_count_once_in_every_order() {
    let witnesses = [
        "stopping w1",
        "returned call A tools 2 w1",
        "notified call A tools 2 w1",
        "returned call A tools 2",
        "notified tools 2 w1",
    ];
    for order in orders(&witnesses) {
        let mut lines = vec![ASKED, BEGUN, USED, ("lay draft 1", "")];
        lines.push((
            order[0],
            "done R32 | captured draft, ended d1 done, to judging",
        ));
        lines.extend(order[1..].iter().map(|line| (*line, "done R42")));
        check(FLOW, &lines);
    }
}

#[test]
fn two_witnesses_of_one_failure_cost_one_attempt_in_every_order() {
    let witnesses = ["failed w1", "failed call A", "failed call A w1"];
    for order in orders(&witnesses) {
        let mut lines = vec![ASKED, BEGUN];
        lines.push((order[0], "refuse R37 | ended d1 crashed, retried crashed"));
        lines.extend(order[1..].iter().map(|line| (*line, "done R42")));
        lines.push((
            "ask alpha-writer call B",
            "allow R10 | admitted d2 alpha-writer",
        ));
        // And late, when the next attempt is under way.
        lines.extend(order.iter().map(|line| (*line, "done R42")));
        lines.push(("begins w2 alpha-writer", "done R41 | began d2 w2"));
        lines.extend(order.iter().map(|line| (*line, "done R42")));
        let world = tell(FLOW, &lines, &engine::decide).unwrap_or_else(|wrong| panic!("{wrong}"));
        assert_eq!(ends(&world).len(), 1);
        assert_eq!(world.run.position.retries, 1);
    }
}

#[test]
fn an_end_before_its_beginning_was_seen_is_matched_by_its_call() {
    check(
        FLOW,
        &[
            ASKED,
            ("lay draft 1", ""),
            (
                "returned call A tools 2 w1",
                "done R32 | captured draft, ended d1 done, to judging",
            ),
            ("stopping w1", "done R30 | noted"),
            ("begins w1 alpha-writer", "refuse R22 | refused"),
            ("# in judging, running", ""),
        ],
    );
}

#[test]
fn an_end_of_somebody_unknown_moves_nothing() {
    for line in [
        "stopping w9",
        "returned tools 5 w9",
        "returned call Z tools 5",
        "notified call Z tools 5 w9",
        "failed call Z",
        "failed w9",
        "returned tools 5",
    ] {
        check(
            FLOW,
            &[
                ("lay draft 1", ""),
                (line, "done R30 | noted"),
                ASKED,
                (line, "done R30 | noted"),
                BEGUN,
                (line, "done R30 | noted"),
                ("# in writing, running", ""),
            ],
        );
    }
}

#[test]
fn a_phantom_with_the_name_of_a_worker_at_work_ends_nothing() {
    check(
        FLOW,
        &[
            ASKED,
            BEGUN,
            ("lay draft 1", ""),
            // Compaction ends an agent that never began; the same name is not the same worker.
            ("stopping w7", "done R30 | noted"),
            ("tool Read by w1 alpha-writer", "allow R21 | worked d1"),
        ],
    );
}

#[test]
fn parallel_workers_of_one_name_end_crosswise() {
    check(
        OPEN,
        &[
            ("ask scout call A", "allow R10 | admitted d1 scout"),
            ("ask scout call B", "allow R10 | admitted d2 scout"),
            ("begins w1 scout", "done R41 | began d1 w1"),
            ("begins w2 scout", "done R41 | began d2 w2"),
            ("tool Read by w1 scout", "allow R21 | worked d1"),
            ("tool Read by w2 scout", "allow R21 | worked d2"),
            ("lay map 1", ""),
            // Each call names the other's worker: the worker is certain, the tie was a guess.
            (
                "returned call A tools 1 w2",
                "done R32 | captured map, ended d2 done, to noting",
            ),
            ("stopping w2", "done R42"),
            ("returned call B tools 1 w1", "done R31 | ended d1 late"),
            ("stopping w1", "done R42"),
        ],
    );
}

#[test]
fn parallel_steps_end_each_for_itself() {
    check(
        WAVES,
        &[
            ("ask builder call A step a", "allow R10 | admitted d1 a"),
            ("begins w1 builder", "done R41 | began d1 w1"),
            ("ask builder call B step b", "allow R10 | admitted d2 b"),
            ("begins w2 builder", "done R41 | began d2 w2"),
            ("tool Write by w1 builder", "allow R21 | worked d1"),
            ("tool Write by w2 builder", "allow R21 | worked d2"),
            ("lay report@b 2", ""),
            (
                "notified call B tools 4 w2",
                "done R32 | captured report, ended d2 done",
            ),
            ("stopping w1", "hold R34 | sent back d1"),
            ("lay report@a 1", ""),
            ("stopping w1", "done R32 | captured report, ended d1 done"),
            ("stopping w2", "done R42"),
            ("ask tester call C", "allow R10 | admitted d3 c"),
        ],
    );
}

#[test]
fn a_message_that_came_too_late_does_not_end_the_work_that_it_began() {
    // The host ends the worker, resumes it with the message, and only then tells of the first end.
    check(
        FLOW,
        &[
            ASKED,
            BEGUN,
            USED,
            (
                "failed w1",
                "refuse R37 | ended d1 crashed, retried crashed",
            ),
            (
                "begins w1 alpha-writer",
                "done R41 | admitted d2 alpha-writer",
            ),
            ("notified call A tools 1 w1", "done R42"),
            ("tool Write by w1 alpha-writer", "allow R21 | worked d2"),
            ("lay draft 1", ""),
            (
                "stopping w1",
                "done R32 | captured draft, ended d2 done, to judging",
            ),
            ("notified call A tools 1 w1", "done R42"),
        ],
    );
    // The same, when the session had asked for it.
    check(
        FLOW,
        &[
            ASKED,
            BEGUN,
            USED,
            (
                "failed w1",
                "refuse R37 | ended d1 crashed, retried crashed",
            ),
            ("write w1 call M", "allow R10 | admitted d2 alpha-writer"),
            ("notified call A tools 1 w1", "done R42"),
            ("begins w1 alpha-writer", "done R41"),
            ("lay draft 1", ""),
            (
                "notified call M tools 1 w1",
                "done R32 | captured draft, ended d2 done, to judging",
            ),
        ],
    );
}

#[test]
fn work_of_a_stage_that_was_left_ends_late() {
    check(
        FLOW,
        &[
            ASKED,
            BEGUN,
            USED,
            (
                "person: skip done",
                "done R67 | overridden done, to judging",
            ),
            ("lay draft 1", ""),
            ("stopping w1", "done R31 | ended d1 late"),
            ("returned call A tools 3 w1", "done R42"),
            ("# in judging, running", ""),
        ],
    );
}

#[test]
fn work_of_a_run_that_is_over_or_was_reset_ends_for_nothing() {
    check(
        FLOW,
        &[
            ASKED,
            BEGUN,
            ("typed: cancel", "done R71 | cancelled"),
            ("lay draft 1", ""),
            ("stopping w1", "done R31 | ended d1 late"),
        ],
    );
    check(
        FLOW,
        &[
            ASKED,
            BEGUN,
            ("typed: reset", "done R72 | reset"),
            ("lay draft 1", ""),
            ("tool Write by w1 alpha-writer", "refuse R22 | refused"),
            ("stopping w1", "done R42"),
            ("# in writing, running", ""),
        ],
    );
}

#[test]
fn a_worker_that_the_person_interrupts_is_over_and_costs_no_attempt() {
    check(
        FLOW,
        &[
            ASKED,
            BEGUN,
            ("ask alpha-writer call B", "refuse R12 | refused"),
            ("interrupted w1", "done R106 | ended d1 dropped"),
            ("interrupted w1", "done R106"),
            ("interrupted w9", "done R106"),
            (
                "ask alpha-writer call B",
                "allow R10 | admitted d2 alpha-writer",
            ),
        ],
    );
}
