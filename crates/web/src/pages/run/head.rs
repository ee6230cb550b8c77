//! The top of a run's pages: its task, its state in one line, and what it asks.

use engine::{Driver, Mode, Status};
use maud::{Markup, html};
use views::facts::{GateState, Liveness};
use views::status::StatusView;

use super::{Shown, Tab, is_resumable};
use crate::reading::{Acting, Reading};
use crate::{bits, forms};

pub(super) fn head(reading: &Reading<'_>, shown: &Shown, tab: Tab) -> Markup {
    let view = &shown.view;
    let driver = match view.driver {
        Driver::Headless => "headless",
        Driver::Guarded => "guarded",
        Driver::ByHand => "by hand",
    };
    let mode = match view.mode {
        Mode::Enforced => None,
        Mode::Advisory => Some("advisory: nothing is refused"),
    };
    html! {
        div.run-head {
            h1 { (view.task.line()) }
            p.meta {
                @match view.liveness {
                    None | Some(Liveness::Over) => { (bits::status(&view.status)) },
                    alive => { (bits::liveness(alive)) },
                }
                " "
                code { (view.run) } " · " a href=(reading.base.to(&format!("pipeline/{}", view.pipeline))) { (view.pipeline) }
                " · " (driver) @if view.rehearsal { " · " strong { "rehearsal" } } @if let Some(mode) = mode { " · " strong { (mode) } }
                " · " (bits::folder(view.project.raw()))
                " · started " (bits::ago(view.started_at, shown.time))
                " · " a href=(reading.base.to(&format!("compare?a={}", view.run))) { "compare" }
            }
        }
        (tabs(reading, shown, tab))
    }
}

fn tabs(reading: &Reading<'_>, shown: &Shown, current: Tab) -> Markup {
    let run = &shown.view.run;
    let tabs = [
        (Tab::Overview, "Overview", ""),
        (Tab::History, "History", "/history"),
        (Tab::Output, "Output", "/output"),
        (Tab::Change, "Diff", "/diff"),
        (Tab::Artifacts, "Artifacts", "/artifacts"),
        (Tab::Reviews, "Reviews", "/reviews"),
    ];
    html! {
        nav.tabs aria-label="Pages of this run" {
            @for (tab, name, path) in tabs {
                a href=(reading.base.to(&format!("run/{run}{path}")))
                    aria-current=[(tab == current).then_some("page")] { (name) }
            }
        }
    }
}

/// Where it is, is it alive, what does it wait for, what was proved: in one box.
pub(super) fn verdict(reading: &Reading<'_>, shown: &Shown) -> Markup {
    let view = &shown.view;
    let class = match &view.status {
        Status::Completed => "good",
        Status::Failed => "bad",
        Status::Waiting(_) => "wait",
        Status::Cancelled | Status::Queued | Status::Running => "normal",
    };
    let asks = view.inbox.as_ref().filter(|_| shown.at.is_none());
    html! {
        div.verdict.(class) {
            p.line { (line(view)) }
            p.proved { (proved(view)) }
            @if let Some(rest) = &view.rest { p { "It " (rest.text(&view.run)) } }
            @else if let Some(reason) = view.liveness.and_then(|it| it.reason()) { p.dim { (reason) } }
            @if let Some(entry) = asks { (forms::asked(reading, entry, Some(&shown.opened))) }
            @if is_resumable(shown) {
                @if reading.acting == Acting::WithCode { (forms::resume(&view.run, &view.stage.name)) }
                (bits::command(&format!("gatewright resume {}", view.run)))
            }
            (numbers(view))
        }
    }
}

fn line(view: &StatusView) -> Markup {
    let stage = &view.stage.name;
    let lasted = views::time::span(view.took());
    html! {
        @match &view.status {
            Status::Completed => { strong { "Completed" } " after " (lasted) },
            Status::Failed => { strong { "Failed" } " in " (stage) " after " (lasted) },
            Status::Cancelled => { strong { "Cancelled" } " in " (stage) " after " (lasted) },
            Status::Queued => { strong { "Queued" } ": no worker has taken it up" },
            Status::Running => {
                strong { "In " (stage) } " (" (view.stage.kind) ")"
                @if view.stage.attempt > 1 { ", attempt " (view.stage.attempt) }
            },
            Status::Waiting(why) => {
                strong { "Waits for you" } " in " (stage)
                @if view.inbox.is_none() { ": " (views::line(why)) }
            },
        }
    }
}

/// How many gates hold, and what takes from that.
fn proved(view: &StatusView) -> String {
    let Some(journal) = &view.journal else {
        return String::new();
    };
    let number = |state: GateState| journal.gates.iter().filter(|it| it.state == state).count();
    // A run that is over cannot come to a gate any more.
    let elsewhere = if bits::is_over(&view.status) {
        number(GateState::Open)
    } else {
        0
    };
    let all = journal.gates.len() - elsewhere;
    let mut said = match (all, elsewhere) {
        (0, 0) => vec!["the pipeline has no gates".to_owned()],
        (0, _) => vec!["the run passed no gate".to_owned()],
        (all, _) => vec![format!(
            "{} of {} hold",
            number(GateState::Holds),
            bits::count(all, "gate")
        )],
    };
    for (state, word) in [
        (GateState::Failed, "failed"),
        (GateState::Stale, "stale"),
        (GateState::Superseded, "superseded"),
        (GateState::Overridden, "overridden by a person"),
    ] {
        match number(state) {
            0 => {}
            some => said.push(format!("{some} {word}")),
        }
    }
    for (number, what) in [
        (view.overrides.len(), "override"),
        (view.unguarded.len(), "unguarded piece"),
        (view.unjudged as usize, "unjudged event"),
    ] {
        if number > 0 {
            said.push(bits::count(number, what));
        }
    }
    said.join(" · ")
}

/// Loops used of allowed, and what was spent.
fn numbers(view: &StatusView) -> Markup {
    let loops = view.counters.iter().map(|counter| match counter.max {
        Some(max) => format!("{} {} of {max}", counter.name, counter.used),
        None => format!("{} {}", counter.name, counter.used),
    });
    let review = view.review.iter().map(|review| match review.rounds {
        Some(rounds) => format!("review round {} of {rounds}", review.round),
        None => format!("review round {}", review.round),
    });
    let budget = view.budget.iter().map(views::status::BudgetLine::text);
    let all: Vec<String> = loops.chain(review).chain(budget).collect();
    html! {
        @if !all.is_empty() { ul.numbers { @for one in &all { li { (one) } } } }
    }
}
