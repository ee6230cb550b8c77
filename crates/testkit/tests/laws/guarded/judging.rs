//! What a worker left decides: sent back, missing, hollow, strayed, old, and words outside the set.

use crate::guarded::pipelines::{FLOW, PANEL, WAVES};
use crate::guarded::told::check;

const ASKED: (&str, &str) = (
    "ask alpha-writer call A",
    "allow R10 | admitted d1 alpha-writer",
);
const BEGUN: (&str, &str) = ("begins w1 alpha-writer", "done R41 | began d1 w1");
const USED: (&str, &str) = ("tool Write by w1 alpha-writer", "allow R21 | worked d1");
const WRITTEN: (&str, &str) = (
    "stopping w1",
    "done R32 | captured draft, ended d1 done, to judging",
);

/// The draft is written, and the judge is at work.
fn judging<'a>(lines: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let before = [
        ASKED,
        BEGUN,
        USED,
        ("lay draft 1", ""),
        WRITTEN,
        ("ask judge call B", "allow R10 | admitted d2 judge"),
        ("begins w2 judge", "done R41 | began d2 w2"),
        ("tool Read by w2 judge", "allow R21 | worked d2"),
    ];
    before.into_iter().chain(lines.iter().copied()).collect()
}

#[test]
fn a_worker_without_its_artifact_is_sent_back_twice() {
    check(
        FLOW,
        &[
            ASKED,
            BEGUN,
            USED,
            ("stopping w1", "hold R34 | sent back d1"),
            ("spoil draft 1", ""),
            ("stopping w1", "hold R34 | sent back d1"),
            (
                "stopping w1",
                "refuse R34 | ended d1 missing, retried missing",
            ),
            (
                "ask alpha-writer call B",
                "allow R10 | admitted d2 alpha-writer",
            ),
        ],
    );
    check(
        FLOW,
        &[
            ASKED,
            BEGUN,
            USED,
            ("stopping w1", "hold R34 | sent back d1"),
            ("lay draft 1", ""),
            WRITTEN,
        ],
    );
}

#[test]
fn a_worker_that_has_ended_is_not_sent_back() {
    check(
        FLOW,
        &[
            ASKED,
            BEGUN,
            USED,
            ("stopping w1", "hold R34 | sent back d1"),
            // The host let it end all the same.
            (
                "returned call A tools 1 w1",
                "refuse R34 | ended d1 missing, retried missing",
            ),
        ],
    );
}

#[test]
fn three_attempts_in_vain_wait_for_a_person() {
    check(
        FLOW,
        &[
            (
                "ask alpha-writer call A",
                "allow R10 | admitted d1 alpha-writer",
            ),
            (
                "failed call A",
                "refuse R37 | ended d1 crashed, retried crashed",
            ),
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
                "refuse R37 | ended d3 crashed, stuck crashed",
            ),
            ("ask alpha-writer call D", "refuse R17 | refused"),
            ("stop", "allow R90"),
            ("# in writing, waiting", ""),
            ("typed: retry", "done R69 | unstuck"),
            (
                "ask alpha-writer call E",
                "allow R10 | admitted d4 alpha-writer",
            ),
        ],
    );
}

#[test]
fn a_hollow_worker_is_not_sent_back() {
    check(
        FLOW,
        &[
            ASKED,
            BEGUN,
            (
                "stopping w1",
                "refuse R36 | ended d1 hollow, retried hollow",
            ),
        ],
    );
    // What lay there before is nothing that it left.
    check(
        FLOW,
        &[
            ("lay draft 1", ""),
            ASKED,
            BEGUN,
            (
                "stopping w1",
                "refuse R36 | ended d1 hollow, retried hollow",
            ),
        ],
    );
    // A file that it cannot have written is somebody else's, whatever is in it.
    check(
        FLOW,
        &[
            ASKED,
            BEGUN,
            ("lay draft 1", ""),
            (
                "stopping w1",
                "refuse R36 | ended d1 hollow, retried hollow",
            ),
        ],
    );
    // The host counted tools that we did not see.
    check(
        FLOW,
        &[
            ASKED,
            BEGUN,
            ("lay draft 1", ""),
            (
                "returned call A tools 1 w1",
                "done R32 | captured draft, ended d1 done, to judging",
            ),
        ],
    );
    // A reply needs no tool.
    let replies = FLOW.replace(
        "path   = \"out/draft.md\"\nformat = \"text\"",
        "from = \"reply\"",
    );
    check(&replies, &[ASKED, BEGUN, ("lay draft 1", ""), WRITTEN]);
}

