//! Work that no hook guarded: it marks the run, and a person has the last word.

use crate::guarded::pipelines::FLOW;
use crate::guarded::told::{check, tell};

type Line = (&'static str, &'static str);

const SEEN: Line = (
    "engine: unguarded two calls of Bash",
    "done R107 | unguarded",
);

/// The draft is written, and these lines come in the middle of it.
fn approved(middle: &[Line], came: &'static str) -> Vec<Line> {
    let mut story = vec![
        (
            "ask alpha-writer call A",
            "allow R10 | admitted d1 alpha-writer",
        ),
        ("begins w1 alpha-writer", "done R41 | began d1 w1"),
        ("tool Write by w1 alpha-writer", "allow R21 | worked d1"),
        ("lay draft 1", ""),
        (
            "stopping w1",
            "done R32 | captured draft, ended d1 done, to judging",
        ),
    ];
    story.extend(middle);
    story.extend([
        ("ask judge call B", "allow R10 | admitted d2 judge"),
        ("begins w2 judge", "done R41 | began d2 w2"),
        ("tool Write by w2 judge", "allow R21 | worked d2"),
        ("lay verdict 2 APPROVED", ""),
        ("stopping w2", came),
    ]);
    story
}

const WITHHELD: &str =
    "done R32 | captured verdict, ended d2 approved, gate judging, to over, halted";
const COMPLETED: &str = "done R32 | captured verdict, ended d2 approved, gate judging, to over";

#[test]
fn a_run_with_unguarded_work_completes_only_with_a_persons_word() {
    let mut story = approved(&[SEEN], WITHHELD);
    story.extend([
        ("# in over, waiting", ""),
        ("stop", "allow R90"),
        ("prompt", "done R95"),
        ("model: answer continue", "refuse R66 | refused"),
        ("s1: answer continue", "refuse R66 | refused"),
        ("# in over, waiting", ""),
        (
            "person: answer continue",
            "done R75 | accepted unguarded, continued",
        ),
        ("# in over, completed", ""),
    ]);
    check(FLOW, &story);
    check(FLOW, &approved(&[], COMPLETED));
}

#[test]
fn a_person_may_accept_it_at_any_time() {
    let accepted = ("person: answer continue", "done R108 | accepted unguarded");
    let nothing = ("person: answer continue", "refuse R76 | refused");
    check(FLOW, &approved(&[SEEN, accepted, nothing], COMPLETED));
    // What is found later needs another word.
    check(FLOW, &approved(&[SEEN, accepted, SEEN], WITHHELD));
}

#[test]
fn what_is_found_while_the_run_waits_needs_its_own_word() {
    let mut story = approved(&[SEEN], WITHHELD);
    story.extend([
        SEEN,
        ("person: answer continue", "done R75 | continued, halted"),
        ("# in over, waiting", ""),
        (
            "person: answer continue",
            "done R75 | accepted unguarded, continued",
        ),
        ("# in over, completed", ""),
    ]);
    check(FLOW, &story);
}

#[test]
fn files_that_change_while_the_run_waits_lead_back_to_the_gate() {
    let mut story = approved(&[SEEN], WITHHELD);
    story.extend([
        ("edit src/main.rs", ""),
        (
            "person: answer continue",
            "done R75 | accepted unguarded, continued, to judging",
        ),
        ("# in judging, running", ""),
    ]);
    check(FLOW, &story);
}

#[test]
fn a_reset_begins_anew_and_the_mark_stays() {
    let mut story = vec![SEEN, ("person: reset", "done R72 | reset")];
    story.extend(approved(&[], COMPLETED));
    let world = tell(FLOW, &story, &engine::decide).unwrap();
    assert_eq!(world.run.unguarded.len(), 1);
}

#[test]
fn what_is_not_enforced_keeps_nothing_from_completing() {
    let bypass = ("person: bypass 60", "done R78 | bypassed");
    check(FLOW, &approved(&[SEEN, bypass], COMPLETED));
}

#[test]
fn a_session_that_comes_back_answers_for_the_time_between() {
    let since = |story: &[Line]| {
        let world = tell(FLOW, story, &engine::decide).unwrap();
        world.run.session.unwrap().since.unwrap().0
    };
    let left = [
        ("wait 5", ""),
        ("leaves", "done R02 | detached s1"),
        ("wait 5", ""),
    ];
    let again = ("arrives process 200", "inject R02 | attached s1");
    let other = ("s2: arrives process 200", "inject R02 | attached s2");
    assert_eq!(since(&[]), 0);
    assert_eq!(since(&[&left[..], &[again]].concat()), 0);
    assert_eq!(since(&[&left[..], &[other]].concat()), 10_000);
    let reset = ("person: reset", "done R72 | reset");
    assert_eq!(since(&[&left[..], &[again, reset]].concat()), 10_000);
}
