//! The pipelines that runs are pinned to: stages, proofs, and their runs.

use std::collections::BTreeMap;

use engine::{Hash, Pipeline, PipelineName, Target};
use maud::{Markup, html};
use runtime::failure::Failure;
use store::{Backend as _, RunSummary};
use views::list::RunRow;

use super::{bars, picture, runs};
use crate::bits;
use crate::page::{Page, Part, Place};
use crate::reading::Reading;

/// How many runs of a pipeline are on its page.
const MOST_RUNS: usize = 50;

/// The pipelines of all runs, by name.
pub(super) fn page(reading: &mut Reading<'_>) -> Result<Page, Failure> {
    let summaries = reading.summaries()?;
    let mut known: BTreeMap<&PipelineName, Vec<&RunSummary>> = BTreeMap::new();
    for summary in summaries.iter() {
        known.entry(&summary.pipeline).or_default().push(summary);
    }
    let list = html! {
        h1 { "Pipelines" }
        @if known.is_empty() { p.empty { "No run has been started yet. " (bits::command("gatewright pipelines")) " lists the built-in ones." } }
        div.cards { @for (name, runs) in &known { (card(reading, name, runs)) } }
    };
    Ok(Page {
        title: "Pipelines".to_owned(),
        waiting: reading.waiting()?,
        place: Place::Pipelines,
        parts: vec![Part::new("pipelines", list)],
    })
}

/// A pipeline with its latest runs, which come first.
fn card(reading: &Reading<'_>, name: &PipelineName, runs: &[&RunSummary]) -> Markup {
    let figures = reading.base.to(&format!("figures?pipeline={name}"));
    html! {
        article.card.pipeline {
            header {
                h2 { a href=(reading.base.to(&format!("pipeline/{name}"))) { (name) } }
                p.meta {
                    (bits::count(runs.len(), "run"))
                    @if let Some(latest) = runs.first() { " · the latest started " (bits::ago(latest.started_at, reading.now)) }
                    " · " a href=(figures) { "figures" }
                }
            }
            (bars::of(reading, runs.iter().copied()))
        }
    }
}

/// One pipeline, as its latest run is pinned to it.
pub(super) fn one(reading: &mut Reading<'_>, name: &str) -> Result<Page, Failure> {
    let unknown = || Failure::not_found("no run has this pipeline");
    let name = PipelineName::parse(name).map_err(|_| unknown())?;
    let summaries = reading.summaries()?;
    let summaries = summaries.iter().filter(|run| run.pipeline == name);
    let summaries: Vec<&RunSummary> = summaries.collect();
    let latest = summaries.first().ok_or_else(unknown)?.id.clone();
    let workspace = reading.workspace_of(&latest)?;
    let stored = workspace.store.run(&latest)?.ok_or_else(unknown)?;
    let hash = stored.run.definition;
    let pipeline = workspace.pipeline(hash)?;
    let shown = &summaries[..summaries.len().min(MOST_RUNS)];
    let rows = reading.rows(shown)?.rows;
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
            Part::new("runs", latest_runs(reading, &summaries, &rows)),
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

fn latest_runs(reading: &Reading<'_>, summaries: &[&RunSummary], rows: &[RunRow]) -> Markup {
    let all = summaries.len();
    html! {
        h2 { "Runs" span.count { (all) } }
        (bars::of(reading, summaries.iter().copied()))
        (runs::table(reading, rows))
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