#[test]
fn a_worker_is_seen_to_work_once() {
    check(
        FLOW,
        &[
            ASKED,
            BEGUN,
            USED,
            ("tool Write by w1 alpha-writer", "allow R21"),
            ("tool Bash by w1 alpha-writer", "allow R21"),
        ],
    );
    // What is refused is not work.
    check(
        FLOW,
        &[
            ASKED,
            BEGUN,
            (
                "tool Write by w1 alpha-writer touches state",
                "refuse R23 | refused",
            ),
            (
                "stopping w1",
                "refuse R36 | ended d1 hollow, retried hollow",
            ),
        ],
    );
}

#[test]
fn an_old_artifact_is_none() {
    check(
        FLOW,
        &[
            ("lay draft 1", ""),
            ASKED,
            BEGUN,
            USED,
            ("stopping w1", "hold R35 | sent back d1"),
            ("lay draft 2", ""),
            WRITTEN,
        ],
    );
    check(
        FLOW,
        &judging(&[
            ("lay verdict 1 REWORK", ""),
            (
                "stopping w2",
                "done R32 | captured verdict, ended d2 rework, to writing",
            ),
            // The draft of the first attempt lies there still.
            (
                "ask alpha-writer call C",
                "allow R10 | admitted d3 alpha-writer",
            ),
            ("begins w3 alpha-writer", "done R41 | began d3 w3"),
            ("tool Read by w3 alpha-writer", "allow R21 | worked d3"),
            ("stopping w3", "hold R35 | sent back d3"),
            // A worker that writes the same once more has written it.
            ("rewrite draft", ""),
            (
                "stopping w3",
                "done R32 | captured draft, ended d3 done, to judging",
            ),
        ]),
    );
}

#[test]
fn a_file_written_again_by_nobody_at_work_is_hollow() {
    check(
        FLOW,
        &[
            ("lay draft 1", ""),
            ASKED,
            BEGUN,
            ("rewrite draft", ""),
            (
                "stopping w1",
                "refuse R36 | ended d1 hollow, retried hollow",
            ),
        ],
    );
}

#[test]
fn a_word_outside_the_closed_set_is_no_verdict() {
    for word in [
        "NOT APPROVED",
        "approved",
        "APPROVED.",
        "Approved",
        "LGTM",
        "not REWORK",
    ] {
        let laid = format!("lay verdict 1 {word}");
        check(
            FLOW,
            &judging(&[
                (&laid, ""),
                ("stopping w2", "hold R33 | sent back d2"),
                ("stopping w2", "hold R33 | sent back d2"),
                (
                    "stopping w2",
                    "refuse R33 | ended d2 missing, retried missing",
                ),
                ("# in judging, running", ""),
            ]),
        );
    }
    // No word at all.
    check(
        FLOW,
        &judging(&[
            ("lay verdict 1", ""),
            ("stopping w2", "hold R33 | sent back d2"),
        ]),
    );
    check(
        FLOW,
        &judging(&[
            ("lay verdict 1 APPROVED", ""),
            (
                "stopping w2",
                "done R32 | captured verdict, ended d2 approved, gate judging, to over",
            ),
            ("# in over, completed", ""),
        ]),
    );
}

#[test]
fn a_worker_that_strayed_is_told_at_once_and_sent_back() {
    check(
        FLOW,
        &judging(&[
            ("used by w2 judge", "done R21"),
            ("edit src/main.rs", ""),
            ("used by w2 judge", "refuse R38"),
            ("lay verdict 1 APPROVED", ""),
            ("stopping w2", "hold R38 | sent back d2"),
            ("put back src/main.rs", ""),
            ("used by w2 judge", "done R21"),
            (
                "stopping w2",
                "done R32 | captured verdict, ended d2 approved, gate judging, to over",
            ),
        ]),
    );
    check(
        FLOW,
        &judging(&[
            ("edit src/main.rs", ""),
            ("lay verdict 1 APPROVED", ""),
            ("stopping w2", "hold R38 | sent back d2"),
            ("stopping w2", "hold R38 | sent back d2"),
            (
                "stopping w2",
                "refuse R38 | ended d2 strayed, retried strayed",
            ),
        ]),
    );
    // A stage that restricts nothing compares nothing, and neither does the session's own tool.
    check(
        FLOW,
        &[
            ASKED,
            BEGUN,
            ("edit src/main.rs", ""),
            ("used by w1 alpha-writer", "done R21"),
            ("used", "done R21"),
            ("used by w9 alpha-writer", "done R21"),
        ],
    );
}

