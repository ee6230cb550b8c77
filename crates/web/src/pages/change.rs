//! What a run has changed since it began, and what each piece of work changed.

use engine::{DispatchId, RunId};
use maud::{Markup, html};
use runtime::failure::Failure;
use runtime::{change_report, work_change};
use views::Untrusted;
use views::change::{ChangeSince, ChangedFile, FileChange, WorkChangeState};

use super::run::{self, Shown, Tab};
use crate::page::{Page, Part, Place};
use crate::reading::Reading;
use crate::{bits, query};

/// A longer diff is cut on the page.
const MOST_LINES: usize = 5_000;

/// How many of the latest pieces of work can be chosen.
const MOST_WORK: usize = 40;

pub(super) fn page(reading: &mut Reading<'_>, run: &RunId, query: &str) -> Result<Page, Failure> {
    let shown = run::now(reading, run)?;
    let wanted = query::value(query, "of");
    let wanted = wanted.and_then(|of| of.strip_prefix('d')?.parse().ok());
    let wanted = wanted.map(DispatchId);
    let content = match wanted {
        Some(dispatch) => of_work(reading, &shown, dispatch)?,
        None => of_run(reading, &shown)?,
    };
    Ok(Page {
        title: format!("Diff of {run}"),
        waiting: reading.waiting()?,
        place: Place::Run,
        parts: vec![
            run::heading(reading, &shown, Tab::Change),
            Part::new("choice", choice(reading, &shown, wanted)),
            Part::new("change", content),
        ],
    })
}

/// The whole run, or one piece of work.
fn choice(reading: &Reading<'_>, shown: &Shown, wanted: Option<DispatchId>) -> Markup {
    let run = &shown.run.id;
    let visits = shown
        .view
        .journal
        .iter()
        .flat_map(|journal| &journal.visits);
    let work: Vec<_> = visits
        .flat_map(|visit| {
            visit
                .attempts
                .iter()
                .map(move |attempt| (&visit.stage, attempt))
        })
        .collect();
    let hidden = work.len().saturating_sub(MOST_WORK);
    html! {
        nav.tabs.small aria-label="Whose change" {
            a href=(reading.base.to(&format!("run/{run}/diff")))
                aria-current=[wanted.is_none().then_some("page")] { "The whole run" }
            @for (stage, attempt) in &work[hidden..] {
                a href=(reading.base.to(&format!("run/{run}/diff?of={}", attempt.dispatch)))
                    aria-current=[(wanted == Some(attempt.dispatch)).then_some("page")] {
                    (stage) " " span.dim { (attempt.agent.as_str()) " " (attempt.dispatch.to_string()) }
                }
            }
        }
    }
}

fn of_run(reading: &mut Reading<'_>, shown: &Shown) -> Result<Markup, Failure> {
    Ok(
        match change_report::of(reading.workspace_of(&shown.run.id)?, &shown.opened) {
            Ok(Ok(report)) => {
                let since = match report.since {
                    ChangeSince::Start => "since the run began",
                    ChangeSince::LastCommit => "since the last commit",
                };
                let files = bits::count(report.all, "file");
                let title = format!("{files} changed {since}");
                html! {
                    (delivered(shown))
                    (change(&title, &report.files, report.all, &report.diff))
                }
            }
            Ok(Err(reason)) => cannot(&reason),
            Err(failure) => cannot(&failure.to_string()),
        },
    )
}

/// What a run on a branch of its own has handed over is in that commit, and no longer in a folder.
fn delivered(shown: &Shown) -> Markup {
    let place = shown.run.place.as_ref();
    let handed = place.and_then(|place| Some((&place.branch, place.delivered()?)));
    html! {
        @if let Some((branch, delivered)) = handed {
            p.banner {
                "The work is commit " (bits::hash(&delivered.commit)) " on branch " code { (views::line(&branch.name)) } ": "
                (bits::command(&format!("git diff {} {}", short(&branch.base), short(&delivered.commit))))
                " shows it, and each piece of work above what it changed."
            }
        }
    }
}

/// Enough of a commit's name to find it.
fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

fn of_work(
    reading: &mut Reading<'_>,
    shown: &Shown,
    dispatch: DispatchId,
) -> Result<Markup, Failure> {
    let state = work_change::of(
        reading.workspace_of(&shown.run.id)?,
        &shown.opened,
        dispatch,
    );
    Ok(match &state {
        WorkChangeState::Seen {
            files,
            all,
            diff,
            so_far,
        } => {
            let so_far = if *so_far { " so far" } else { "" };
            let title = format!("{dispatch} changed {}{so_far}", bits::count(*all, "file"));
            change(&title, files, *all, diff)
        }
        WorkChangeState::Unseen { reason } => cannot(reason.raw()),
    })
}

fn cannot(reason: &str) -> Markup {
    html! { p.banner { "The change cannot be shown: " (views::line(reason)) } }
}

fn change(title: &str, files: &[ChangedFile], all: usize, diff: &Untrusted) -> Markup {
    let text = diff.block();
    let lines = text.lines().count();
    html! {
        h2 { (title) }
        ul.files { @for file in files { li {
            span.pill.(file_class(file.how)) { (file.how.word()) } " " code { (file.path.line()) } " "
            span.good { "+" (file.added) } " " span.bad { "−" (file.removed) }
        } } }
        @if all > files.len() { p.dim { "and " (all - files.len()) " more" } }
        @if lines > 0 {
            pre.diff {
                @for line in text.lines().take(MOST_LINES) { span class=(line_class(line)) { (line) "\n" } }
            }
        }
        @if lines > MOST_LINES { p.dim { "Cut here, of " (lines) " lines: `gatewright diff` prints all of it." } }
    }
}

fn file_class(how: FileChange) -> &'static str {
    match how {
        FileChange::New => "good",
        FileChange::Removed => "bad",
        FileChange::Changed => "normal",
    }
}

fn line_class(line: &str) -> &'static str {
    match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => "strong",
        [b'+', ..] => "add",
        [b'-', ..] => "del",
        [b'@', ..] => "dim",
        _ => "ctx",
    }
}
