//! The picture of one pipeline: what is a box, what is a chip, and what a run adds.

use std::fmt::Write as _;

use engine::{Entry, Fact, Move, MoveReason, Rule, Run, Who};
use expect_test::expect;

use super::example::{START, definition, pipeline, run_in, stage_name};
use crate::picture::{Picture, RunMarks, StageProgress, page};

/// The picture in words, without its places.
fn told(picture: &Picture) -> String {
    let mut told = String::new();
    for boxed in &picture.boxes {
        let what = if boxed.is_folded { "card" } else { "box" };
        let _ = writeln!(told, "{what} {}", boxed.stage);
        for chip in &boxed.chips {
            let _ = writeln!(told, "  chip {}", chip.text.text);
        }
    }
    for line in &picture.lines {
        let dashed = if line.is_dashed { " (dashed)" } else { "" };
        let main = if line.is_main { " (main)" } else { "" };
        let ways = line.ways.join(", ");
        let _ = writeln!(told, "{} → {}: {ways}{dashed}{main}", line.from, line.to);
    }
    told
}

#[test]
fn the_main_way_is_boxes_and_escalations_are_chips() {
    expect![[r#"
        box gathering
        box planning
          chip unclear ⚑ clarifying
        box approving
          chip replans > 3 ⚑ escalate
        box building
          chip failed ⚑ escalate
        box validating
          chip fixes > 2 ⚑ escalate
        box debugging
        box linting
          chip fixes > 2 ⚑ escalate
        box reviewing
          chip exceeded, needs_clari… ⚑ escalate
        box tidying
          chip done · by finish ■ abandoned
        box complete
        card clarifying
        card escalate
        card abandoned
        card broken
        gathering → planning: finish, after gatherer (main)
        planning → approving: done (main)
        approving → planning: no · replans ≤ 3
        approving → building: yes · approves plan (main)
        building → validating: done (main)
        validating → debugging: failed · fixes ≤ 2
        validating → linting: passed (main)
        debugging → validating: done
        linting → debugging: failed · fixes ≤ 2
        linting → reviewing: passed (main)
        reviewing → tidying: approved (main)
        tidying → complete: done · by finish (main)
        complete → planning: after gatherer
    "#]]
    .assert_eq(&told(&Picture::of(&pipeline(), None)));
}

fn moved(from: &str, to: &str) -> Entry {
    Entry {
        at: START,
        by: Who::Person("ann".to_owned()),
        rule: Rule::OutcomeTaken,
        fact: Fact::Moved(Box::new(Move {
            from: stage_name(from),
            outcome: "done".to_owned(),
            to: stage_name(to),
            along: MoveReason::Edge,
            counted: None,
            reset: Vec::new(),
            resume: None,
        })),
    }
}

fn looped() -> (Run, Vec<Entry>) {
    let stages = [
        "gathering",
        "planning",
        "clarifying",
        "planning",
        "approving",
        "building",
        "validating",
        "linting",
        "debugging",
        "validating",
        "linting",
    ];
    let moves = stages.windows(2).map(|pair| moved(pair[0], pair[1]));
    (run_in("linting"), moves.collect())
}

#[test]
fn a_run_shows_where_it_is_and_which_ways_it_took() {
    let (run, entries) = looped();
    let picture = Picture::of(&pipeline(), Some(&RunMarks::of_journal(&run, &entries)));
    let progress = |stage: &str| {
        let mut boxes = picture.boxes.iter();
        boxes
            .find(|boxed| boxed.stage.as_str() == stage)
            .unwrap()
            .progress
    };
    assert_eq!(progress("linting"), StageProgress::Here);
    assert_eq!(progress("validating"), StageProgress::Passed);
    assert_eq!(progress("clarifying"), StageProgress::Passed);
    assert_eq!(progress("reviewing"), StageProgress::Ahead);
    assert_eq!(progress("escalate"), StageProgress::Ahead);
    let taken = |from: &str, to: &str| {
        let mut lines = picture.lines.iter();
        let line = lines.find(|line| line.from.as_str() == from && line.to.as_str() == to);
        line.unwrap().taken
    };
    assert_eq!(taken("validating", "linting"), 2);
    assert_eq!(taken("linting", "debugging"), 1);
    assert_eq!(taken("linting", "reviewing"), 0);
    let planning = picture
        .boxes
        .iter()
        .find(|boxed| boxed.stage.as_str() == "planning");
    let chips: Vec<u32> = planning
        .unwrap()
        .chips
        .iter()
        .map(|chip| chip.taken)
        .collect();
    assert_eq!(chips, [1]);
}

#[test]
fn counts_stand_on_the_loops_of_a_run() {
    let mut run = run_in("linting");
    run.counters
        .insert(super::example::counter_name("fixes"), 1);
    let svg = Picture::of(&pipeline(), Some(&RunMarks::of_place(&run))).svg();
    assert!(svg.contains(">fixes 1/2<"), "{svg}");
    let plain = Picture::of(&pipeline(), None).svg();
    assert!(
        plain.contains(">fixes ≤ 2<") && !plain.contains("fixes 1/2"),
        "{plain}"
    );
}

/// A word and a symbol mark the place, not colour alone.
#[test]
fn the_present_place_is_marked_once() {
    for stage in &definition().stages {
        let run = run_in(stage.name.as_str());
        let svg = Picture::of(&pipeline(), Some(&RunMarks::of_place(&run))).svg();
        assert_eq!(svg.matches(">here: ").count(), 1, "{svg}");
        assert_eq!(
            svg.matches(">● ").count(),
            2,
            "the stage and the legend: {svg}"
        );
    }
}

#[test]
fn a_page_stands_alone() {
    let run = run_in("linting");
    let page = page(&pipeline(), Some(&RunMarks::of_place(&run)));
    assert!(
        page.contains("<strong>linting</strong> (running)"),
        "{page}"
    );
    assert!(page.contains(&Picture::of(&pipeline(), Some(&RunMarks::of_place(&run))).svg()));
    let elsewhere = page.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
    for word in [
        "http:", "https:", "<script", "src=", "href=", " id=", "style=\"",
    ] {
        assert!(!elsewhere.contains(word), "{word}");
    }
}

#[test]
fn a_page_of_many_pictures_brings_the_style_once() {
    let picture = Picture::of(&pipeline(), None);
    assert_eq!(picture.svg().matches("<style>").count(), 1);
    assert_eq!(picture.svg_without_style().matches("<style>").count(), 0);
}
