//! Figures over many runs: results, where time goes, who works, where runs wait.

use engine::PipelineName;
use maud::{Markup, PreEscaped, html};
use runtime::failure::Failure;
use views::metrics::{Durations, Metrics};
use views::time::duration;

use crate::page::{Page, Part, Place};
use crate::reading::{MOST_COUNTED, Reading};
use crate::{bits, query};

pub(super) fn page(reading: &mut Reading<'_>, query: &str) -> Result<Page, Failure> {
    let pipeline = query::value(query, "pipeline").and_then(|name| PipelineName::parse(&name).ok());
    let waiting = reading.waiting()?;
    let (found, counted) =
        reading.figures(|run| pipeline.as_ref().is_none_or(|name| *name == run.pipeline))?;
    let figures = found.figures;
    let title = match &pipeline {
        Some(pipeline) => format!("Figures of {pipeline}"),
        None => "Figures".to_owned(),
    };
    let head = html! {
        h1 { (title) }
        p.meta { "counted from the journals of " (bits::count(counted, "run"))
            @if counted == MOST_COUNTED { ", the latest" }
            " · " a href=(reading.base.to("metrics")) { "for Prometheus" } }
        @if let Some(why) = &reading.fleet_figures.missing {
            p.banner.bad role="alert" { (views::line(&why.to_string())) }
        }
    };
    Ok(Page {
        title,
        waiting,
        place: Place::Figures,
        parts: vec![
            Part::new("figures", head),
            Part::new("results", results(&figures)),
            Part::new("charts", charts(&figures)),
            Part::new("stages", stages(&figures)),
            Part::new("agents", agents(&figures)),
            Part::new("waits", waits(&figures)),
        ],
    })
}

fn results(figures: &Metrics) -> Markup {
    let runs = &figures.runs;
    let all = runs.total();
    html! {
        div.tiles {
            (tile("runs", &all.to_string()))
            @if let Some(permille) = runs.success_permille() {
                (tile("completed of those that ended", &format!("{}.{} %", permille / 10, permille % 10)))
            }
            @if let Some(median) = runs.time.median() { (tile("median time to complete", &duration(median))) }
            @if runs.usage.tokens > 0 { (tile("tokens", &runs.usage.tokens.to_string())) }
            @if runs.usage.cost_cents > 0 {
                (tile("cost", &engine::cost_text(&runs.usage)))
            }
            @if runs.overridden > 0 { (tile("runs with overrides", &runs.overridden.to_string())) }
        }
    }
}

/// Invariant: the charts escape every text themselves.
fn charts(figures: &Metrics) -> Markup {
    html! {
        div.charts { @for chart in views::charts::charts(figures) {
            div.picture tabindex="0" { (PreEscaped(chart.svg_without_style())) }
        } }
    }
}

fn tile(name: &str, value: &str) -> Markup {
    html! { div.tile { strong { (value) } span { (name) } } }
}

fn stages(figures: &Metrics) -> Markup {
    let longest = figures
        .stages
        .values()
        .filter_map(|it| it.time.median())
        .max();
    html! {
        @if !figures.stages.is_empty() {
            h2 { "Where time goes" }
            table { thead { tr { th { "Stage" } th.num { "Entered" } th.num { "Median" } th.num { "90 %" } th {} th { "Left with" } } }
                tbody { @for (key, stage) in &figures.stages { tr {
                    td { (key.stage) " " span.dim { (key.pipeline) } }
                    td.num { (stage.entered) }
                    (times(&stage.time))
                    td { (bar(stage.time.median().unwrap_or(0), longest.unwrap_or(1))) }
                    td.outcomes { @for (outcome, number) in &stage.outcomes { span.way { (outcome) " " (number) } " " } }
                } } }
            }
        }
    }
}

fn agents(figures: &Metrics) -> Markup {
    html! {
        @if !figures.agents.is_empty() {
            h2 { "Who works" }
            table { thead { tr { th { "Agent" } th.num { "Work" } th.num { "Median" } th.num { "90 %" } th.num { "Retries" } th.num { "Sent back" } th.num { "Tokens" } th { "Ended with" } } }
                tbody { @for (agent, work) in &figures.agents { tr {
                    td { (agent.as_str()) }
                    td.num { (work.dispatches) }
                    (times(&work.time))
                    td.num { (work.retries) } td.num { (work.sent_back) } td.num { (work.usage.tokens) }
                    td.outcomes { @for (outcome, number) in &work.outcomes { span.way { (outcome) " " (number) } " " } }
                } } }
            }
        }
        @if !figures.checks.is_empty() {
            h2 { "Checks" }
            table { thead { tr { th { "Stage" } th.num { "Passed" } th.num { "Failed" } th.num { "Void" } th {} } }
                tbody { @for (key, check) in &figures.checks { tr {
                    td { (key.stage) " " span.dim { (key.pipeline) } }
                    td.num { (check.passed) } td.num { (check.failed) } td.num { (check.void) }
                    td { (bar(check.passed, check.passed + check.failed + check.void)) }
                } } }
            }
        }
    }
}

fn waits(figures: &Metrics) -> Markup {
    html! {
        @if !figures.people.waits.is_empty() {
            h2 { "Where runs wait for people" }
            table { thead { tr { th { "Why" } th.num { "Waits" } th.num { "Median" } th.num { "90 %" } th.num { "Waiting now" } } }
                tbody { @for (wait, waited) in &figures.people.waits { tr {
                    td { (wait.word()) }
                    td.num { (waited.time.count()) }
                    (times(&waited.time))
                    td.num { (waited.open.count()) }
                } } }
            }
        }
    }
}

fn times(time: &Durations) -> Markup {
    let shown = |value: Option<u64>| value.map_or_else(|| "–".to_owned(), duration);
    html! { td.num { (shown(time.median())) } td.num { (shown(time.p90())) } }
}

/// A part of a whole, as a length.
fn bar(part: u64, whole: u64) -> Markup {
    let length = (part.saturating_mul(120))
        .checked_div(whole)
        .unwrap_or(0)
        .min(120);
    html! {
        svg.bar-of width="120" height="10" viewBox="0 0 120 10" aria-hidden="true" {
            rect.rail width="120" height="10" rx="2" {}
            rect.fill width=(length) height="10" rx="2" {}
        }
    }
}
