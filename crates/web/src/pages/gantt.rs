//! The time of a run as a chart: a bar for each attempt and check, and hatched where it waited for a person.

use engine::{CheckVerdict, Pipeline, StageName, Time, Work, WorkResult};
use maud::{Markup, PreEscaped, html};
use views::facts::{Attempt, CheckAttempt, Visit};
use views::gantt::{BarKind, Gantt, GanttBar, GanttRow};

use super::run::Shown;

/// So many of the latest visits are drawn; all are in the table below.
const MOST_VISITS: usize = 60;

const STEP_MS: u64 = 30_000;

/// Invariant: the chart escapes every text of a run itself.
pub(super) fn of_run(shown: &Shown) -> Markup {
    let Some(journal) = &shown.view.journal else {
        return html! {};
    };
    let hidden = journal.visits.len().saturating_sub(MOST_VISITS);
    let rows = rows(
        &shown.opened.pipeline,
        &journal.visits[hidden..],
        rounded(shown.time),
    );
    html! {
        @if !rows.is_empty() {
            div.picture tabindex="0" { (PreEscaped(Gantt::of(&rows).svg_without_style())) }
        }
    }
}

/// What lasts grows in steps, so that an idle page stays as it is.
fn rounded(now: Time) -> Time {
    Time(now.0 - now.0 % STEP_MS)
}

/// A row for each stage and worker, in the order of their first bars.
fn rows(pipeline: &Pipeline, visits: &[Visit], now: Time) -> Vec<GanttRow> {
    let mut rows: Vec<GanttRow> = Vec::new();
    for visit in visits {
        for attempt in &visit.attempts {
            add(
                &mut rows,
                &visit.stage,
                attempt.agent.as_str(),
                work(attempt, now),
            );
        }
        for check in &visit.checks {
            add(&mut rows, &visit.stage, "check", checked(check));
        }
        if asks(pipeline, &visit.stage) {
            add(&mut rows, &visit.stage, "a person", waited(visit, now));
        }
    }
    rows
}

/// Rows of one stage follow each other.
fn add(rows: &mut Vec<GanttRow>, stage: &StageName, note: &str, bar: GanttBar) {
    let is_same = |row: &GanttRow| row.name == stage.as_str() && row.note == note;
    if let Some(row) = rows.iter_mut().find(|row| is_same(row)) {
        row.bars.push(bar);
        return;
    }
    let last = rows.iter().rposition(|row| row.name == stage.as_str());
    let row = GanttRow {
        name: stage.to_string(),
        note: note.to_owned(),
        bars: vec![bar],
    };
    rows.insert(last.map_or(rows.len(), |last| last + 1), row);
}

fn asks(pipeline: &Pipeline, stage: &StageName) -> bool {
    let stage = pipeline.stage(stage);
    stage.is_some_and(|stage| matches!(stage.work, Work::Ask(_)))
}

fn work(attempt: &Attempt, now: Time) -> GanttBar {
    let end = attempt.end.as_ref();
    GanttBar {
        begin: attempt.started_at,
        end: end.map_or(now.max(attempt.started_at), |end| end.at),
        kind: match end.map(|end| &end.result) {
            None => BarKind::AtWork,
            Some(WorkResult::Outcome(_)) => BarKind::Done,
            Some(WorkResult::Fault { .. }) => BarKind::Failed,
            Some(WorkResult::Late | WorkResult::Dropped) => BarKind::Dropped,
        },
        label: end.map_or_else(|| "at work".to_owned(), |end| end.word().to_owned()),
    }
}

fn checked(check: &CheckAttempt) -> GanttBar {
    GanttBar {
        begin: Time(check.at.0.saturating_sub(check.duration_ms)),
        end: check.at,
        kind: match check.verdict {
            CheckVerdict::Passed => BarKind::Done,
            CheckVerdict::Failed => BarKind::Failed,
            CheckVerdict::Void => BarKind::Dropped,
        },
        label: check.verdict.word().to_owned(),
    }
}

fn waited(visit: &Visit, now: Time) -> GanttBar {
    let left = visit.left.as_ref();
    GanttBar {
        begin: visit.entered_at,
        end: left.map_or(now.max(visit.entered_at), |left| left.at),
        kind: BarKind::Waiting,
        label: left.map_or_else(|| "waits".to_owned(), |left| left.outcome.clone()),
    }
}
