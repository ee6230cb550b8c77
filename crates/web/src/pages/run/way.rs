//! The way of a run through its stages: who is at work now, and every attempt with its time and its end.

use engine::{Seconds, Time};
use maud::{Markup, html};
use views::facts::{Attempt, Visit};
use views::status::DispatchLine;

use super::{Shown, entry_link};
use crate::bits;
use crate::pages::gantt;
use crate::reading::Reading;

/// How many of the latest visits are shown.
const MOST_VISITS: usize = 60;

/// Those who are at work: the last tool, and how long ago.
pub(super) fn workers(reading: &Reading<'_>, shown: &Shown) -> Markup {
    let at_work = &shown.view.dispatches;
    html! {
        @if !at_work.is_empty() {
            h2 { "At work" span.count { (at_work.len()) } }
            div.workers { @for line in at_work { (worker(reading, shown, line)) } }
        }
    }
}

fn worker(reading: &Reading<'_>, shown: &Shown, line: &DispatchLine) -> Markup {
    let output = reading
        .base
        .to(&format!("run/{}/output?of={}", shown.run.id, line.id));
    html! {
        article.worker {
            header {
                strong { (line.agent.as_str()) } " " span.dim { (line.id.to_string()) " · " (line.stage)
                    @if line.attempt > 1 { " · attempt " (line.attempt) } }
                @if line.rests { " " span.pill.wait { "rests" } }
            }
            @if let Some(sign) = &line.sign {
                @if let Some(tool) = &sign.tool { p.tool { "→ " (views::progress::short(&tool.line(), 160)) } }
                @if let Some(words) = &sign.words { p.words { (views::progress::short(&words.line(), 240)) } }
            }
            p.meta {
                "works for " (bits::rough(line.running_for))
                @if let Some(silent) = line.silent_for { " · last sign " (bits::rough(silent)) " ago" }
                @if let Some(used) = line.sign.as_ref().map(|sign| sign.used) {
                    @if used.tokens > 0 { " · " (used.tokens) " tokens" }
                }
                " · " a href=(output) { "output" }
            }
        }
    }
}

/// Every stay in a stage, the latest first.
pub(super) fn way(reading: &Reading<'_>, shown: &Shown) -> Markup {
    let Some(journal) = &shown.view.journal else {
        return html! {};
    };
    let hidden = journal.visits.len().saturating_sub(MOST_VISITS) as u64 + journal.visits_dropped;
    html! {
        h2 { "Stages" span.count { (journal.visits.len()) } }
        (gantt::of_run(shown))
        table.visits {
            thead { tr { th { "Stage" } th { "Work" } th { "Left with" } th.num { "Took" } th { "Entry" } } }
            tbody {
                @for visit in journal.visits.iter().rev().take(MOST_VISITS) { (self::visit(reading, shown, visit)) }
            }
        }
        @if hidden > 0 { p.dim { (hidden) " earlier visits are in the history." } }
    }
}

fn visit(reading: &Reading<'_>, shown: &Shown, visit: &Visit) -> Markup {
    let end = visit.left.as_ref().map_or(shown.time, |left| left.at);
    let is_last = visit.left.is_none() && bits::is_over(&shown.view.status);
    html! {
        tr {
            td { strong { (visit.stage) } @if visit.number > 1 { " " span.dim { "×" (visit.number) } } }
            td {
                @if visit.attempts_dropped > 0 { p.dim { (visit.attempts_dropped) " earlier attempts" } }
                @for attempt in &visit.attempts { (self::attempt(attempt, shown.time)) }
                @for check in &visit.checks {
                    p { "check " span class=(format!("pill {}", verdict_class(check.verdict))) { (check.verdict.word()) }
                        " " span.dim { (views::time::duration(check.duration_ms)) } }
                }
            }
            td { @match &visit.left {
                Some(left) => { (left.outcome) span.dim { " → " (left.to) } },
                None if is_last => { span.pill.dim { "■ the end" } },
                None => { span.pill.normal { "▸ here" } },
            } }
            td.num { @if is_last { span.dim { "–" } } @else { (took(visit.entered_at, end, visit.left.is_none())) } }
            td { (entry_link(reading, &shown.run.id, visit.entry)) }
        }
    }
}

fn verdict_class(verdict: engine::CheckVerdict) -> &'static str {
    match verdict {
        engine::CheckVerdict::Passed => "good",
        engine::CheckVerdict::Failed => "bad",
        engine::CheckVerdict::Void => "wait",
    }
}

fn attempt(attempt: &Attempt, now: Time) -> Markup {
    let end = attempt.end.as_ref();
    let until = end.map_or(now, |end| end.at);
    html! {
        p {
            (attempt.agent.as_str()) " " span.dim { (attempt.dispatch.to_string()) }
            @match end {
                Some(end) => { " " strong { (views::line(end.word())) } },
                None => { " " span.pill.good { "● at work" } },
            }
            " " span.dim { (took(attempt.started_at, until, end.is_none())) }
            @if attempt.sent_back > 0 { span.dim { " · sent back ×" (attempt.sent_back) } }
            @if attempt.usage.tokens > 0 { span.dim { " · " (attempt.usage.tokens) " tokens" } }
        }
    }
}

/// Rough for what still lasts, so that the page rarely changes.
fn took(from: Time, to: Time, lasts: bool) -> String {
    let Seconds(seconds) = to.since(from);
    if lasts {
        bits::rough(Seconds(seconds))
    } else {
        views::time::span(Seconds(seconds))
    }
}
