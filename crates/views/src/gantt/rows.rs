//! The rows of a run's Gantt chart, from the facts of its journal.

use engine::{AgentName, CheckVerdict, Duty, Outcome, Pipeline, StageName, Time, Work, WorkResult};

use super::{BarKind, GanttBar, GanttRow};
use crate::facts::{Attempt, CheckAttempt, Timeline, Visit, WaitSpan};
use crate::metrics::Wait;

/// How many of the latest bars are drawn: more cannot be told apart.
const MOST_BARS: usize = 240;

/// Until when that lasts which is not over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasting {
    /// The run goes on: until now.
    Now(Time),
    /// The run is over: nobody works on it since then.
    Over(Time),
}

impl Lasting {
    fn time(self) -> Time {
        match self {
            Self::Now(time) | Self::Over(time) => time,
        }
    }
}

/// A row for each stage and worker, in the order of their first bars; the rows of a stage follow each other.
pub fn rows<'v>(
    pipeline: &Pipeline,
    visits: impl IntoIterator<Item = &'v Visit>,
    waits: &[WaitSpan],
    lasting: Lasting,
) -> Vec<GanttRow> {
    let mut found = Vec::new();
    let mut visits = visits.into_iter().peekable();
    while let Some(visit) = visits.next() {
        let next = visits.peek().map(|next| next.entered_at);
        let within = |wait: &&WaitSpan| {
            wait.from >= visit.entered_at && next.is_none_or(|next| wait.from < next)
        };
        add_visit(&mut found, pipeline, visit, lasting);
        for wait in waits.iter().filter(within) {
            found.push(FoundBar::new(&visit.stage, PERSON, stopped(wait, lasting)));
        }
    }
    let hidden = found.len().saturating_sub(MOST_BARS);
    gathered(found.into_iter().skip(hidden))
}

/// The rows of what a timeline has kept.
pub(super) fn of_timeline(
    pipeline: &Pipeline,
    timeline: &Timeline,
    lasting: Lasting,
) -> Vec<GanttRow> {
    rows(pipeline, timeline.visits(), timeline.waits(), lasting)
}

/// Who waits in the rows of a person.
const PERSON: &str = "a person";

/// A bar, and the row that it belongs to.
struct FoundBar {
    name: String,
    note: String,
    bar: GanttBar,
}

impl FoundBar {
    fn new(stage: &StageName, note: impl Into<String>, bar: GanttBar) -> Self {
        Self {
            name: stage.to_string(),
            note: note.into(),
            bar,
        }
    }
}

fn add_visit(found: &mut Vec<FoundBar>, pipeline: &Pipeline, visit: &Visit, lasting: Lasting) {
    let stage = &visit.stage;
    for attempt in &visit.attempts {
        let note = note(&attempt.agent, &attempt.duty);
        found.push(FoundBar::new(stage, note, work(attempt, lasting)));
    }
    for check in &visit.checks {
        found.push(FoundBar::new(stage, "check", checked(check)));
    }
    let asked = pipeline.stage(stage);
    if asked.is_some_and(|stage| matches!(stage.work, Work::Ask(_))) {
        found.push(FoundBar::new(stage, PERSON, question(visit, lasting)));
    }
}

fn gathered(found: impl Iterator<Item = FoundBar>) -> Vec<GanttRow> {
    let mut rows: Vec<GanttRow> = Vec::new();
    for FoundBar { name, note, bar } in found {
        let known = rows
            .iter_mut()
            .find(|row| row.name == name && row.note == note);
        if let Some(row) = known {
            row.bars.push(bar);
            continue;
        }
        let last = rows.iter().rposition(|row| row.name == name);
        let place = last.map_or(rows.len(), |last| last + 1);
        let bars = vec![bar];
        rows.insert(place, GanttRow { name, note, bars });
    }
    rows
}

fn work(attempt: &Attempt, lasting: Lasting) -> GanttBar {
    let begin = attempt.started_at;
    let name = format!("attempt {}", attempt.number);
    let Some(end) = &attempt.end else {
        return GanttBar {
            begin,
            end: lasting.time().max(begin),
            kind: match lasting {
                Lasting::Now(_) => BarKind::AtWork,
                Lasting::Over(_) => BarKind::Dropped,
            },
            label: name,
        };
    };
    GanttBar {
        begin,
        end: end.at.max(begin),
        kind: kind(&end.result),
        label: format!("{name}: {}", end.word()),
    }
}

fn kind(result: &WorkResult) -> BarKind {
    match result {
        WorkResult::Outcome(outcome) if outcome.is_fault() || *outcome == Outcome::Failed => {
            BarKind::Failed
        }
        WorkResult::Outcome(_) => BarKind::Done,
        WorkResult::Fault { .. } => BarKind::Failed,
        WorkResult::Late | WorkResult::Dropped => BarKind::Dropped,
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

fn question(visit: &Visit, lasting: Lasting) -> GanttBar {
    let left = visit.left.as_ref();
    waited(
        visit.entered_at,
        left.map(|left| left.at),
        Wait::Question.word(),
        lasting,
    )
}

fn stopped(wait: &WaitSpan, lasting: Lasting) -> GanttBar {
    waited(wait.from, wait.to, wait.why, lasting)
}

fn waited(from: Time, to: Option<Time>, why: &str, lasting: Lasting) -> GanttBar {
    GanttBar {
        begin: from,
        end: to.unwrap_or_else(|| lasting.time()).max(from),
        kind: BarKind::Waiting,
        label: why.to_owned(),
    }
}

/// The worker, and what it is for.
fn note(agent: &AgentName, duty: &Duty) -> String {
    match duty {
        Duty::Work | Duty::Open => agent.to_string(),
        Duty::Review { .. } => format!("{agent} reviews"),
        Duty::Fix { .. } => format!("{agent} fixes"),
        Duty::Step { step } => format!("{step} · {agent}"),
    }
}
