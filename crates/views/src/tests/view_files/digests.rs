//! A digest that was kept tells the same as one that hears everything at once.

use engine::Entry;

use super::viewed;
use crate::digest::JournalDigest;
use crate::test_random::TestRandom;
use crate::tests::play::{Play, whole_story};

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
