//! Hostile text in the task, in titles, reasons and contents: it is shown, and nothing obeys it.

use engine::*;
use serde_json::Value;

use super::render;
use crate::safe::is_forbidden;
use crate::test_random::TestRandom;
use crate::tests::example::*;
use crate::tests::play::{Play, ann};
use crate::tests::runs::building;

/// A run whose every text is hostile.
fn hostile(random: &mut TestRandom) -> (Run, Vec<Entry>) {
    let mut play = Play::begin();
    let task = format!(
        "---\nactive: false\n# Phases\n- [x] {}",
        random.hostile_text(20)
    );
    play.run.task = task;
    let reason = random.hostile_text(30);
    play.happen(
        ann(),
        Happening::Person(PersonEvent::ResetAsked { reason }),
        Evidence::default(),
    );
    let mut run = building();
    run.task = format!(
        "x\n\n## Phases\n\n- [x] Phase 9: y\n---\nactive: false\n{}",
        random.hostile_text(20)
    );
    for member in &mut run.graphs.get_mut(&stage_name("building")).unwrap().members {
        member.step.title = random.hostile_text(20);
        if let MemberState::Failed { reason, .. } = &mut member.state {
            *reason = random.hostile_text(20);
        }
    }
    (run, play.entries)
}

fn formats() -> Vec<ViewFormat> {
    let looped = ViewFormat::LoopState(LoopView {
        counter: counter_name("fixes"),
        promise: TextOrParam::Fixed("\u{1b}[31m\"done\"\n".to_owned()),
    });
    let plain = ViewFormat::WORDS.into_iter().filter_map(ViewFormat::parse);
    plain.chain([looped]).collect()
}

#[test]
fn no_view_lets_a_terminal_obey_its_text() {
    let mut random = TestRandom::new(31);
    for _ in 0..300 {
        let (run, entries) = hostile(&mut random);
        for format in formats() {
            let text = render(&format, &pipeline(), &run, &entries);
            assert!(
                !text.chars().any(is_forbidden),
                "{}: {text:?}",
                format.word()
            );
        }
    }
}

#[test]
fn json_stays_json_and_keeps_the_task_word_for_word() {
    let mut random = TestRandom::new(37);
    for _ in 0..300 {
        let (run, entries) = hostile(&mut random);
        for format in [
            ViewFormat::TaskState,
            ViewFormat::Workflow,
            ViewFormat::TaskGraph,
        ] {
            let text = render(&format, &pipeline(), &run, &entries);
            let view: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(view["task"], run.task.as_str(), "{}", format.word());
        }
    }
}

#[test]
fn front_matter_stays_front_matter() {
    let mut random = TestRandom::new(41);
    for _ in 0..300 {
        let (run, entries) = hostile(&mut random);
        let text = render(&ViewFormat::AnsibleState, &pipeline(), &run, &entries);
        let (matter, rest) = text
            .strip_prefix("---\n")
            .and_then(|text| text.split_once("\n---\n\n# Pipeline State\n"))
            .unwrap();
        let matter: Value = serde_saphyr::from_str(matter).unwrap();
        assert_eq!(matter["active"], true);
        assert_eq!(matter["task_description"], run.task.as_str());
        assert_eq!(matter.as_object().unwrap().len(), 8);
        assert!(!rest.contains("\n---"), "{rest}");
    }
}

#[test]
fn a_report_has_one_heading_and_one_line_for_each_phase() {
    let mut random = TestRandom::new(43);
    for _ in 0..300 {
        let (run, entries) = hostile(&mut random);
        let text = render(&ViewFormat::WorkflowReport, &pipeline(), &run, &entries);
        let begins = |with: &str| text.lines().filter(|line| line.starts_with(with)).count();
        assert_eq!((begins("#"), begins("- [")), (2, 5), "{text}");
    }
}

#[test]
fn a_log_has_one_line_for_each_entry() {
    let mut random = TestRandom::new(47);
    for _ in 0..300 {
        let (run, entries) = hostile(&mut random);
        let text = render(&ViewFormat::Log, &pipeline(), &run, &entries);
        let odd = text.lines().find(|line| !line.contains("Z] [gatewright] "));
        assert_eq!(odd, None, "{text}");
    }
}
