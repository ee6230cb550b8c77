//! The pipelines that runs are pinned to: stages, proofs, and their runs.

use std::collections::BTreeMap;

use engine::{Hash, Pipeline, PipelineName, Target};
use maud::{Markup, html};
use runtime::failure::Failure;
use store::{Backend as _, RunSummary};
use views::list::{RowDepth, RunRow};

use super::{home, picture};
use crate::bits;
use crate::page::{Page, Part, Place};
use crate::reading::Reading;

/// So many runs of a pipeline are on its page.
const MOST_RUNS: usize = 50;

/// The pipelines of all runs, by name.
pub(super) fn page(reading: &mut Reading<'_>) -> Result<Page, Failure> {
    let mut known: BTreeMap<PipelineName, (usize, RunSummary)> = BTreeMap::new();
    if let Some(workspace) = &reading.workspace {
        for summary in workspace.store.runs(None)? {
            let entry = known.entry(summary.pipeline.clone());
            let (number, _) = entry.or_insert_with(|| (0, summary.clone()));
            *number += 1;
        }
    }
    let list = html! {
        h1 { "Pipelines" }
        @if known.is_empty() { p.empty { "No run has been started yet. " (bits::command("gatewright pipelines")) " lists the built-in ones." } }
        div.cards { @for (name, (number, latest)) in &known {
            article.card {
                h2 { a href=(reading.base.to(&format!("pipeline/{name}"))) { (name) } }
                p.meta { (bits::count(*number, "run")) " · the latest started " (bits::ago(latest.started_at, reading.now)) }
            }
        } }
    };
    Ok(Page {
        title: "Pipelines".to_owned(),
        waiting: reading.waiting()?,
        place: Place::Pipelines,
        parts: vec![Part::new("pipelines", list)],
    })
}

/// One pipeline, as its latest run is pinned to it.
pub(super) fn one(reading: &mut Reading<'_>, name: &str) -> Result<Page, Failure> {
    let unknown = || Failure::not_found("no run has this pipeline");
    let name = PipelineName::parse(name).map_err(|_| unknown())?;
    let now = reading.now;
    let workspace = reading.workspace()?;
    let mut summaries = workspace.store.runs(None)?;
    summaries.retain(|summary| summary.pipeline == name);
    let latest = summaries.first().ok_or_else(unknown)?.id.clone();
    let stored = workspace.store.run(&latest)?.ok_or_else(unknown)?;
    let hash = stored.run.definition;
    let pipeline = workspace.pipeline(hash)?;
    let all = summaries.len();
    let shown = summaries.iter().take(MOST_RUNS);
    let workspace = reading.workspace.as_mut().ok_or_else(unknown)?;
    let rows = reading
        .runs
        .rows(workspace, shown, RowDepth::Summary, now)?
        .rows;
    Ok(Page {
        title: name.to_string(),
        waiting: reading.waiting()?,
        place: Place::Pipelines,
        parts: vec![
            Part::new("pipeline", definition(&pipeline, hash)),
            Part::new(
                "picture",
                html! { h2 { "The picture" } (picture::of_pipeline(&pipeline)) },
            ),
            Part::new("stages", stages(&pipeline)),
            Part::new("runs", runs(reading, &rows, all)),
        ],
    })
}

fn definition(pipeline: &Pipeline, hash: Hash) -> Markup {
    let definition = pipeline.definition();
    html! {
        h1 { (definition.name) }
        p.lead { (views::line(&definition.about)) }
        p.meta { (bits::count(definition.stages.len(), "stage")) " · definition " (bits::hash(hash)) }
        @if !definition.proofs.is_empty() {
            h2 { "Proved" span.count { (definition.proofs.len()) } }
            ul.proofs { @for proof in &definition.proofs { li {
                span.pill.good { "✓ holds on every path" } " " (views::line(&proof.name))
            } } }
        }
    }
}

fn stages(pipeline: &Pipeline) -> Markup {
    html! {
        h2 { "Stages" }
        table { thead { tr { th { "Stage" } th { "Kind" } th { "Ways out" } } }
            tbody { @for stage in &pipeline.definition().stages { tr id=(format!("stage-{}", stage.name)) {
                td { strong { (stage.name) } }
                td { (views::stage_kind(stage)) }
                td { @for (outcome, edge) in &stage.on { span.way { (outcome) " → " (target(&edge.to)) } " " } }
            } } }
        }
    }
}

fn runs(reading: &Reading<'_>, rows: &[RunRow], all: usize) -> Markup {
    html! {
        h2 { "Runs" span.count { (all) } }
        (home::table(reading, rows))
        @if all > rows.len() { p.dim { "The latest " (rows.len()) " are shown." } }
    }
}

fn target(target: &Target) -> String {
    match target {
        Target::Stage(stage) => stage.to_string(),
        Target::Interrupted => "where it was going".to_owned(),
        Target::Param(param) => format!("the stage of {param}"),
    }
}
