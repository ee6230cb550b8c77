//! What a person sees with a question that follows a review, in runs through the real engine.

use std::collections::BTreeMap;

use engine::*;

use super::example::*;
use super::play::Play;
use crate::next::{NextView, ShownText};
use crate::{Paint, next};

const OBJECTS: &str = "CHANGE";
const APPROVES: &str = "OK";
const UNSURE: &str = "WHAT";

/// The review of the example is all there is to do, in two rounds, and leads to a question.
fn reviewing(change: impl FnOnce(&mut ReviewWork)) -> Play {
    let mut definition = definition();
    definition.start = stage_name("reviewing");
    let asks = (UNSURE.to_owned(), Outcome::NeedsClarification);
    let verdict = definition
        .artifacts
        .get_mut(&artifact_name("first_verdict"));
    let field = verdict.unwrap().outcome.as_mut().unwrap();
    field.values.extend([asks]);
    let mut stages = definition.stages.iter_mut();
    let stage = stages
        .find(|it| it.name == definition.start)
        .expect("it is there");
    stage.on.insert(Outcome::Approved, to("escalate"));
    let Work::Review(work) = &mut stage.work else {
        unreachable!()
    };
    work.rounds = Amount::Fixed(2);
    work.reads = Reads::default();
    work.panel[1].last_word = false;
    work.panel[1].settings = WorkerSettings::default();
    change(work);
    Play::of(Pipeline::from_cache(definition))
}

fn first(play: &mut Play, word: &str) {
    play.report("code-reviewer", &[("first_verdict", Some(word))]);
}

fn second(play: &mut Play, word: &str) {
    play.report("codex-reviewer", &[("second_verdict", Some(word))]);
}

fn fix(play: &mut Play) {
    play.report("debugger", &[("fixed", None)]);
}

/// One round in which both object, and the owner fixes what each found.
fn both_object(play: &mut Play) {
    first(play, OBJECTS);
    fix(play);
    second(play, OBJECTS);
    fix(play);
}

fn view(play: &Play) -> NextView {
    let legal = engine::next(&play.pipeline, &play.run);
    next(&play.pipeline, &play.run, &legal)
}

/// What the question shows, as long as it is the latest copy of each.
#[track_caller]
fn shows(play: &Play, titles: &[&str]) {
    play.stands_in("escalate");
    let view = view(play);
    let shown: Vec<String> = view.about.iter().map(|it| it.title()).collect();
    assert_eq!(shown, titles);
    for shown in &view.about {
        let latest = play.run.artifacts.get(&shown.name).map(|it| it.content);
        assert_eq!(shown.content, latest, "{}", shown.name);
        let command = format!("gatewright export r-7f3 --artifact {}", shown.name);
        assert_eq!(shown.shown_by, Some(command));
    }
}

const FIRST_OBJECTS: &str = "first_verdict, from 'code-reviewer' (needs_changes)";
const FIRST_APPROVES: &str = "first_verdict, from 'code-reviewer' (approved)";
const SECOND_OBJECTS: &str = "second_verdict, from 'codex-reviewer' (needs_changes)";
const SECOND_APPROVES: &str = "second_verdict, from 'codex-reviewer' (approved)";

#[test]
fn who_objects_is_shown_before_who_approves_whoever_was_last() {
    let mut play = reviewing(|_| ());
    for _ in 0..2 {
        first(&mut play, OBJECTS);
        fix(&mut play);
        second(&mut play, APPROVES);
    }
    shows(&play, &[FIRST_OBJECTS, SECOND_APPROVES]);
    let mut play = reviewing(|_| ());
    for _ in 0..2 {
        first(&mut play, APPROVES);
        second(&mut play, OBJECTS);
        fix(&mut play);
    }
    shows(&play, &[SECOND_OBJECTS, FIRST_APPROVES, "fixed"]);
}

