//! What a worker is given to read: files that were captured can be changed, and that is noted.

use crate::guarded::pipelines::{FLOW, WAVES};
use crate::guarded::told::check;

/// The judge reads the draft that the writer left.
fn judged() -> String {
    FLOW.replace(
        "agent       = \"judge\"",
        "agent       = \"judge\"\nreads       = [\"draft\"]",
    )
}

/// The story up to the moment at which the draft was captured.
const WRITTEN: [(&str, &str); 5] = [
    ("ask alpha-writer", "allow R10 | admitted d1 alpha-writer"),
    ("begins w1 alpha-writer", "done R41 | began d1 w1"),
    ("tool Write by w1 alpha-writer", "allow R21 | worked d1"),
    ("lay draft 10", ""),
    (
        "stopping w1",
        "done R32 | captured draft, ended d1 done, to judging",
    ),
];

#[test]
fn a_file_that_was_changed_after_its_capture_is_noted_when_its_reader_is_admitted() {
    for (change, expected) in [
        ("wait 1", "allow R10 | admitted d2 judge"),
        ("lay draft 10", "allow R10 | admitted d2 judge"),
        ("lay draft 11", "allow R10 | admitted d2 judge, noted"),
        ("spoil draft 12", "allow R10 | admitted d2 judge, noted"),
        ("remove draft", "allow R10 | admitted d2 judge, noted"),
    ] {
        let lines = WRITTEN.into_iter();
        let story: Vec<_> = lines
            .chain([(change, ""), ("ask judge", expected)])
            .collect();
        check(&judged(), &story);
    }
}

#[test]
fn what_an_earlier_attempt_left_half_done_is_nobody_s_change() {
    let own = FLOW.replace(
        "agent   = \"alpha-writer\"",
        "agent   = \"alpha-writer\"\nreads   = [\"draft?\"]",
    );
    let lines = WRITTEN.into_iter().chain([
        ("ask judge", "allow R10 | admitted d2 judge"),
        ("begins w2 judge", "done R41 | began d2 w2"),
        ("tool Write by w2 judge", "allow R21 | worked d2"),
        ("lay verdict 20 REWORK", ""),
        (
            "stopping w2",
            "done R32 | captured verdict, ended d2 rework, to writing",
        ),
        ("lay draft 11", ""),
        ("ask alpha-writer", "allow R10 | admitted d3 alpha-writer"),
    ]);
    check(&own, &lines.collect::<Vec<_>>());
}

#[test]
fn what_needed_steps_left_is_compared_step_by_step() {
    let done = |id: &str| {
        [
            format!("ask builder step {id}"),
            format!("begins w{id} builder"),
            format!("tool Write by w{id} builder"),
            format!("lay report@{id} 10"),
            format!("stopping w{id}"),
        ]
    };
    let (a, b) = (done("a"), done("b"));
    let told = |number: u32, id: &str| {
        [
            format!("allow R10 | admitted d{number} {id}"),
            format!("done R41 | began d{number} w{id}"),
            format!("allow R21 | worked d{number}"),
            String::new(),
            format!("done R32 | captured report, ended d{number} done"),
        ]
    };
    let (told_a, told_b) = (told(1, "a"), told(2, "b"));
    let lines = a.iter().zip(&told_a).chain(b.iter().zip(&told_b));
    let lines = lines.map(|(line, told)| (line.as_str(), told.as_str()));
    for (change, expected) in [
        ("wait 1", "allow R10 | admitted d3 c"),
        ("lay report@a 11", "allow R10 | admitted d3 c, noted"),
    ] {
        let end = [(change, ""), ("ask tester", expected)];
        let story: Vec<_> = lines.clone().chain(end).collect();
        check(WAVES, &story);
    }
}
