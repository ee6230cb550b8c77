//! The report of a run: the same facts as text, Markdown and HTML, in which no text of an agent is markup.

use std::collections::BTreeMap;

use engine::*;

use super::example::*;
use super::metrics::{completed, waiting};
use super::play::{Play, ann};
use super::runs::AROUND;
use crate::change::ChangeStat;
use crate::facts::Timeline;
use crate::report::{JournalIntegrity, ReportView, Tone};
use crate::status::JournalFacts;
use crate::{Paint, Untrusted, status};

fn report(play: &Play) -> ReportView {
    let mut timeline = Timeline::default();
    for (number, entry) in play.numbered() {
        timeline.add(&play.pipeline, number, entry);
    }
    let view = status(&play.pipeline, &play.run, AROUND);
    let journal = JournalFacts::new(&play.pipeline, &play.run, &timeline, Some(hash(9)));
    ReportView::new(&play.pipeline, &play.run, view, journal)
}

/// A run whose people and agents write markup and escape sequences.
fn hostile() -> Play {
    let mut play = waiting();
    play.run.task = HOSTILE.to_owned();
    let skip = Happening::Person(PersonEvent::CancelAsked {
        reason: HOSTILE.to_owned(),
    });
    play.happen(ann(), skip, Evidence::default());
    play.check_text(HOSTILE);
    play
}

const HOSTILE: &str =
    "<script>alert(1)</script>\n\u{1b}[31m\"'><img src=x onerror=alert(2)> | `a` ";

impl Play {
    /// An entry with the output of a command.
    fn check_text(&mut self, text: &str) {
        let result = CheckResult {
            argv: vec!["sh".to_owned(), "-c".to_owned(), text.to_owned()],
            ..super::facts::check_result(CheckEnd::Exit(3), text)
        };
        let fact = Fact::Checked {
            stage: stage_name("linting"),
            verdict: CheckVerdict::Failed,
            results: vec![result],
            tree: TreeAround {
                before: hash(1),
                after: hash(1),
                made: BTreeMap::new(),
            },
        };
        let mut entry = self.entries[0].clone();
        entry.fact = fact;
        self.entries.push(entry);
    }
}

/// The elements of a page, by name, without what is in them.
fn elements(page: &str) -> Vec<&str> {
    let starts = page.split('<').skip(1);
    starts
        .map(|rest| {
            rest.split(|c: char| !c.is_ascii_alphanumeric())
                .next()
                .unwrap()
        })
        .filter(|name| !name.is_empty())
        .collect()
}

#[test]
fn every_form_of_a_report_has_its_facts_in_order() {
    let view = report(&completed()).with_integrity(JournalIntegrity::Intact);
    assert_eq!(view.verdict.tone, Tone::Good);
    let head = hash(9).to_string();
    for page in [view.text(Paint::Plain), view.markdown(), view.html()] {
        let wanted = [
            "completed",
            "linting",
            "approving was answered: yes",
            "refused to",
            "crashed",
            "entries",
            head.as_str(),
            "gatewright verify r-7f3",
        ];
        let mut from = 0;
        for text in wanted {
            let found = page[from..].find(text);
            from += found.unwrap_or_else(|| panic!("{text} is not behind {from}\n{page}"));
        }
    }
    assert_eq!(view.json()["report"]["integrity"], "intact");
}

#[test]
fn a_page_has_no_script_and_no_text_of_an_agent_is_markup() {
    let play = hostile();
    let page = report(&play).html();
    let plain = report(&completed()).html();
    let known = elements(&plain);
    for name in elements(&page) {
        assert!(known.contains(&name) || name == "pre", "{name}");
    }
    assert!(!known.contains(&"script"));
    assert!(page.contains("&lt;script&gt;"));
    for outside in [" src=", " href=", "http://", "https://", "url("] {
        assert!(
            !plain.contains(outside),
            "{outside}: something is loaded from elsewhere"
        );
    }
    for page in [
        page,
        report(&play).text(Paint::Plain),
        report(&play).markdown(),
    ] {
        assert!(!page.contains('\u{1b}'));
    }
    // In a fenced block nothing is markup.
    let markdown = report(&play).markdown();
    let outside = markdown.split("```").step_by(2);
    assert!(outside.clone().count() > 1, "{markdown}");
    for text in outside {
        assert!(!text.replace("\\<", "").contains("<script"), "{text}");
    }
}