#[test]
fn findings_are_shown_although_the_owner_has_fixed_them_since() {
    let mut play = reviewing(|_| ());
    both_object(&mut play);
    both_object(&mut play);
    shows(&play, &[FIRST_OBJECTS, SECOND_OBJECTS, "fixed"]);
}

#[test]
fn all_who_approve_are_shown() {
    let mut play = reviewing(|_| ());
    both_object(&mut play);
    first(&mut play, APPROVES);
    second(&mut play, APPROVES);
    shows(&play, &[FIRST_APPROVES, SECOND_APPROVES]);
}

#[test]
fn a_single_reviewer_is_shown() {
    let mut play = reviewing(|work| work.panel.truncate(1));
    for _ in 0..2 {
        first(&mut play, OBJECTS);
        fix(&mut play);
    }
    shows(&play, &[FIRST_OBJECTS, "fixed"]);
}

#[test]
fn what_was_reviewed_is_shown_behind_the_reviews() {
    let mut play = reviewing(|work| work.of = Some(artifact_name("fixed")));
    for _ in 0..2 {
        first(&mut play, OBJECTS);
        fix(&mut play);
        second(&mut play, APPROVES);
    }
    shows(&play, &[FIRST_OBJECTS, SECOND_APPROVES, "fixed"]);
}

#[test]
fn a_panel_that_is_larger_than_the_memory_of_a_run_is_shown_whole() {
    let larger = |work: &mut ReviewWork| {
        let one = work.panel[0].clone();
        let more = ["context", "questions", "validated"].map(|leaves| Reviewer {
            leaves: artifact_name(leaves),
            ..one.clone()
        });
        work.panel.extend(more);
        work.rounds = Amount::Fixed(1);
    };
    let mut play = reviewing(larger);
    let verdict = play.pipeline.definition().artifacts[&artifact_name("first_verdict")].clone();
    let mut definition = play.pipeline.definition().clone();
    for name in ["context", "questions", "validated"] {
        let artifact = definition.artifacts.get_mut(&artifact_name(name));
        *artifact.unwrap() = verdict.clone();
    }
    play = Play::of(Pipeline::from_cache(definition));
    both_object(&mut play);
    for name in ["context", "questions", "validated"] {
        play.report("code-reviewer", &[(name, Some(OBJECTS))]);
        fix(&mut play);
    }
    let others = ["context", "questions", "validated"]
        .map(|name| format!("{name}, from 'code-reviewer' (needs_changes)"));
    let mut titles = vec![FIRST_OBJECTS, SECOND_OBJECTS];
    titles.extend(others.iter().map(String::as_str));
    titles.push("fixed");
    shows(&play, &titles);
}

#[test]
fn only_who_reviewed_in_the_last_round_is_shown() {
    // In the second round the first one cannot decide: what the second one found was fixed.
    let mut play = reviewing(|_| ());
    both_object(&mut play);
    first(&mut play, UNSURE);
    shows(
        &play,
        &["first_verdict, from 'code-reviewer' (needs_clarification)"],
    );
    // A person's answer continues the round: the first one is not forgotten.
    let mut play = reviewing(|work| work.panel.swap(0, 1));
    second(&mut play, OBJECTS);
    fix(&mut play);
    first(&mut play, UNSURE);
    play.stands_in("escalate");
    play.answer("continue");
    first(&mut play, UNSURE);
    let unsure = "first_verdict, from 'code-reviewer' (needs_clarification)";
    shows(&play, &[SECOND_OBJECTS, unsure]);
    // Behind a final reviewer nobody reviews.
    let mut play = reviewing(|work| work.panel[0].last_word = true);
    first(&mut play, APPROVES);
    second(&mut play, OBJECTS);
    fix(&mut play);
    first(&mut play, OBJECTS);
    fix(&mut play);
    shows(&play, &[FIRST_OBJECTS, "fixed"]);
}

