//! Tools: what nobody may touch from inside a run, whose an artifact is, and the doors that are shut.

use crate::guarded::pipelines::{FLOW, OPEN, WAVES};
use crate::guarded::told::check;

const WRITING: [(&str, &str); 2] = [
    (
        "ask alpha-writer call A",
        "allow R10 | admitted d1 alpha-writer",
    ),
    ("begins w1 alpha-writer", "done R41 | began d1 w1"),
];

fn told(pipeline: &str, before: &[(&str, &str)], lines: &[(&str, &str)]) {
    let lines: Vec<_> = before.iter().chain(lines).copied().collect();
    check(pipeline, &lines);
}

#[test]
fn what_a_run_rests_on_is_nobodys_to_change() {
    for thing in ["state", "settings", "definition", "program"] {
        told(
            FLOW,
            &WRITING,
            &[
                (
                    &format!("tool Write touches {thing}"),
                    "refuse R23 | refused",
                ),
                (
                    &format!("tool Bash by w1 alpha-writer touches {thing}"),
                    "refuse R23 | refused",
                ),
                ("tool Write", "allow R21"),
            ],
        );
    }
}

#[test]
fn a_run_that_waits_is_guarded_as_well() {
    let waits = [
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
        ("# in asked, waiting", ""),
        ("tool Write touches state", "refuse R23 | refused"),
        ("tool Write touches verdict", "refuse R24 | refused"),
        ("tool Bash door claude", "refuse R26 | refused"),
        ("ask judge call A", "refuse R17 | refused"),
        ("tool Read by w9 judge", "refuse R22 | refused"),
        ("tool Read", "allow R21"),
    ];
    check(FLOW, &waits);
}

#[test]
fn a_run_that_is_over_guards_nothing() {
    check(
        FLOW,
        &[
            ("person: cancel", "done R71 | cancelled"),
            ("tool Write touches state", "allow R21"),
            ("tool Write touches draft", "allow R21"),
            ("tool Bash door claude", "allow R21"),
            ("tool Read by w9 anyone", "allow R21"),
        ],
    );
}

#[test]
fn a_run_that_can_begin_again_is_guarded_at_its_end() {
    check(
        OPEN,
        &[
            ("person: skip done", "refuse R68 | refused"),
            ("ask scout call A", "allow R10 | admitted d1 scout"),
            ("begins w1 scout", "done R41 | began d1 w1"),
            ("tool Write by w1 scout", "allow R21 | worked d1"),
            ("lay map 1", ""),
            (
                "stopping w1",
                "done R32 | captured map, ended d1 done, to noting",
            ),
            ("lay notes 1", ""),
            (
                "session pauses",
                "done R32 | admitted d2 session, captured notes, ended d2 done, to over",
            ),
            ("# in over, completed", ""),
            ("tool Write touches settings", "refuse R23 | refused"),
            ("tool Write touches state", "refuse R23 | refused"),
            ("tool Bash door claude", "refuse R26 | refused"),
            ("tool Bash door reset", "refuse R66 | refused"),
            ("begins w9 stranger", "refuse R22 | refused"),
            ("tool Read by w9 stranger", "refuse R22 | refused"),
            ("tool Write", "allow R21"),
            ("stop", "allow R90"),
        ],
    );
}

#[test]
fn an_artifact_is_written_by_whoever_leaves_it() {
    told(
        FLOW,
        &WRITING,
        &[
            (
                "tool Write by w1 alpha-writer touches draft",
                "allow R21 | worked d1",
            ),
            (
                "tool Write by w1 alpha-writer touches verdict",
                "refuse R24 | refused",
            ),
            ("tool Write touches draft", "refuse R24 | refused"),
            ("tool Bash touches verdict", "refuse R24 | refused"),
            (
                "tool Write by w2 alpha-writer touches draft",
                "refuse R22 | refused",
            ),
            (
                "tool Write by w2 judge touches verdict",
                "refuse R22 | refused",
            ),
            ("lay draft 1", ""),
            (
                "stopping w1",
                "done R32 | captured draft, ended d1 done, to judging",
            ),
            (
                "tool Write by w1 alpha-writer touches draft",
                "refuse R22 | refused",
            ),
            ("ask judge call B", "allow R10 | admitted d2 judge"),
            ("begins w2 judge", "done R41 | began d2 w2"),
            (
                "tool Write by w2 judge touches draft",
                "refuse R24 | refused",
            ),
            (
                "tool Write by w2 judge touches verdict",
                "allow R21 | worked d2",
            ),
        ],
    );
}

#[test]
fn a_worker_whose_stage_was_left_writes_its_artifact_no_more() {
    told(
        FLOW,
        &WRITING,
        &[
            (
                "tool Write by w1 alpha-writer touches draft",
                "allow R21 | worked d1",
            ),
            (
                "person: skip done",
                "done R67 | overridden done, to judging",
            ),
            (
                "tool Write by w1 alpha-writer touches draft",
                "refuse R24 | refused",
            ),
            ("tool Write by w1 alpha-writer", "allow R21"),
        ],
    );
}

