//! The journal of a run, a page at a time, and one entry with its reasons.

use engine::{RunId, Time};
use maud::{Markup, html};
use runtime::explain;
use runtime::failure::Failure;
use views::history::HistoryLine;
use views::why::{CheckLine, WhyLine};

use super::run::{self, Tab};
use crate::page::{Page, Part, Place};
use crate::reading::Reading;
use crate::{bits, query};

/// How many entries are on one page.
const AT_ONCE: u64 = 100;

pub(super) fn page(reading: &mut Reading<'_>, run: &RunId, query: &str) -> Result<Page, Failure> {
    let shown = run::now(reading, run)?;
    let last = shown.opened.stored.version;
    let newest = query::number(query, "to")
        .unwrap_or(last)
        .clamp(1, last.max(1));
    let first = newest.saturating_sub(AT_ONCE - 1).max(1);
    let history = explain::history(reading.workspace_of(run)?, run, first, newest + 1 - first)?;
    let now = reading.now;
    let link = |to: u64| reading.base.to(&format!("run/{run}/history?to={to}"));
    let entries = html! {
        div.bar {
            h2 { "Journal" span.count { (last) } }
            nav.pager aria-label="More entries" {
                @if newest < last { a href=(link((newest + AT_ONCE).min(last))) { "‹ newer" } }
                span.dim { (first) "–" (newest) " of " (last) }
                @if first > 1 { a href=(link(first - 1)) { "older ›" } }
            }
        }
        (table(reading, run, history.lines.iter().rev(), now))
    };
    Ok(Page {
        title: format!("History of {run}"),
        waiting: reading.waiting()?,
        place: Place::Run,
        parts: vec![
            run::heading(reading, &shown, Tab::History),
            Part::new("entries", entries),
        ],
    })
}

/// Entries, one a line, each with a link to its reasons and to the run as of then.
pub(super) fn table<'l>(
    reading: &Reading<'_>,
    run: &RunId,
    lines: impl Iterator<Item = &'l HistoryLine>,
    now: Time,
) -> Markup {
    html! {
        table.entries {
            thead { tr { th { "Entry" } th { "When" } th { "What" } th { "Who" } th { "Rule" } th {} } }
            tbody {
                @for line in lines {
                    tr {
                        td { (run::entry_link(reading, run, line.number)) }
                        td.when { (bits::moment(line.at, now)) }
                        td.what.(bits::class(line.style)) { (views::progress::short(line.what.raw(), 400)) }
                        td.who { (views::line(&line.by.name())) }
                        td { code { (line.rule.code()) } }
                        td { a.then href=(reading.base.to(&format!("run/{run}?at={}", line.number))) title="The run as of then" { "⟲" } }
                    }
                }
            }
        }
    }
}

/// Why an entry is there: what somebody did, what was seen, what followed.
pub(super) fn why(reading: &mut Reading<'_>, run: &RunId, entry: u64) -> Result<Page, Failure> {
    let shown = run::now(reading, run)?;
    let view = explain::why(reading.workspace_of(run)?, run, entry)?;
    let asked = &view.asked;
    let content = html! {
        h2 { "Entry " (entry) ": why?" }
        p.asks { (asked.what.block()) }
        p.meta { (views::line(&asked.by.name())) " · " (bits::moment(asked.at, reading.now)) }
        p { span.pill.normal { (asked.rule.code()) } " " (asked.rule.text()) }
        (group("What somebody did", &view.inputs))
        (group("What was seen", &view.evidence))
        (group("What followed", &view.consequences))
        nav.pager {
            @if entry > 1 { a href=(reading.base.to(&format!("run/{run}/entry/{}", entry - 1))) { "‹ entry before" } }
            a href=(reading.base.to(&format!("run/{run}?at={entry}"))) { "the run as of then" }
            @if entry < shown.opened.stored.version {
                a href=(reading.base.to(&format!("run/{run}/entry/{}", entry + 1))) { "entry after ›" }
            }
        }
    };
    Ok(Page {
        title: format!("Entry {entry} of {run}"),
        waiting: reading.waiting()?,
        place: Place::Run,
        parts: vec![
            run::heading(reading, &shown, Tab::History),
            Part::new("why", content),
        ],
    })
}

fn group(title: &str, lines: &[WhyLine]) -> Markup {
    html! {
        @if !lines.is_empty() {
            h3 { (title) }
            ul.remarks { @for line in lines { li {
                span.dim { "#" (line.line.number) } " "
                span.what.(bits::class(line.line.style)) { (line.line.what.block()) }
                @for (name, hash) in &line.hashes { span.meta { " · " (name) " " (bits::hash(hash)) } }
                @for check in &line.checks { (self::check(line.line.number, check)) }
            } } }
        }
    }
}

fn check(number: u64, check: &CheckLine) -> Markup {
    html! {
        details.check id=(format!("why-{number}")) open {
            summary { code { (check.what.line()) } }
            @for program in &check.programs { p.dim { (program.line()) } }
            @if !check.tail.raw().trim().is_empty() { pre.output { (check.tail.block()) } }
        }
    }
}
