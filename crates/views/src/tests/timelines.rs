//! The facts of a run from its journal: stays in stages, attempts, gates with their evidence, remarks, and the inbox.

use engine::*;

use super::example::*;
use super::metrics::{completed, waiting};
use super::play::{Play, ann};
use super::runs::AROUND;
use crate::facts::{GateState, Inbox, InboxEntry, RemarkKind, Timeline, gates};
use crate::{Paint, status};

fn folded(play: &Play) -> Timeline {
    let mut timeline = Timeline::default();
    for (number, entry) in play.numbered() {
        timeline.add(&play.pipeline, number, entry);
    }
    timeline
}

#[test]
fn the_time_in_a_stage_is_that_of_all_stays_that_have_ended() {
    let timeline = folded(&completed());
    let stays: Vec<_> = timeline.visits().collect();
    let spent = timeline.spent();
    for stage in stays.iter().map(|visit| &visit.stage) {
        let own = stays.iter().filter(|visit| visit.stage == *stage);
        let ended = own.filter_map(|visit| Some(visit.left.as_ref()?.at.since(visit.entered_at).0));
        let sum: u64 = ended.sum();
        assert_eq!(spent.get(stage).map_or(0, |it| it.0), sum, "{stage}");
    }
    let twice = StageName::parse("validating").unwrap();
    assert!(spent[&twice] > Seconds(0));
    assert!(!spent.contains_key(&StageName::parse("complete").unwrap()));
}

#[test]
fn each_stay_has_its_times_its_outcome_and_its_attempts() {
    let play = completed();
    let timeline = folded(&play);
    let stays: Vec<String> = timeline
        .visits()
        .map(|visit| {
            let outcome = visit
                .left
                .as_ref()
                .map_or("–", |left| left.outcome.as_str());
            let attempts = visit.attempts.iter();
            let ends: Vec<&str> = attempts
                .map(|it| it.end.as_ref().map_or("open", |end| end.word()))
                .collect();
            let (stage, number) = (&visit.stage, visit.number);
            format!("{stage} {number} [{}] {outcome}", ends.join(" "))
        })
        .collect();
    assert_eq!(
        stays,
        [
            "gathering 1 [crashed done] after gatherer",
            "planning 1 [crashed done] done",
            "approving 1 [] yes",
            "building 1 [done done] done",
            "validating 1 [passed] passed",
            "linting 1 [] failed",
            "debugging 1 [done] done",
            "validating 2 [passed] passed",
            "linting 2 [] passed",
            "reviewing 1 [needs_changes done approved approved approved] approved",
            "tidying 1 [done] done",
            "complete 1 [] –",
        ]
    );
    let gathering = timeline.visits().next().unwrap();
    let first = &gathering.attempts[0];
    assert_eq!(first.started_at, minutes(1));
    assert_eq!(first.end.as_ref().unwrap().at, minutes(3));
    assert_eq!(first.usage.tokens, 1_200);
    assert_eq!(timeline.version(), play.entries.len() as u64);
}

#[test]
fn the_time_in_the_queue_is_no_time_of_the_first_stage_or_of_the_run() {
    let mut play = Play::queued_for_an_hour();
    let cancelled = Happening::Person(PersonEvent::CancelAsked {
        reason: "enough".to_owned(),
    });
    play.happen(ann(), cancelled, Evidence::default());
    let timeline = folded(&play);
    let first = timeline.visits().next().unwrap();
    assert_eq!(first.entered_at, minutes(60));
    assert_eq!(timeline.span().began_at, Some(minutes(60)));
    assert_eq!(timeline.span().ended_at, Some(minutes(61)));
    let view = status(&play.pipeline, &play.run, AROUND);
    let view = view.with_journal(&play.pipeline, &play.run, &timeline, hash(9));
    assert_eq!(view.took(), Seconds(60));
    assert_eq!(view.started_at, START);
}

