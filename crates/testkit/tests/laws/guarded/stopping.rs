//! Stops: held while there is work to do, three times at most, and never for ever.

use crate::guarded::pipelines::{FLOW, OPEN, WAVES};
use crate::guarded::told::check;

#[test]
fn a_session_is_held_three_times_and_then_let_go() {
    check(
        FLOW,
        &[
            ("stop", "hold R91 | held 1"),
            ("stop", "hold R91 | held 2"),
            ("prompt", "inject R95"),
            ("stop", "hold R91 | held 3"),
            ("stop", "allow R92 | abandoned"),
            ("# in writing, waiting", ""),
            ("stop", "allow R90"),
            ("stop", "allow R90"),
            // Work ends the waiting.
            (
                "ask alpha-writer call A",
                "allow R10 | admitted d1 alpha-writer",
            ),
            ("# in writing, running", ""),
        ],
    );
}

#[test]
fn a_prompt_after_three_holds_holds_the_session_again() {
    check(
        FLOW,
        &[
            ("stop", "hold R91 | held 1"),
            ("stop", "hold R91 | held 2"),
            ("stop", "hold R91 | held 3"),
            ("stop", "allow R92 | abandoned"),
            // Another session's prompt is none of the run's.
            ("s2: prompt", "done R04"),
            ("# in writing, waiting", ""),
            ("prompt", "inject R95 | continued"),
            ("# in writing, running", ""),
            ("stop", "hold R91 | held 1"),
        ],
    );
}

#[test]
fn progress_begins_the_count_again() {
    check(
        FLOW,
        &[
            ("stop", "hold R91 | held 1"),
            ("stop", "hold R91 | held 2"),
            ("stop", "hold R91 | held 3"),
            (
                "ask alpha-writer call A",
                "allow R10 | admitted d1 alpha-writer",
            ),
            ("lay draft 1", ""),
            (
                "returned call A tools 1",
                "done R32 | captured draft, ended d1 done, to judging",
            ),
            ("stop", "hold R91 | held 1"),
        ],
    );
    check(
        OPEN,
        &[
            ("stop", "hold R91 | held 1"),
            ("ask helper-x call A", "allow R10 | admitted d1 helper-x"),
            ("returned call A tools 1", "done R32 | ended d1 done"),
            ("stop", "hold R91 | held 1"),
        ],
    );
}

#[test]
fn a_session_that_only_calls_agents_which_fail_is_let_go_too() {
    // Every call is a tool call, so the host's own limit begins anew each time: ours must not.
    check(
        OPEN,
        &[
            ("stop", "hold R91 | held 1"),
            ("ask helper-x call A", "allow R10 | admitted d1 helper-x"),
            ("failed call A", "refuse R37 | ended d1 crashed"),
            ("stop", "hold R91 | held 2"),
            ("ask helper-x call B", "allow R10 | admitted d2 helper-x"),
            ("failed call B", "refuse R37 | ended d2 crashed"),
            ("stop", "hold R91 | held 3"),
            ("ask helper-x call C", "allow R10 | admitted d3 helper-x"),
            ("failed call C", "refuse R37 | ended d3 crashed"),
            ("stop", "allow R92 | abandoned"),
        ],
    );
}

#[test]
fn background_work_lets_the_session_stop_and_is_not_lost() {
    check(
        FLOW,
        &[
            (
                "ask alpha-writer call A",
                "allow R10 | admitted d1 alpha-writer",
            ),
            ("begins w1 alpha-writer", "done R41 | began d1 w1"),
            ("stop background", "allow R90"),
            ("stop background", "allow R90"),
            ("stop background", "allow R90"),
            ("stop background", "allow R90"),
            ("tool Write by w1 alpha-writer", "allow R21 | worked d1"),
            ("lay draft 1", ""),
            (
                "stopping w1",
                "done R32 | captured draft, ended d1 done, to judging",
            ),
        ],
    );
}

#[test]
fn work_that_ended_unseen_counts_when_it_has_left_what_it_must() {
    let begun = [
        ("ask alpha-writer", "allow R10 | admitted d1 alpha-writer"),
        ("begins w1 alpha-writer", "done R41 | began d1 w1"),
    ];
    let worked = ("tool Write by w1 alpha-writer", "allow R21 | worked d1");
    for (works, left, expected) in [
        (
            true,
            "lay draft 10",
            "hold R91 | captured draft, ended d1 done, to judging, held 1",
        ),
        // What lies there is not its own, or not what it must leave.
        (
            false,
            "lay draft 10",
            "hold R91 | ended d1 crashed, retried crashed, held 1",
        ),
        (
            true,
            "spoil draft 10",
            "hold R91 | ended d1 crashed, retried crashed, held 1",
        ),
        (
            true,
            "wait 1",
            "hold R91 | ended d1 crashed, retried crashed, held 1",
        ),
    ] {
        let works = works.then_some(worked);
        let end = [(left, ""), ("stop", expected)];
        let story: Vec<_> = begun.into_iter().chain(works).chain(end).collect();
        check(FLOW, &story);
    }
}

