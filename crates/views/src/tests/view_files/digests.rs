//! A digest that was kept tells the same as one that hears everything at once.

use engine::{Entry, Hash, Pipeline, Run, ViewFormat};

use super::{builtin, contents, viewed};
use crate::digest::JournalDigest;
use crate::file::{ViewContent, file};
use crate::pipeline_state::keep_replies;
use crate::test_random::TestRandom;
use crate::tests::example::hash;
use crate::tests::play::{Play, whole_story};
use crate::view_input::ViewInput;

/// Hears decision by decision, each time as one who has only read what was kept.
fn piecemeal(play: &Play) -> (JournalDigest, String) {
    let pipeline = viewed(&play.pipeline);
    let entries: Vec<(u64, &Entry)> = (1..).zip(&play.entries).collect();
    let (mut digest, mut log) = (JournalDigest::default(), String::new());
    for decision in &play.decisions {
        log.push_str(&digest.update(&pipeline, &entries[decision.clone()]));
        digest = JournalDigest::read(&digest.text()).unwrap();
    }
    (digest, log)
}

/// How many rows `pipeline-state` has.
fn rows(digest: &JournalDigest) -> usize {
    digest.state_rows.text().lines().count()
}

#[test]
fn what_was_kept_tells_the_same_as_the_whole_journal() {
    let play = whole_story();
    let pipeline = viewed(&play.pipeline);
    let entries: Vec<(u64, &Entry)> = (1..).zip(&play.entries).collect();
    let mut whole = JournalDigest::default();
    let log = whole.update(&pipeline, &entries);
    let (kept, lines) = piecemeal(&play);
    assert_eq!(lines, log);
    assert_eq!(kept.text(), whole.text());
    assert_eq!(kept.version, 52);
    assert_eq!((rows(&kept), kept.log.len()), (13, 14));
}

#[test]
fn lists_do_not_grow_without_end() {
    let mut play = Play::begin();
    let (mut digest, mut heard) = (JournalDigest::default(), 0);
    let pipeline = viewed(&play.pipeline);
    for _ in 0..6 {
        for _ in 0..50 {
            play.minute = play.minute.min(200);
            play.report("bash-x", &[]);
        }
        let new: Vec<(u64, &Entry)> = (1..).zip(&play.entries).skip(heard).collect();
        heard += new.len();
        digest.update(&pipeline, &new);
    }
    assert_eq!((rows(&digest), digest.log.len()), (200, 200));
    assert!(digest.text().len() < 80_000);
}

#[test]
fn what_is_no_chronicle_is_not_read() {
    let text = whole_story();
    let (kept, _) = piecemeal(&text);
    let good = kept.text();
    assert!(JournalDigest::read(&good).is_some());
    let mut random = TestRandom::new(5);
    for bad in ["", "{}", "[]", "null", "{\"version\": -1}"] {
        assert_eq!(JournalDigest::read(bad), None, "{bad}");
    }
    for _ in 0..500 {
        let _ = JournalDigest::read(&random.hostile_text(60));
    }
}

#[test]
fn a_part_of_the_rows_does_not_pass_for_all() {
    let (kept, _) = piecemeal(&whole_story());
    let good = kept.text();
    assert!(good.ends_with(kept.state_rows.text()));
    for length in good.len() - kept.state_rows.text().len()..good.len() {
        assert_eq!(JournalDigest::read(&good[..length]), None, "{length}");
    }
}

fn pipeline_state(
    pipeline: &Pipeline,
    run: &Run,
    digest: &JournalDigest,
    contents: &dyn Fn(&Hash) -> Option<String>,
) -> String {
    let input = ViewInput {
        pipeline,
        run,
        digest,
        builtin: &builtin::builtin,
        entries: &[],
        project: "/home/ann/web",
        contents,
    };
    match file(&ViewFormat::PipelineState, &input).unwrap() {
        ViewContent::Text(text) => text,
        ViewContent::Log => panic!("it is written whole"),
    }
}

#[test]
fn replies_are_read_once_and_again_when_they_are_others() {
    let play = whole_story();
    let pipeline = viewed(&play.pipeline);
    let (mut digest, _) = piecemeal(&play);
    let expected = pipeline_state(&pipeline, &play.run, &digest, &contents);
    assert!(expected.contains("the site has two hosts"));
    // What cannot be read now is not remembered as a reply without a text.
    keep_replies(&mut digest, &pipeline, &play.run, &|_| None);
    assert_eq!(digest.replies.of, None);
    keep_replies(&mut digest, &pipeline, &play.run, &contents);
    let kept = JournalDigest::read(&digest.text()).unwrap();
    assert_eq!(kept, digest);
    let never = |_: &Hash| panic!("it was read already");
    keep_replies(&mut digest, &pipeline, &play.run, &never);
    assert_eq!(
        pipeline_state(&pipeline, &play.run, &kept, &never),
        expected
    );
    let mut later = play.run.clone();
    for captured in later.artifacts.values_mut() {
        captured.content = hash(0x05);
    }
    let other = pipeline_state(&pipeline, &later, &kept, &contents);
    assert!(other.contains("tasks are there"), "{other}");
    keep_replies(&mut digest, &pipeline, &later, &contents);
    assert_eq!(pipeline_state(&pipeline, &later, &digest, &never), other);
}

#[test]
fn a_part_of_the_replies_does_not_pass_for_all() {
    let play = whole_story();
    let pipeline = viewed(&play.pipeline);
    let mut digest = JournalDigest::default();
    keep_replies(&mut digest, &pipeline, &play.run, &contents);
    let good = digest.text();
    assert!(good.ends_with(&digest.replies.text));
    for length in good.len() - digest.replies.text.len()..good.len() {
        assert_eq!(JournalDigest::read(&good[..length]), None, "{length}");
    }
}
