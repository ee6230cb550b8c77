//! Views: what somebody does to their files changes nothing, but for the one that is a stop.

use crate::guarded::pipelines::FLOW;
use crate::guarded::told::check;

#[test]
fn a_view_that_was_edited_or_removed_is_noted_and_nothing_changes() {
    for line in [
        "engine: view edited",
        "engine: view removed",
        "engine: view edited stops",
    ] {
        check(
            FLOW,
            &[
                (line, "done R103 | noted"),
                ("# in writing, running", ""),
                (
                    "ask alpha-writer call c1",
                    "allow R10 | admitted d1 alpha-writer",
                ),
            ],
        );
    }
}

#[test]
fn a_removed_stop_keeps_everybody_until_a_person_goes_on() {
    check(
        FLOW,
        &[
            ("engine: view removed stops", "done R104 | halted"),
            ("# in writing, waiting", ""),
            ("ask alpha-writer call c1", "refuse R17 | refused"),
            ("stop", "allow R90"),
            ("person: retry", "refuse R70 | refused"),
            ("s1: answer continue", "refuse R66 | refused"),
            // A second sign adds nothing.
            ("engine: view removed stops", "done R103 | noted"),
            ("person: answer continue", "done R75 | continued"),
            ("# in writing, running", ""),
            (
                "ask alpha-writer call c2",
                "allow R10 | admitted d1 alpha-writer",
            ),
        ],
    );
}

#[test]
fn work_that_was_under_way_ends_and_leads_on_and_nothing_begins() {
    check(
        FLOW,
        &[
            (
                "ask alpha-writer call c1",
                "allow R10 | admitted d1 alpha-writer",
            ),
            ("begins w1 alpha-writer", "done R41 | began d1 w1"),
            ("tool Write by w1 alpha-writer", "allow R21 | worked d1"),
            ("engine: view removed stops", "done R104 | halted"),
            ("lay draft 1", ""),
            (
                "stopping w1",
                "done R32 | captured draft, ended d1 done, to judging",
            ),
            ("# in judging, waiting", ""),
            ("ask judge call c2", "refuse R17 | refused"),
            ("person: answer continue", "done R75 | continued"),
            ("ask judge call c3", "allow R10 | admitted d2 judge"),
        ],
    );
}

#[test]
fn a_stopped_run_can_be_reset_and_cancelled() {
    for (line, came, place) in [
        ("person: reset", "done R72 | reset", "# in writing, running"),
        (
            "person: cancel",
            "done R71 | cancelled",
            "# in writing, cancelled",
        ),
    ] {
        check(
            FLOW,
            &[
                ("engine: view removed stops", "done R104 | halted"),
                (line, came),
                (place, ""),
            ],
        );
    }
}

#[test]
fn a_run_that_is_over_is_not_stopped() {
    check(
        FLOW,
        &[
            ("person: cancel", "done R71 | cancelled"),
            ("engine: view removed stops", "done R103 | noted"),
            ("# in writing, cancelled", ""),
        ],
    );
}
