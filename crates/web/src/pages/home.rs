//! The first page: what waits for you, who is at work, and what is over, in all projects.

use maud::{Markup, html};
use runtime::failure::Failure;
use store::RunSummary;
use views::facts::{Inbox, InboxEntry};
use views::list::RunRow;

use super::order::{Listing, Order};
use super::{bars, runs};
use crate::page::{Page, Part, Place};
use crate::reading::{Acting, Reading};
use crate::{bits, forms};

/// How many runs that are over are on one page.
const OVER_AT_ONCE: usize = 50;

pub(crate) fn page(reading: &mut Reading<'_>, query: &str) -> Result<Page, Failure> {
    let listing = Listing::of(query);
    let summaries = reading.summaries()?;
    let chosen = listing.chosen(&summaries);
    let (over, active): (Vec<_>, Vec<_>) = chosen
        .into_iter()
        .partition(|run| bits::is_over(&run.status));
    let found = reading.inbox()?;
    let gathered = reading.rows(&active)?;
    let unreadable = found.unreadable.iter().chain(&gathered.unreadable);
    let unreadable = unreadable.chain(reading.fleet_problems());
    let problems: Vec<String> = unreadable.map(ToString::to_string).collect();
    let inbox = &found.inbox;
    Ok(Page {
        title: "Inbox".to_owned(),
        waiting: inbox.entries().len(),
        place: Place::Home,
        parts: vec![
            Part::new("inbox", self::inbox(reading, inbox, summaries.len())),
            Part::new("problems", self::problems(&problems)),
            Part::new("latest", latest(reading, &summaries)),
            Part::new(
                "active",
                self::active(reading, &listing, &gathered.rows, &active),
            ),
            Part::new("over", self::over(reading, &listing, &over)?),
        ],
    })
}

fn inbox(reading: &mut Reading<'_>, inbox: &Inbox, all: usize) -> Markup {
    let heading = match (inbox.entries().len(), all) {
        (_, 0) => "No run has been started yet".to_owned(),
        (0, _) => "Nothing waits for you".to_owned(),
        (waiting, _) => Inbox::count_line(waiting).unwrap_or_default(),
    };
    html! {
        h1 { (heading) }
        @if all == 0 {
            p { "Type " (bits::command("gatewright demo")) " to see a whole run, or "
                (bits::command("gatewright run PIPELINE --task TEXT")) " to start one." }
        }
        div.cards { @for entry in inbox.entries() { (card(reading, entry)) } }
    }
}

fn card(reading: &mut Reading<'_>, entry: &InboxEntry) -> Markup {
    let opened = reading.asking(&entry.run);
    let link = reading.base.to(&format!("run/{}", entry.run));
    html! {
        article.card.waits {
            header {
                h2 { a href=(link) { (entry.task.line()) } }
                p.meta {
                    span.pill.wait { span.mark aria-hidden="true" { "?" } " waits · " (bits::rough(entry.age)) }
                    " " code { (entry.run) } " · " (entry.pipeline) " · " (entry.stage)
                    " · " (bits::folder(entry.project.raw()))
                }
            }
            (forms::asked(reading, entry, opened.as_ref()))
        }
    }
}

fn problems(problems: &[String]) -> Markup {
    html! {
        @for problem in problems { p.banner.bad role="alert" { (views::line(problem)) } }
    }
}

/// The latest runs of all projects, whatever the table below shows.
fn latest(reading: &Reading<'_>, summaries: &[RunSummary]) -> Markup {
    html! {
        @if !summaries.is_empty() {
            div.bar {
                div { h2 { "Latest runs" } p.dim { "A taller bar took longer." } }
                (bars::of(reading, summaries.iter()))
            }
        }
    }
}

fn active(
    reading: &Reading<'_>,
    listing: &Listing,
    rows: &[RunRow],
    summaries: &[&RunSummary],
) -> Markup {
    let sort = (listing.order != Order::Started).then(|| listing.order.word());
    html! {
        div.bar {
            h2 { "Active runs" span.count { (rows.len()) } }
            form.filter method="get" role="search" {
                @if let Some(sort) = sort { input type="hidden" name="sort" value=(sort); }
                input type="search" name="q" value=[listing.filter.as_deref()] placeholder="Filter by run, task, project, status"
                    aria-label="Filter runs" data-key="/";
            }
        }
        @if rows.is_empty() { p.empty { "None." } } @else { (runs::by_repository(reading, listing, rows, summaries)) }
        @if reading.acting == Acting::Nobody {
            p.dim { "This page only shows: " code { "gatewright serve" } " was not started at a terminal." }
        }
    }
}

fn over(
    reading: &mut Reading<'_>,
    listing: &Listing,
    over: &[&RunSummary],
) -> Result<Markup, Failure> {
    let from = listing.from.min(over.len());
    let to = over.len().min(from + OVER_AT_ONCE);
    let rows = reading.rows(&over[from..to])?.rows;
    let page = |from: usize| listing.starting_at(reading.base, from);
    Ok(html! {
        @if !over.is_empty() {
            div.bar { h2 { "Over" span.count { (over.len()) } } }
            (runs::sortable(reading, listing, &rows))
            @if over.len() > OVER_AT_ONCE {
                nav.pager aria-label="More runs" {
                    @if from > 0 { a href=(page(from.saturating_sub(OVER_AT_ONCE))) { "‹ newer" } }
                    span.dim { (from + 1) "–" (to) " of " (over.len()) }
                    @if to < over.len() { a href=(page(to)) { "older ›" } }
                }
            }
        }
    })
}