#[test]
fn a_review_that_its_way_out_has_reset_is_shown() {
    let mut play = reviewing(|_| ());
    let mut definition = play.pipeline.definition().clone();
    let mut stages = definition.stages.iter_mut();
    let stage = stages.find(|it| it.name.as_str() == "reviewing").unwrap();
    let edge = stage.on.get_mut(&Outcome::Exceeded).unwrap();
    edge.reset = vec![counter_name("reviewing")];
    play = Play::of(Pipeline::from_cache(definition));
    both_object(&mut play);
    both_object(&mut play);
    assert_eq!(play.run.panels, BTreeMap::new());
    shows(&play, &[FIRST_OBJECTS, SECOND_OBJECTS, "fixed"]);
}

#[test]
fn what_led_here_without_a_review_is_shown_as_it_was() {
    let mut play = Play::begin();
    play.report("gatherer", &[("context", None)]);
    play.report("planner", &[("plan", Some("ready")), ("questions", None)]);
    play.stands_in("approving");
    let view = view(&play);
    let names: Vec<String> = view.about.iter().map(|it| it.title()).collect();
    assert_eq!(names, ["plan"]);
    assert_eq!(view.about[0].text, ShownText::Unread);
    // Nobody has read it, and `next` says no more than before.
    assert!(!view.text(Paint::Plain).contains("export"));
}

#[test]
fn a_reviewer_whose_artifact_is_gone_is_named_with_its_verdict() {
    let mut play = reviewing(|_| ());
    both_object(&mut play);
    both_object(&mut play);
    let second = play.run.artifacts[&artifact_name("second_verdict")].content;
    play.run.artifacts.remove(&artifact_name("first_verdict"));
    // The run has no copy of the one, and the store none of the other.
    let text = view(&play)
        .with_contents(&BTreeMap::new())
        .text(Paint::Plain);
    for title in [FIRST_OBJECTS, SECOND_OBJECTS] {
        let said = format!("  {title}:\n    there is no copy of it\n");
        assert!(text.contains(&said), "{said}\n{text}");
    }
    let said = BTreeMap::from([(second, "a hole\n\nin the wall".to_owned())]);
    let text = view(&play).with_contents(&said).text(Paint::Plain);
    let block = format!("  {SECOND_OBJECTS}:\n    a hole\n\n    in the wall\n");
    assert!(text.contains(&block), "{text}");
    assert_eq!(
        text.matches("there is no copy of it").count(),
        2,
        "of the first and of what was fixed: {text}"
    );
}

#[test]
fn two_who_leave_the_same_artifact_are_shown_with_their_own_text() {
    let same = |work: &mut ReviewWork| work.panel[1].leaves = artifact_name("first_verdict");
    let mut play = reviewing(same);
    for _ in 0..2 {
        first(&mut play, OBJECTS);
        fix(&mut play);
        play.report("codex-reviewer", &[("first_verdict", Some(APPROVES))]);
    }
    play.stands_in("escalate");
    let view = view(&play);
    let latest = play.run.artifacts[&artifact_name("first_verdict")].content;
    let [objects, approves] = view.about.as_slice() else {
        unreachable!("{:?}", view.about)
    };
    assert_eq!(objects.title(), FIRST_OBJECTS);
    assert_ne!(objects.content, Some(latest));
    assert_eq!(
        objects.shown_by, None,
        "`export` would print the other's text"
    );
    assert_eq!(approves.content, Some(latest));
}

#[test]
fn a_long_review_is_cut_with_the_command_that_prints_all() {
    let mut play = reviewing(|_| ());
    both_object(&mut play);
    both_object(&mut play);
    let first = play.run.artifacts[&artifact_name("first_verdict")].content;
    let second = play.run.artifacts[&artifact_name("second_verdict")].content;
    let said = BTreeMap::from([(first, "wrong\n".repeat(2_000)), (second, "no".to_owned())]);
    let text = view(&play).with_contents(&said).text(Paint::Plain);
    let command = "… `gatewright export r-7f3 --artifact first_verdict` prints all of it";
    assert!(text.contains(command), "{text}");
    assert!(!text.contains("--artifact second_verdict"), "{text}");
    assert!(text.chars().count() < 10_000);
}
