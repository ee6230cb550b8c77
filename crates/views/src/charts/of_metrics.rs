//! The charts of some figures: success, time, retries and cost, of runs, stages and agents.

use engine::Fault;

use super::{BarChart, ChartPart, ChartRow, PartKind, Unit};
use crate::metrics::{AgentFigures, Counts, Durations, Metrics, StageKey};

/// Every chart that has something to show, the most important first.
pub fn charts(metrics: &Metrics) -> Vec<BarChart> {
    let all = [
        chart("How runs ended", Unit::Count, statuses(metrics)),
        chart(
            "Work that ended well, by agent",
            Unit::Count,
            largest(agents(metrics, successes)),
        ),
        chart("Checks, by stage", Unit::Count, largest(checks(metrics))),
        chart("Reviews, by stage", Unit::Count, largest(reviews(metrics))),
        chart(
            "Time of a visit, by stage (median)",
            Unit::Milliseconds,
            largest(visits(metrics)),
        ),
        chart(
            "Time of a piece of work, by agent (median)",
            Unit::Milliseconds,
            largest(agents(metrics, times)),
        ),
        chart("Visits, by stage", Unit::Count, largest(entered(metrics))),
        chart(
            "Work done again, by agent",
            Unit::Count,
            largest(agents(metrics, repeated)),
        ),
        chart(
            "Cost, by agent",
            Unit::Cents,
            largest(agents(metrics, costs)),
        ),
        chart(
            "Waiting for people (in all)",
            Unit::Milliseconds,
            largest(waits(metrics)),
        ),
        chart("Refusals, by rule", Unit::Count, largest(refusals(metrics))),
    ];
    all.into_iter()
        .filter(|chart| !chart.rows.is_empty())
        .collect()
}

/// More rows than this nobody reads.
const MOST_ROWS: usize = 20;

fn chart(heading: &str, unit: Unit, rows: Vec<ChartRow>) -> BarChart {
    let shown = rows.iter().filter(|row| row.sum() > 0);
    let rows: Vec<ChartRow> = shown.cloned().collect();
    let more = rows.len().saturating_sub(MOST_ROWS);
    let heading = match more {
        0 => heading.to_owned(),
        more => format!("{heading}; {more} more are not shown"),
    };
    BarChart {
        heading,
        unit,
        rows: rows.into_iter().take(MOST_ROWS).collect(),
    }
}

fn largest(mut rows: Vec<ChartRow>) -> Vec<ChartRow> {
    rows.sort_by_key(|row| std::cmp::Reverse(row.sum()));
    rows
}

fn row(name: String, parts: Vec<ChartPart>) -> ChartRow {
    ChartRow { name, parts }
}

fn part(kind: PartKind, value: u64) -> ChartPart {
    ChartPart { kind, value }
}

impl ChartRow {
    pub(super) fn sum(&self) -> u64 {
        let values = self.parts.iter().map(|part| part.value);
        values.fold(0, u64::saturating_add)
    }
}

fn statuses(metrics: &Metrics) -> Vec<ChartRow> {
    let statuses = metrics.runs.statuses.iter();
    let status = |(word, count): (&String, &u64)| {
        let kind = match word.as_str() {
            "completed" => PartKind::Good,
            "failed" => PartKind::Bad,
            "cancelled" => PartKind::Void,
            _ => PartKind::Plain,
        };
        row(word.clone(), vec![part(kind, *count)])
    };
    statuses.map(status).collect()
}

fn agents(metrics: &Metrics, parts: fn(&AgentFigures) -> Vec<ChartPart>) -> Vec<ChartRow> {
    let agents = metrics.agents.iter();
    agents
        .map(|(agent, figures)| row(agent.to_string(), parts(figures)))
        .collect()
}

fn successes(figures: &AgentFigures) -> Vec<ChartPart> {
    let sum = |is_so: fn(&str) -> bool| -> u64 {
        let counts: &Counts = &figures.outcomes;
        counts
            .iter()
            .filter(|(word, _)| is_so(word))
            .map(|(_, count)| count)
            .sum()
    };
    let bad = sum(is_bad);
    let void = sum(is_void);
    let all = sum(|_| true);
    vec![
        part(PartKind::Good, all - bad - void),
        part(PartKind::Bad, bad),
        part(PartKind::Void, void),
    ]
}

fn is_bad(word: &str) -> bool {
    Fault::parse(word).is_some() || word == "failed"
}

/// The run moved on without it.
fn is_void(word: &str) -> bool {
    matches!(word, "late" | "dropped")
}

fn times(figures: &AgentFigures) -> Vec<ChartPart> {
    spread(&figures.time)
}

fn spread(durations: &Durations) -> Vec<ChartPart> {
    let median = durations.median().unwrap_or(0);
    let most = durations.p90().unwrap_or(0);
    vec![
        part(PartKind::Plain, median),
        part(PartKind::UpTo90, most.saturating_sub(median)),
    ]
}

fn repeated(figures: &AgentFigures) -> Vec<ChartPart> {
    vec![part(PartKind::Bad, figures.retries + figures.sent_back)]
}

fn costs(figures: &AgentFigures) -> Vec<ChartPart> {
    vec![part(PartKind::Plain, figures.usage.cost_cents)]
}

fn stage_name(key: &StageKey) -> String {
    format!("{}/{}", key.pipeline, key.stage)
}

fn visits(metrics: &Metrics) -> Vec<ChartRow> {
    let stages = metrics.stages.iter();
    stages
        .map(|(key, figures)| row(stage_name(key), spread(&figures.time)))
        .collect()
}

fn entered(metrics: &Metrics) -> Vec<ChartRow> {
    let stages = metrics.stages.iter();
    let parts = |entered| vec![part(PartKind::Plain, entered)];
    stages
        .map(|(key, figures)| row(stage_name(key), parts(figures.entered)))
        .collect()
}

fn checks(metrics: &Metrics) -> Vec<ChartRow> {
    let checks = metrics.checks.iter();
    let one = |(key, figures): (&StageKey, &crate::metrics::CheckFigures)| {
        let parts = vec![
            part(PartKind::Good, figures.passed),
            part(PartKind::Bad, figures.failed),
            part(PartKind::Void, figures.void),
        ];
        row(stage_name(key), parts)
    };
    checks.map(one).collect()
}

fn reviews(metrics: &Metrics) -> Vec<ChartRow> {
    let reviews = metrics.reviews.iter();
    let one = |(key, figures): (&StageKey, &crate::metrics::ReviewFigures)| {
        let parts = vec![
            part(PartKind::Good, figures.approvals),
            part(PartKind::Bad, figures.findings),
        ];
        row(stage_name(key), parts)
    };
    reviews.map(one).collect()
}

fn waits(metrics: &Metrics) -> Vec<ChartRow> {
    let waits = metrics.people.waits.iter();
    let one = |(wait, figures): (&crate::metrics::Wait, &crate::metrics::WaitFigures)| {
        let total = figures.time.total().saturating_add(figures.open.total());
        row(wait.word().to_owned(), vec![part(PartKind::Plain, total)])
    };
    waits.map(one).collect()
}

fn refusals(metrics: &Metrics) -> Vec<ChartRow> {
    let refusals = metrics.refusals.iter();
    let parts = |count: &u64| vec![part(PartKind::Bad, *count)];
    refusals
        .map(|(rule, count)| row(rule.clone(), parts(count)))
        .collect()
}