#[test]
fn a_step_writes_its_own_report_and_no_neighbours() {
    check(
        WAVES,
        &[
            ("ask builder call A step a", "allow R10 | admitted d1 a"),
            ("begins w1 builder", "done R41 | began d1 w1"),
            ("ask builder call B step b", "allow R10 | admitted d2 b"),
            ("begins w2 builder", "done R41 | began d2 w2"),
            (
                "tool Write by w1 builder touches report@a",
                "allow R21 | worked d1",
            ),
            (
                "tool Write by w1 builder touches report@b",
                "refuse R24 | refused",
            ),
            (
                "tool Write by w2 builder touches report@a",
                "refuse R24 | refused",
            ),
            (
                "tool Write by w2 builder touches report@b",
                "allow R21 | worked d2",
            ),
            ("tool Write touches report@a", "refuse R24 | refused"),
        ],
    );
}

#[test]
fn the_session_writes_what_it_leaves_itself() {
    check(
        OPEN,
        &[
            ("tool Write touches notes", "refuse R24 | refused"),
            ("ask helper-x call H", "allow R10 | admitted d1 helper-x"),
            ("begins w1 helper-x", "done R41 | began d1 w1"),
            (
                "tool Write by w1 helper-x touches map",
                "refuse R24 | refused",
            ),
            ("ask scout call A", "allow R10 | admitted d2 scout"),
            ("begins w2 scout", "done R41 | began d2 w2"),
            (
                "tool Write by w2 scout touches map",
                "allow R21 | worked d2",
            ),
            ("lay map 1", ""),
            (
                "stopping w2",
                "done R32 | captured map, ended d2 done, to noting",
            ),
            ("tool Write touches notes", "allow R21"),
            ("tool Write touches map", "refuse R24 | refused"),
            (
                "tool Write by w1 helper-x touches notes",
                "refuse R24 | refused",
            ),
        ],
    );
}

#[test]
fn every_other_door_to_an_agent_is_shut() {
    for (door, came) in [
        ("tool Workflow door workflow", "refuse R26 | refused"),
        ("tool Bash door claude", "refuse R26 | refused"),
        ("tool Bash door hook", "refuse R23 | refused"),
        ("tool Bash door reset", "refuse R66 | refused"),
        ("tool Agent door ../x", "refuse R11 | refused"),
    ] {
        let by_worker = format!("{door} by w1 alpha-writer");
        told(
            FLOW,
            &WRITING,
            &[(door, came), (&by_worker, came), ("tool Bash", "allow R21")],
        );
    }
}

#[test]
fn a_helper_looks_around_in_any_stage_and_counts_for_nothing() {
    told(
        FLOW,
        &WRITING,
        &[
            ("ask Explore call X", "allow R105"),
            ("ask Explore call Y by w1 alpha-writer", "allow R105"),
            ("begins w9 Explore", "done R105"),
            ("tool Read by w9 Explore", "allow R21"),
            (
                "tool Write by w9 Explore door helper-writes",
                "refuse R105 | refused",
            ),
            ("ask someone-else call Z", "refuse R11 | refused"),
            ("begins w8 someone-else", "refuse R22 | refused"),
        ],
    );
    // A pipeline may have none.
    let without = FLOW.replacen("start", "helpers = []\nstart", 1);
    told(
        &without,
        &WRITING,
        &[
            ("ask Explore call X", "refuse R11 | refused"),
            ("begins w9 Explore", "refuse R22 | refused"),
        ],
    );
}

#[test]
fn a_stage_forbids_tools_to_the_session_and_to_its_worker() {
    let judging = [
        ("tool Edit", "allow R21"),
        ("lay draft 1", ""),
        (
            "returned call A tools 1 w1",
            "done R32 | captured draft, ended d1 done, to judging",
        ),
    ];
    let before: Vec<_> = WRITING.iter().chain(&judging).copied().collect();
    told(
        FLOW,
        &before,
        &[
            ("tool Edit", "refuse R20 | refused"),
            ("tool mcp__files__write", "refuse R20 | refused"),
            ("tool Write", "allow R21"),
            ("ask judge call B", "allow R10 | admitted d2 judge"),
            ("tool Edit by w2 judge", "refuse R20 | began d2 w2, refused"),
            ("tool Read by w2 judge", "allow R21 | worked d2"),
        ],
    );
    // A worker is held by the stage that it works for, wherever the run is meanwhile.
    told(
        FLOW,
        &before,
        &[
            ("ask judge call B", "allow R10 | admitted d2 judge"),
            ("begins w2 judge", "done R41 | began d2 w2"),
            (
                "person: skip rework",
                "done R67 | overridden rework, to writing",
            ),
            ("tool Edit by w2 judge", "refuse R20 | refused"),
            ("tool Edit", "allow R21"),
        ],
    );
}

#[test]
fn a_worker_that_is_denied_agents_calls_none_and_the_session_still_calls_it() {
    for (denied, nested) in [
        ("Agent", "refuse R20 | refused"),
        ("Task", "refuse R20 | refused"),
        ("Ag*", "refuse R20 | refused"),
        ("Edit", "allow R10 | worked d1, admitted d2 helper-one"),
    ] {
        let text = format!("stop         = \"hold\"\ntools.deny   = [\"{denied}\"]");
        let open = OPEN.replacen("stop         = \"hold\"", &text, 1);
        check(
            &open,
            &[
                ("ask scout", "allow R10 | admitted d1 scout"),
                ("begins w1 scout", "done R41 | began d1 w1"),
                ("ask helper-one by w1 scout", nested),
            ],
        );
    }
}