#[test]
fn a_step_spends_its_own_attempts() {
    check(
        WAVES,
        &[
            ("ask builder call A step a", "allow R10 | admitted d1 a"),
            ("begins w1 builder", "done R41 | began d1 w1"),
            ("ask builder call B step b", "allow R10 | admitted d2 b"),
            (
                "failed call B",
                "refuse R37 | ended d2 crashed, retried b crashed",
            ),
            ("tool Write by w1 builder", "allow R21 | worked d1"),
            ("lay report@a 1", ""),
            ("stopping w1", "done R32 | captured report, ended d1 done"),
        ],
    );
}

#[test]
fn a_reviewer_is_sent_back_for_its_verdict_and_not_for_another_tree() {
    let at_work = [
        ("ask judge call A", "allow R10 | admitted d1 judge"),
        ("begins w1 judge", "done R41 | began d1 w1"),
        ("tool Read by w1 judge", "allow R21 | worked d1"),
    ];
    let told = |lines: &[(&'static str, &'static str)]| {
        let lines: Vec<_> = at_work.iter().chain(lines).copied().collect();
        check(PANEL, &lines);
    };
    told(&[
        ("stopping w1", "hold R34 | sent back d1"),
        ("lay one 1 approved", ""),
        (
            "stopping w1",
            "done R32 | captured one, ended d1 approved, reviewer approved",
        ),
        ("ask critic call B", "allow R10 | admitted d2 critic"),
    ]);
    told(&[
        ("lay one 1 approved", ""),
        ("edit src/main.rs", ""),
        (
            "stopping w1",
            "refuse R54 | captured one, ended d1 strayed, retried strayed",
        ),
    ]);
}

/// An older version kept no list of files for a review. Nobody can name the paths, and nothing passes by that.
#[test]
fn work_whose_list_of_files_is_lost_ends_and_does_not_pass() {
    check(
        FLOW,
        &judging(&[
            ("lists are lost", ""),
            ("lay verdict 1 APPROVED", ""),
            ("edit src/main.rs", ""),
            ("used by w2 judge", "refuse R38"),
            ("stopping w2", "hold R38 | sent back d2"),
            ("stopping w2", "hold R38 | sent back d2"),
            (
                "stopping w2",
                "refuse R38 | ended d2 strayed, retried strayed",
            ),
        ]),
    );
    check(
        FLOW,
        &judging(&[
            ("lists are lost", ""),
            ("lay verdict 1 APPROVED", ""),
            (
                "stopping w2",
                "done R32 | captured verdict, ended d2 approved, gate judging, to over",
            ),
        ]),
    );
    let review = |place: &'static str, ends: &[(&'static str, &'static str)]| {
        let before = [
            (place, ""),
            ("lists are lost", ""),
            ("ask judge call A", "allow R10 | admitted d1 judge"),
            ("begins w1 judge", "done R41 | began d1 w1"),
            ("tool Read by w1 judge", "allow R21 | worked d1"),
            ("lay one 1 approved", ""),
            ("edit src/main.rs", ""),
        ];
        let lines: Vec<_> = before.iter().chain(ends).copied().collect();
        check(PANEL, &lines);
    };
    review(
        "wait 0",
        &[(
            "stopping w1",
            "refuse R54 | captured one, ended d1 strayed, retried strayed",
        )],
    );
    // Only undoing helps, as the next review is compared with the same files.
    review(
        "on a branch",
        &[
            ("stopping w1", "hold R38 | sent back d1"),
            ("put back src/main.rs", ""),
            (
                "stopping w1",
                "done R32 | captured one, ended d1 approved, reviewer approved",
            ),
        ],
    );
}
