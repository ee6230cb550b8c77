//! The page of one run: where it is, whether it is alive, what it waits for, what was proved.

mod gates;
mod head;
mod past;
mod way;

use engine::{Driver, Run, RunId, Time};
use maud::{Markup, html};
use runtime::explain;
use runtime::failure::Failure;
use runtime::workspace::OpenRun;
use views::facts::{Liveness, RemarkKind};
use views::status::StatusView;

use crate::page::{Page, Part, Place};
use crate::pages::{entries, picture};
use crate::reading::Reading;
use crate::{bits, query};

/// How many of the latest entries are on the page of a run.
const LATEST: u64 = 12;

/// A run as one of its pages shows it.
pub(super) struct Shown {
    pub opened: OpenRun,
    pub view: StatusView,
    /// The run as of the entry that is shown.
    pub run: Run,
    /// The entry up to which it is shown, if that is not the last one.
    pub at: Option<u64>,
    /// The time of what is shown.
    pub time: Time,
}

/// Which of a run's pages it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tab {
    Overview,
    History,
    Output,
    Change,
    Artifacts,
    Reviews,
}

pub(crate) fn page(reading: &mut Reading<'_>, run: &RunId, query: &str) -> Result<Page, Failure> {
    let shown = match query::number(query, "at") {
        Some(at) => past::shown(reading, run, at)?,
        None => now(reading, run)?,
    };
    let latest = latest(reading, &shown)?;
    let waiting = reading.waiting()?;
    Ok(Page {
        title: shown.view.task.line(),
        waiting,
        place: Place::Run,
        parts: vec![
            Part::new("head", head::head(reading, &shown, Tab::Overview)),
            Part::new("scrubber", past::scrubber(reading, &shown)),
            Part::new("verdict", head::verdict(reading, &shown)),
            Part::new("remarks", remarks(reading, &shown)),
            Part::new("workers", way::workers(reading, &shown)),
            Part::new("gates", gates::gates(reading, &shown)),
            Part::new(
                "picture",
                html! { h2 { "The way" } (picture::of_run(&shown)) },
            ),
            Part::new("way", way::way(reading, &shown)),
            Part::new("latest", latest),
            Part::new("ending", ending(reading, &shown)),
        ],
    })
}

/// The run as it is now.
pub(super) fn now(reading: &mut Reading<'_>, run: &RunId) -> Result<Shown, Failure> {
    let stored = reading.stored(run)?;
    let time = reading.now;
    let mut reader = reading.readers.take(run, stored.version);
    let workspace = reading.workspace_of(run)?;
    let opened = workspace.opened(stored)?;
    let view = reader.read_opened(workspace, &opened, time)?;
    let shown = opened.run().clone();
    reading.readers.put(run.clone(), reader);
    Ok(Shown {
        opened,
        view,
        run: shown,
        at: None,
        time,
    })
}

/// The head that every page of a run begins with.
pub(super) fn heading(reading: &Reading<'_>, shown: &Shown, tab: Tab) -> Part {
    Part::new("head", head::head(reading, shown, tab))
}

/// The address of an entry.
pub(super) fn entry_link(reading: &Reading<'_>, run: &RunId, entry: u64) -> Markup {
    let link = reading.base.to(&format!("run/{run}/entry/{entry}"));
    html! { a.entry href=(link) title="Why?" { "#" (entry) } }
}

/// What nobody must overlook, the latest first; then what people did.
fn remarks(reading: &Reading<'_>, shown: &Shown) -> Markup {
    let Some(journal) = &shown.view.journal else {
        return html! {};
    };
    let (marks, people): (Vec<_>, Vec<_>) =
        journal.remarks.iter().rev().partition(|it| it.is_mark());
    let refused = journal.refused;
    html! {
        @if !marks.is_empty() {
            h2 { "Needs attention" span.count { (marks.len()) } }
            @if refused > marks.len() as u64 { p.dim { (bits::count(usize::try_from(refused).unwrap_or(usize::MAX), "refusal")) " in all" } }
            (remark_list(reading, shown, &marks, 5, "marks"))
        }
        @if !people.is_empty() {
            h2 { "What people did" span.count { (people.len()) } }
            (remark_list(reading, shown, &people, 5, "people"))
        }
    }
}

fn remark_list(
    reading: &Reading<'_>,
    shown: &Shown,
    remarks: &[&views::facts::Remark],
    most: usize,
    id: &str,
) -> Markup {
    let line = |remark: &views::facts::Remark| {
        let kind = (remark.kind != RemarkKind::Person).then(|| bits::remark(remark.kind));
        html! {
            li {
                @if let Some(kind) = kind { (kind) " " }
                span.what { (remark.text.block()) }
                span.meta { (remark.by.line()) " · " code { (remark.rule) } " · "
                    (bits::ago(remark.at, shown.time)) " · " (entry_link(reading, &shown.run.id, remark.number)) }
            }
        }
    };
    let (first, rest) = remarks.split_at(remarks.len().min(most));
    html! {
        ul.remarks { @for remark in first { (line(remark)) } }
        @if !rest.is_empty() {
            details id=(format!("more-{id}")) {
                summary { (rest.len()) " more" }
                ul.remarks { @for remark in rest { (line(remark)) } }
            }
        }
    }
}

fn latest(reading: &mut Reading<'_>, shown: &Shown) -> Result<Markup, Failure> {
    let run = &shown.run.id;
    let last = shown.at.unwrap_or(shown.opened.stored.version);
    let first = last.saturating_sub(LATEST - 1).max(1);
    let history = explain::history(reading.workspace_of(run)?, run, first, last + 1 - first)?;
    let all = reading.base.to(&format!("run/{run}/history"));
    Ok(html! {
        div.bar { h2 { "Latest entries" } a href=(all) { "All " (last) " entries" } }
        (entries::table(reading, run, history.lines.iter().rev(), shown.time))
    })
}

/// What ends or continues the run.
fn ending(reading: &Reading<'_>, shown: &Shown) -> Markup {
    use crate::forms;
    use crate::reading::Acting;
    let (run, stage) = (&shown.run.id, &shown.run.position.stage);
    let is_active = !matches!(shown.view.liveness, Some(Liveness::Over) | None);
    html! {
        @if reading.acting == Acting::WithCode && shown.at.is_none() && is_active {
            (forms::cancel(run, stage))
        }
    }
}

/// Can `resume` continue it?
pub(super) fn is_resumable(shown: &Shown) -> bool {
    let lost = matches!(shown.view.liveness, Some(Liveness::OwnerLost { .. }));
    shown.at.is_none() && shown.run.driver == Driver::Headless && lost
}