#[test]
fn a_gate_has_its_commands_its_reviewers_and_says_whether_it_holds() {
    let play = completed();
    let found = gates(&play.pipeline, &play.run, &folded(&play));
    let gate = |stage: &str| {
        found
            .iter()
            .find(|gate| gate.stage.as_str() == stage)
            .unwrap()
    };
    let linting = gate("linting");
    // A reviewer found something after it, and somebody fixed that.
    assert_eq!(linting.state, GateState::Superseded);
    assert_eq!(linting.commands[0].exit, Some(0));
    assert_eq!(linting.verdict, Some(CheckVerdict::Passed));
    assert_eq!(linting.subject, Some(hash(0x77)));
    let reviewing = gate("reviewing");
    assert_eq!(reviewing.reviews.len(), 4);
    assert_eq!(reviewing.reviews[0].approved, None);
    let reviewer = reviewing.reviews[0].agent.as_ref().unwrap();
    assert_eq!(reviewer.as_str(), "code-reviewer");
}

#[test]
fn a_gate_is_open_failed_stale_or_skipped() {
    let mut play = Play::driven(Driver::Headless);
    let found = |play: &Play| {
        let found = gates(&play.pipeline, &play.run, &folded(play));
        let gate = found
            .into_iter()
            .find(|gate| gate.stage.as_str() == "linting");
        gate.unwrap()
    };
    let name = |play: &Play| found(play).subject_name().to_owned();
    let state = |play: &Play| found(play).state;
    assert_eq!(state(&play), GateState::Open);
    play = completed();
    assert_eq!(state(&play), GateState::Superseded);
    let linting = stage_name("linting");
    let tree = Gate::Tree(hash(1));
    play.run.gates.insert(linting.clone(), tree);
    assert_eq!(state(&play), GateState::Holds);
    assert_eq!(name(&play), "tree");
    let (artifact, content) = (artifact_name("plan"), hash(1));
    let gate = Gate::Artifact { artifact, content };
    play.run.gates.insert(linting.clone(), gate);
    assert_eq!(state(&play), GateState::Stale);
    assert_eq!(name(&play), "plan");
    play.run.gates.remove(&linting);
    assert_eq!(state(&play), GateState::Failed);
    play.run.overrides.push(Override {
        stage: linting,
        outcome: Outcome::Passed,
        reason: "late".to_owned(),
        by: "ann".to_owned(),
        at: minutes(1),
    });
    assert_eq!(state(&play), GateState::Overridden);
}

/// A review that has begun has not failed: only a reviewer who found something makes it so.
#[test]
fn a_review_is_open_until_its_last_reviewer_has_spoken() {
    let play = completed();
    let (mut run, mut timeline) = (None, Timeline::default());
    let mut states = Vec::new();
    for (number, entry) in play.numbered() {
        let next = apply(run.take(), entry).unwrap();
        timeline.add(&play.pipeline, number, entry);
        let found = gates(&play.pipeline, &next, &timeline);
        let gate = found.iter().find(|it| it.stage.as_str() == "reviewing");
        states.push(gate.unwrap().state);
        run = Some(next);
    }
    states.dedup();
    let expected = [
        GateState::Open,
        GateState::Failed,
        GateState::Open,
        GateState::Holds,
        // The session tidies up behind it.
        GateState::Superseded,
    ];
    assert_eq!(states, expected);
}

#[test]
fn what_must_not_be_overlooked_is_counted_and_can_be_found_again() {
    let play = completed();
    let timeline = folded(&play);
    assert_eq!(timeline.count(RemarkKind::Refused), 1);
    let remarks = timeline.remarks();
    let refused = remarks
        .iter()
        .find(|it| it.kind == RemarkKind::Refused)
        .unwrap();
    assert!(refused.is_mark());
    let index = usize::try_from(refused.number - 1).unwrap();
    assert!(matches!(play.entries[index].fact, Fact::Refused { .. }));
    let answered = remarks
        .iter()
        .find(|it| it.kind == RemarkKind::Person)
        .unwrap();
    assert_eq!(answered.by.raw(), ann().name());
}

