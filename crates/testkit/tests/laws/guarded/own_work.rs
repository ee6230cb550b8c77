//! The session's own work: judged when it pauses, at no cost while it is unfinished.

use crate::guarded::pipelines::OPEN;
use crate::guarded::told::check;

const NOTING: [(&str, &str); 6] = [
    ("ask scout call A", "allow R10 | admitted d1 scout"),
    ("begins w1 scout", "done R41 | began d1 w1"),
    ("tool Write by w1 scout", "allow R21 | worked d1"),
    ("lay map 1", ""),
    (
        "stopping w1",
        "done R32 | captured map, ended d1 done, to noting",
    ),
    ("# in noting, running", ""),
];

fn told(lines: &[(&str, &str)]) {
    let lines: Vec<_> = NOTING.iter().chain(lines).copied().collect();
    check(OPEN, &lines);
}

#[test]
fn unfinished_work_of_the_session_costs_nothing() {
    told(&[
        ("session pauses", "refuse R34"),
        ("session pauses", "refuse R34"),
        ("spoil notes 1", ""),
        ("session pauses", "refuse R34"),
        ("session pauses", "refuse R34"),
        ("# in noting, running", ""),
        ("lay notes 1", ""),
        (
            "session pauses",
            "done R32 | admitted d2 session, captured notes, ended d2 done, to over",
        ),
    ]);
}

#[test]
fn a_session_that_stops_in_its_own_stage_is_held_and_let_go() {
    told(&[
        ("session pauses", "refuse R34"),
        ("stop", "hold R91 | held 1"),
        ("stop", "hold R91 | held 2"),
        ("stop", "hold R91 | held 3"),
        ("stop", "allow R92 | abandoned"),
        // Later, after all.
        ("lay notes 1", ""),
        (
            "session pauses",
            "done R32 | admitted d2 session, captured notes, ended d2 done, to over",
        ),
    ]);
}

#[test]
fn no_agent_works_in_the_sessions_stage() {
    told(&[
        ("ask scout call B", "refuse R11 | refused"),
        ("ask helper-x call B", "refuse R11 | refused"),
        ("begins w2 scout", "refuse R22 | refused"),
    ]);
}

#[test]
fn a_session_that_pauses_elsewhere_has_done_nothing() {
    check(
        OPEN,
        &[
            ("lay notes 1", ""),
            ("session pauses", "done R30 | noted"),
            ("# in looking, running", ""),
        ],
    );
    check(OPEN, &[("s2: session pauses", "done R04")]);
}

#[test]
fn what_lay_there_when_the_stage_was_done_before_is_old() {
    told(&[
        ("lay notes 1", ""),
        (
            "session pauses",
            "done R32 | admitted d2 session, captured notes, ended d2 done, to over",
        ),
        (
            "ask scout call B",
            "allow R10 | task began, admitted d3 scout",
        ),
        ("begins w2 scout", "done R41 | began d3 w2"),
        ("tool Read by w2 scout", "allow R21 | worked d3"),
        ("stopping w2", "done R32 | ended d3 done, to noting"),
        ("session pauses", "refuse R35"),
        ("lay notes 2", ""),
        (
            "session pauses",
            "done R32 | admitted d4 session, captured notes, ended d4 done, to over",
        ),
    ]);
}