#[test]
fn what_must_not_be_overlooked_changes_the_verdict() {
    let skipped = |stage: &str| {
        let mut play = completed();
        play.run.overrides.push(Override {
            stage: stage_name(stage),
            outcome: Outcome::Passed,
            reason: "late".to_owned(),
            by: "ann".to_owned(),
            at: minutes(1),
        });
        report(&play)
    };
    for (stage, kept) in [("reviewing", false), ("linting", true)] {
        let view = skipped(stage);
        assert_eq!(view.verdict.tone, Tone::Marked);
        assert_eq!(
            view.json()["report"]["promises"][0]["kept"],
            kept,
            "{stage}"
        );
    }
    let mut by_hand = completed();
    by_hand.run.driver = Driver::ByHand;
    let view = report(&by_hand);
    assert_eq!(view.json()["report"]["promises"][0]["kept"], false);
    let view = skipped("reviewing");
    for page in [view.markdown(), view.html()] {
        assert!(page.contains("OVERRIDDEN"));
    }
    let damaged = JournalIntegrity::Damaged(Untrusted::new("entry 7"));
    let view = report(&completed()).with_integrity(damaged);
    assert_eq!(view.verdict.tone, Tone::Bad);
    for page in [view.text(Paint::Plain), view.markdown(), view.html()] {
        assert!(page.contains("DAMAGED"), "{page}");
    }
}

/// What somebody types after the end of a run is in its history, and not part of its time.
#[test]
fn the_time_of_a_run_ends_with_the_run() {
    let mut play = completed();
    let took = report(&play).status.took();
    play.minute += 30;
    play.answer("yes");
    let refused = play.entries.last().map(|entry| &entry.fact);
    assert!(matches!(refused, Some(Fact::Refused { .. })), "{refused:?}");
    let view = report(&play);
    assert!(view.status.touched_at > view.status.until());
    assert_eq!(view.status.took(), took);
    let told = format!("took {}", crate::time::span(took));
    for page in [view.text(Paint::Plain), view.markdown(), view.html()] {
        assert!(page.contains(&told), "{page}");
    }
}

#[test]
fn what_a_piece_of_work_changed_stands_beside_it() {
    let stat = ChangeStat {
        files: 2,
        added: 12,
        removed: 3,
    };
    let view = report(&completed());
    assert_eq!(view.json()["report"]["changes"], serde_json::json!([]));
    let view = view.with_changes(BTreeMap::from([(DispatchId(2), stat)]));
    assert_eq!(view.json()["report"]["changes"][0]["added"], 12);
    for page in [view.text(Paint::Plain), view.markdown(), view.html()] {
        assert_eq!(page.matches(&stat.text()).count(), 1, "{page}");
    }
}

#[test]
fn a_picture_stands_in_the_page_before_the_stages() {
    let svg = "<svg viewBox=\"0 0 1 1\"></svg>".to_owned();
    let page = report(&completed())
        .with_figure("Pipeline", svg.clone())
        .html();
    let (picture, stages) = (
        page.find(&svg).unwrap(),
        page.find("id=\"stages\"").unwrap(),
    );
    assert!(picture < stages);
}

#[test]
fn the_output_of_checks_that_failed_before_is_quoted_bounded_and_counted() {
    let mut play = waiting();
    for number in 1..=6 {
        let noise = "noise\n".repeat(3_000);
        play.check_text(&format!("{noise}the <b>reason</b> {number}\n"));
    }
    let view = report(&play);
    let gates = view.journal.gates.iter();
    let gate = gates.clone().find(|it| it.stage.as_str() == "linting");
    let gate = gate.unwrap();
    // The sixth is the latest run of the commands, which stands there anyway.
    assert_eq!(gate.failed_before, 5);
    assert_eq!(gate.failures.len(), 3);
    let json = view.json();
    assert!(json.to_string().contains("\"failed_before\":5"), "{json}");
    for (page, escaped) in [
        (view.text(Paint::Plain), "<b>reason</b>"),
        (view.markdown(), "<b>reason</b>"),
        (view.html(), "&lt;b&gt;reason&lt;/b&gt;"),
    ] {
        for (number, is_quoted) in [
            (1, false),
            (2, false),
            (3, true),
            (4, true),
            (5, true),
            (6, true),
        ] {
            let quoted = format!("the {escaped} {number}");
            assert_eq!(page.contains(&quoted), is_quoted, "{quoted}\n{page}");
        }
        assert!(page.matches("noise").count() < 400, "{page}");
    }
}
