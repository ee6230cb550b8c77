//! Workers that we start ourselves: their tools are judged as theirs, and they are known by their call.

use crate::guarded::pipelines::{FLOW, OPEN, WAVES};
use crate::guarded::told::check;

const WRITING: [(&str, &str); 2] = [
    (
        "engine: ask alpha-writer call step-1",
        "allow R10 | admitted d1 alpha-writer",
    ),
    (
        "engine: launched call step-1 claude:1",
        "done R41 | began d1 claude:1",
    ),
];

fn told(pipeline: &str, before: &[(&str, &str)], lines: &[(&str, &str)]) {
    let lines: Vec<_> = before.iter().chain(lines).copied().collect();
    check(pipeline, &lines);
}

#[test]
fn a_worker_of_ours_is_judged_like_one_of_a_session() {
    told(
        FLOW,
        &WRITING,
        &[
            (
                "engine: tool Bash by claude:1 alpha-writer touches state",
                "refuse R23 | refused",
            ),
            (
                "engine: tool Write by claude:1 alpha-writer touches verdict",
                "refuse R24 | refused",
            ),
            (
                "engine: tool Bash by claude:1 alpha-writer door claude",
                "refuse R26 | refused",
            ),
            (
                "engine: tool Write by claude:1 alpha-writer touches draft",
                "allow R21 | worked d1",
            ),
            ("engine: tool Write by claude:1 alpha-writer", "allow R21"),
        ],
    );
}

#[test]
fn a_worker_of_ours_is_tied_by_its_call_and_never_by_its_name() {
    check(
        WAVES,
        &[
            (
                "engine: ask builder call step-1 step a",
                "allow R10 | admitted d1 a",
            ),
            (
                "engine: ask builder call step-2 step b",
                "allow R10 | admitted d2 b",
            ),
            // This is not the first that has no worker yet.
            (
                "engine: tool Read by claude:2 builder",
                "refuse R22 | refused",
            ),
            (
                "engine: launched call step-2 claude:2",
                "done R41 | began d2 claude:2",
            ),
            (
                "engine: tool Write by claude:2 builder touches report@a",
                "refuse R24 | refused",
            ),
            (
                "engine: tool Write by claude:2 builder touches report@b",
                "allow R21 | worked d2",
            ),
            (
                "engine: tool Read by claude:1 builder",
                "refuse R22 | refused",
            ),
        ],
    );
}

#[test]
fn what_a_stage_forbids_holds_for_the_work_of_that_stage() {
    told(
        FLOW,
        &[(
            "person: skip done",
            "done R67 | overridden done, to judging",
        )],
        &[
            (
                "engine: ask judge call step-1",
                "allow R10 | admitted d1 judge",
            ),
            (
                "engine: launched call step-1 codex:1",
                "done R41 | began d1 codex:1",
            ),
            ("engine: tool Edit by codex:1 judge", "refuse R20 | refused"),
            (
                "engine: tool mcp__x by codex:1 judge",
                "refuse R20 | refused",
            ),
            (
                "engine: tool Bash by codex:1 judge",
                "allow R21 | worked d1",
            ),
        ],
    );
}

#[test]
fn a_worker_calls_agents_of_its_own_and_in_an_open_stage_only_those_that_may_work_there() {
    told(
        FLOW,
        &WRITING,
        &[(
            "engine: tool Agent by claude:1 alpha-writer door own:anybody",
            "allow R21 | worked d1",
        )],
    );
    check(
        OPEN,
        &[
            (
                "engine: ask scout call step-1",
                "allow R10 | admitted d1 scout",
            ),
            (
                "engine: launched call step-1 claude:1",
                "done R41 | began d1 claude:1",
            ),
            (
                "engine: tool Agent by claude:1 scout door own:anybody",
                "refuse R11 | refused",
            ),
            (
                "engine: tool Agent by claude:1 scout door own:helper-x",
                "allow R21 | worked d1",
            ),
            (
                "engine: tool Agent by claude:1 scout door own:Scout",
                "allow R21",
            ),
        ],
    );
}

#[test]
fn a_worker_of_ours_outlives_neither_its_work_nor_its_run() {
    told(
        FLOW,
        &WRITING,
        &[
            (
                "engine: tool Read by claude:1 alpha-writer",
                "allow R21 | worked d1",
            ),
            ("person: cancel", "done R71 | cancelled"),
            (
                "engine: tool Read by claude:1 alpha-writer",
                "refuse R16 | refused",
            ),
            // A session is free when its run is over.
            ("tool Read", "allow R21"),
        ],
    );
    told(
        FLOW,
        &WRITING,
        &[
            (
                "engine: tool Read by claude:1 alpha-writer",
                "allow R21 | worked d1",
            ),
            ("lay draft 1", ""),
            (
                "engine: returned call step-1 tools 1 claude:1",
                "done R32 | captured draft, ended d1 done, to judging",
            ),
            (
                "engine: tool Read by claude:1 alpha-writer",
                "refuse R22 | refused",
            ),
        ],
    );
}

#[test]
fn a_worker_of_ours_learns_at_once_that_it_strayed() {
    told(
        FLOW,
        &[(
            "person: skip done",
            "done R67 | overridden done, to judging",
        )],
        &[
            (
                "engine: ask judge call step-1",
                "allow R10 | admitted d1 judge",
            ),
            (
                "engine: launched call step-1 claude:1",
                "done R41 | began d1 claude:1",
            ),
            ("engine: used by claude:1 judge", "done R21"),
            ("edit src/main.rs", ""),
            ("engine: used by claude:1 judge", "refuse R38"),
            ("put back src/main.rs", ""),
            ("engine: used by claude:1 judge", "done R21"),
        ],
    );
}
