//! The first page: what waits for you, who is at work, and what is over, in all projects.

use engine::Seconds;
use maud::{Markup, html};
use runtime::facts::{InboxFound, RunRows};
use runtime::failure::Failure;
use views::facts::{Inbox, InboxEntry};
use views::list::RunRow;

use crate::page::{Page, Part, Place};
use crate::reading::{Acting, Reading};
use crate::{bits, forms, query};

/// So many runs that are over are on one page.
const OVER_AT_ONCE: usize = 50;

pub(crate) fn page(reading: &mut Reading<'_>, query: &str) -> Result<Page, Failure> {
    let (found, rows) = gather(reading)?;
    let filter = query::value(query, "q");
    let wanted = |row: &RunRow| filter.as_ref().is_none_or(|filter| fits(row, filter));
    let all = rows.rows.len();
    let rows_wanted: Vec<RunRow> = rows.rows.into_iter().filter(wanted).collect();
    let (over, active): (Vec<RunRow>, Vec<RunRow>) = rows_wanted.into_iter().partition(is_over);
    let unreadable = found.unreadable.iter().chain(&rows.unreadable);
    let problems: Vec<String> = unreadable.map(ToString::to_string).collect();
    let inbox = &found.inbox;
    Ok(Page {
        title: "Inbox".to_owned(),
        waiting: inbox.entries().len(),
        place: Place::Home,
        parts: vec![
            Part::new("inbox", self::inbox(reading, inbox, all)),
            Part::new("problems", self::problems(&problems)),
            Part::new("active", self::active(reading, &active, filter.as_deref())),
            Part::new("over", self::over(reading, &over, query)),
        ],
    })
}

fn gather(reading: &mut Reading<'_>) -> Result<(InboxFound, RunRows), Failure> {
    let now = reading.now;
    match &mut reading.workspace {
        Some(workspace) => Ok((
            reading.runs.inbox(workspace, now)?,
            reading.runs.all(workspace, now)?,
        )),
        None => Ok((
            InboxFound::default(),
            RunRows {
                rows: Vec::new(),
                unreadable: Vec::new(),
            },
        )),
    }
}

fn is_over(row: &RunRow) -> bool {
    use engine::Status;
    match row.status {
        Status::Completed | Status::Failed | Status::Cancelled => true,
        Status::Queued | Status::Running | Status::Waiting(_) => false,
    }
}

/// Every word of the filter is somewhere in the row.
fn fits(row: &RunRow, filter: &str) -> bool {
    let text = format!(
        "{} {} {} {} {} {}",
        row.run,
        row.pipeline,
        row.stage,
        row.status.word(),
        row.task.raw(),
        row.project.raw()
    );
    let text = text.to_lowercase();
    let filter = filter.to_lowercase();
    filter.split_whitespace().all(|word| text.contains(word))
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
    let opened = match &mut reading.workspace {
        Some(workspace) => workspace.find(&entry.run).ok().flatten(),
        None => None,
    };
    let link = reading.base.to(&format!("run/{}", entry.run));
    html! {
        article.card.waits {
            header {
                h2 { a href=(link) { (entry.task.line()) } }
                p.meta {
                    span.pill.wait { span.mark aria-hidden="true" { "?" } " waits for " (bits::rough(entry.age)) }
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

fn active(reading: &Reading<'_>, rows: &[RunRow], filter: Option<&str>) -> Markup {
    html! {
        div.bar {
            h2 { "Active runs" span.count { (rows.len()) } }
            form.filter method="get" role="search" {
                input type="search" name="q" value=[filter] placeholder="Filter by run, task, project, status"
                    aria-label="Filter runs" data-key="/";
            }
        }
        @if rows.is_empty() { p.empty { "None." } } @else { (table(reading, rows)) }
        @if reading.acting == Acting::Nobody {
            p.dim { "This page only shows: " code { "gatewright serve" } " was not started at a terminal." }
        }
    }
}

fn over(reading: &Reading<'_>, rows: &[RunRow], query: &str) -> Markup {
    let from = query::number(query, "from").unwrap_or(0);
    let from = usize::try_from(from).unwrap_or(0).min(rows.len());
    let to = rows.len().min(from + OVER_AT_ONCE);
    let filter = query::value(query, "q").map(|filter| query::encoded(&filter));
    let page = |from: usize| {
        let filter = filter.as_ref().map_or(String::new(), |q| format!("&q={q}"));
        reading.base.to(&format!("?from={from}{filter}"))
    };
    html! {
        @if !rows.is_empty() {
            div.bar { h2 { "Over" span.count { (rows.len()) } } }
            (table(reading, &rows[from..to]))
            nav.pager aria-label="More runs" {
                @if from > 0 { a href=(page(from.saturating_sub(OVER_AT_ONCE))) { "‹ newer" } }
                span.dim { (from + 1) "–" (to) " of " (rows.len()) }
                @if to < rows.len() { a href=(page(to)) { "older ›" } }
            }
        }
    }
}

/// Runs, one a line; on a narrow screen one a block.
pub(super) fn table(reading: &Reading<'_>, rows: &[RunRow]) -> Markup {
    html! {
        table.runs {
            thead { tr {
                th { "Alive" } th { "Task" } th { "Stage" } th { "Pipeline" } th { "Project" } th.num { "Last event" }
            } }
            tbody { @for row in rows { (line(reading, row)) } }
        }
    }
}

fn line(reading: &Reading<'_>, row: &RunRow) -> Markup {
    let link = reading.base.to(&format!("run/{}", row.run));
    let marks = row.marks();
    html! {
        tr {
            td { @if is_over(row) { (bits::status(&row.status)) } @else { (bits::liveness(row.liveness)) } }
            td.task {
                a href=(link) { (row.task.line()) } " " code.id { (row.run) }
                @if !marks.is_empty() {
                    " " span.pill.(if row.is_loud() { "bad" } else { "dim" }) { (views::line(&marks.join(", "))) }
                }
            }
            td { (row.stage) }
            td { (row.pipeline) }
            td { (bits::folder(row.project.raw())) }
            td.num { (when(row.idle)) }
        }
    }
}

fn when(idle: Seconds) -> String {
    format!("{} ago", bits::rough(idle))
}