#[test]
fn of_several_that_ended_unseen_none_counts() {
    check(
        WAVES,
        &[
            ("ask builder step a", "allow R10 | admitted d1 a"),
            ("begins w1 builder", "done R41 | began d1 w1"),
            ("tool Write by w1 builder", "allow R21 | worked d1"),
            ("ask builder step b", "allow R10 | admitted d2 b"),
            ("begins w2 builder", "done R41 | began d2 w2"),
            ("tool Write by w2 builder", "allow R21 | worked d2"),
            ("lay report@a 10", ""),
            ("lay report@b 11", ""),
            (
                "stop",
                "hold R91 | ended d1 crashed, retried a crashed, ended d2 crashed, retried b crashed, held 1",
            ),
        ],
    );
}

#[test]
fn open_work_of_a_session_that_stops_ended_unseen() {
    check(
        FLOW,
        &[
            (
                "ask alpha-writer call A",
                "allow R10 | admitted d1 alpha-writer",
            ),
            // It never began: another hook, or a person, said no.
            (
                "stop",
                "hold R91 | ended d1 crashed, retried crashed, held 1",
            ),
            (
                "ask alpha-writer call B",
                "allow R10 | admitted d2 alpha-writer",
            ),
            ("begins w2 alpha-writer", "done R41 | began d2 w2"),
            (
                "stop",
                "hold R91 | ended d2 crashed, retried crashed, held 2",
            ),
            ("tool Read by w2 alpha-writer", "refuse R22 | refused"),
            (
                "ask alpha-writer call C",
                "allow R10 | admitted d3 alpha-writer",
            ),
            ("stop", "allow R90 | ended d3 crashed, stuck crashed"),
            ("# in writing, waiting", ""),
        ],
    );
    check(
        WAVES,
        &[
            ("ask builder call A step a", "allow R10 | admitted d1 a"),
            (
                "stop",
                "hold R91 | ended d1 crashed, retried a crashed, held 1",
            ),
            ("ask builder call B step b", "allow R10 | admitted d2 b"),
        ],
    );
}

#[test]
fn an_end_that_nobody_saw_is_compared_with_the_gates_before_the_run_completes() {
    let closing = "[stages.closing]\nagent = \"closer\"\nwrites = []\non.done = \"over\"\n\
                   on.crashed = \"over\"\n\n[stages.over]";
    let longer = FLOW
        .replace("on.approved = \"over\"", "on.approved = \"closing\"")
        .replace("[stages.over]", closing);
    let judged = [
        (
            "ask alpha-writer call A",
            "allow R10 | admitted d1 alpha-writer",
        ),
        ("lay draft 1", ""),
        (
            "returned call A tools 1",
            "done R32 | captured draft, ended d1 done, to judging",
        ),
        ("ask judge call B", "allow R10 | admitted d2 judge"),
        ("lay verdict 1 APPROVED", ""),
        (
            "returned call B tools 1",
            "done R32 | captured verdict, ended d2 approved, gate judging, to closing",
        ),
        ("ask closer call C", "allow R10 | admitted d3 closer"),
    ];
    let told = |lines: &[(&'static str, &'static str)]| {
        let lines: Vec<_> = judged.iter().chain(lines).copied().collect();
        check(&longer, &lines);
    };
    told(&[("stop", "allow R90 | ended d3 crashed, to over")]);
    told(&[
        ("edit src/main.rs", ""),
        ("stop", "hold R91 | ended d3 crashed, to judging, held 1"),
    ]);
}

#[test]
fn only_a_running_run_in_a_stage_that_holds_holds() {
    let free = FLOW.replacen("stop    = \"hold\"\n", "", 1);
    check(&free, &[("stop", "allow R90")]);
    check(
        FLOW,
        &[
            ("person: cancel", "done R71 | cancelled"),
            ("stop", "allow R90"),
        ],
    );
    check(
        FLOW,
        &[
            (
                "person: skip done",
                "done R67 | overridden done, to judging",
            ),
            (
                "person: skip approved",
                "done R67 | overridden approved, to over",
            ),
            ("# in over, completed", ""),
            ("stop", "allow R90"),
        ],
    );
    check(FLOW, &[("s2: stop", "done R04")]);
}

#[test]
fn a_run_past_its_time_lets_the_session_stop() {
    let short = FLOW.replace("start = \"writing\"", "start = \"writing\"\nttl = \"1h\"");
    check(
        &short,
        &[
            ("stop", "hold R91 | held 1"),
            ("wait 4000", ""),
            ("stop", "allow R90 | stale"),
            ("# in writing, waiting", ""),
            ("ask alpha-writer call A", "refuse R93"),
            ("typed: answer continue", "done R75 | continued"),
            (
                "ask alpha-writer call A",
                "allow R10 | admitted d1 alpha-writer",
            ),
        ],
    );
}

#[test]
fn what_never_began_is_forgotten_when_a_person_speaks() {
    check(
        FLOW,
        &[
            (
                "ask alpha-writer call A",
                "allow R10 | admitted d1 alpha-writer",
            ),
            // A person broke the turn off: neither an end nor a stop was told.
            ("prompt", "inject R95 | ended d1 dropped"),
            (
                "ask alpha-writer call B",
                "allow R10 | admitted d2 alpha-writer",
            ),
            ("begins w2 alpha-writer", "done R41 | began d2 w2"),
            ("prompt", "inject R95"),
            ("tool Read by w2 alpha-writer", "allow R21 | worked d2"),
            (
                "failed w2",
                "refuse R37 | ended d2 crashed, retried crashed",
            ),
        ],
    );
}