#[test]
fn very_many_entries_are_bounded_and_all_are_counted() {
    let play = completed();
    let mut timeline = folded(&play);
    let refusal = play
        .entries
        .iter()
        .find(|it| matches!(it.fact, Fact::Refused { .. }));
    let moved = play
        .entries
        .iter()
        .find(|it| matches!(it.fact, Fact::Moved(_)));
    for number in 0..5_000 {
        timeline.add(&play.pipeline, 1_000 + 2 * number, refusal.unwrap());
        timeline.add(&play.pipeline, 1_001 + 2 * number, moved.unwrap());
    }
    assert_eq!(timeline.count(RemarkKind::Refused), 5_001);
    assert!(timeline.remarks().len() < 500);
    let kept = timeline.visits().count() as u64;
    assert!(kept < 5_000);
    assert_eq!(kept + timeline.dropped(), 12 + 5_000);
    let admitted = play
        .entries
        .iter()
        .find(|it| matches!(it.fact, Fact::Admitted { .. }));
    // The stage of that work is entered once more.
    timeline.add(&play.pipeline, 20_000, &play.entries[0]);
    for number in 0..5_000 {
        timeline.add(&play.pipeline, 20_001 + number, admitted.unwrap());
    }
    let last = timeline.visits().next_back().unwrap();
    assert!(last.attempts.len() < 5_000);
    assert_eq!(last.attempts.len() as u64 + last.attempts_dropped, 5_000);
}

#[test]
fn the_inbox_begins_with_the_oldest_and_says_what_to_type() {
    let play = waiting();
    let entry = |id: &str, entered: u64| {
        let mut run = play.run.clone();
        run.id = run_id(id);
        run.position.entered_at = minutes(entered);
        let legal = engine::next(&play.pipeline, &run);
        let next = crate::next(&play.pipeline, &run, &legal);
        InboxEntry::new(&play.pipeline, &run, &next, "/p", minutes(60))
    };
    let inbox = Inbox::new(vec![entry("r-late", 50), entry("r-early", 40)]);
    let runs: Vec<&str> = inbox.entries().iter().map(|it| it.run.as_str()).collect();
    assert_eq!(runs, ["r-early", "r-late"]);
    let first = &inbox.entries()[0];
    assert_eq!(first.age, Seconds(20 * 60));
    let commands = first.commands.iter();
    assert!(
        commands
            .clone()
            .all(|it| it.starts_with("gatewright answer r-early "))
    );
    assert_eq!(commands.len(), 2);
    let text = inbox.text(Paint::Plain);
    assert!(first.commands.iter().all(|it| text.contains(it)), "{text}");
    assert_eq!(Inbox::line(0), None);
}

#[test]
fn a_status_shows_the_facts_of_its_journal_as_text_and_as_json() {
    let play = completed();
    let view = status(&play.pipeline, &play.run, AROUND);
    assert!(view.json()["journal"].is_null());
    let head = hash(9);
    let view = view.with_journal(&play.pipeline, &play.run, &folded(&play), head);
    let journal = &view.json()["journal"];
    assert_eq!(journal["head"], head.to_string());
    assert_eq!(journal["refused"], 1);
    assert_eq!(journal["visits"][0]["attempts"][0]["result"], "crashed");
    let gates = journal["gates"].as_array().unwrap();
    let linting = gates
        .iter()
        .find(|gate| gate["stage"] == "linting")
        .unwrap();
    assert_eq!(linting["commands"][0]["exit"], 0);
    assert_eq!(linting["stale"], true);
    assert_eq!(linting["state"], "superseded");
    let command = linting["commands"][0]["command"].as_str().unwrap();
    assert!(view.text(Paint::Plain).contains(command));
}
