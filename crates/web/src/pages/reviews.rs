//! The latest verdicts of each panel, side by side.

use engine::{ReviewWork, RunId, Stage, Work};
use maud::{Markup, html};
use runtime::failure::Failure;
use store::Backend as _;

use super::run::{self, Shown, Tab};
use crate::bits;
use crate::page::{Page, Part, Place};
use crate::reading::Reading;

/// A longer verdict is cut here; its artifact has more.
const LONGEST: usize = 64 * 1024;

pub(super) fn page(reading: &mut Reading<'_>, run: &RunId) -> Result<Page, Failure> {
    let shown = run::now(reading, run)?;
    let stages = shown.opened.pipeline.definition().stages.iter();
    let mut panels = Vec::new();
    for (stage, review) in stages.filter_map(reviewing) {
        panels.push(panel(reading, &shown, stage, review)?);
    }
    let content = html! {
        @if panels.is_empty() { p.empty { "This pipeline has no reviews." } }
        @for panel in &panels { (panel) }
    };
    Ok(Page {
        title: format!("Reviews of {run}"),
        waiting: reading.waiting()?,
        place: Place::Run,
        parts: vec![
            run::heading(reading, &shown, Tab::Reviews),
            Part::new("reviews", content),
        ],
    })
}

fn reviewing(stage: &Stage) -> Option<(&Stage, &ReviewWork)> {
    match &stage.work {
        Work::Review(review) => Some((stage, review)),
        Work::Agent(_)
        | Work::Open(_)
        | Work::Check(_)
        | Work::Ask(_)
        | Work::Steps(_)
        | Work::Route(_)
        | Work::End(_) => None,
    }
}

fn panel(
    reading: &mut Reading<'_>,
    shown: &Shown,
    stage: &Stage,
    review: &ReviewWork,
) -> Result<Markup, Failure> {
    // Two panels may leave artifacts of one name: what lies there is of a panel that was asked.
    let journal = shown.view.journal.as_ref();
    let was_asked = journal.is_some_and(|it| it.ways.entered.contains_key(&stage.name));
    let mut verdicts = Vec::new();
    for reviewer in &review.panel {
        let left = shown.view.artifacts.iter();
        let left = left.clone().find(|line| line.name == reviewer.leaves);
        let text = match left.filter(|_| was_asked) {
            Some(line) => reading
                .workspace_of(&shown.run.id)?
                .store
                .content(line.content)?,
            None => None,
        };
        verdicts.push((reviewer, text));
    }
    Ok(html! {
        h2 { (stage.name) @if !was_asked { span.count { "not asked" } } }
        div.side { @for (reviewer, text) in &verdicts {
            article.card {
                header { strong { (reviewer.agent.as_str()) } " " span.dim { (reviewer.leaves) } }
                @match text {
                    Some(bytes) => { (verdict(bytes)) },
                    None => { p.empty { "No verdict yet." } },
                }
            }
        } }
    })
}

fn verdict(bytes: &[u8]) -> Markup {
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(LONGEST)]);
    html! {
        pre.output { (views::safe(&shown)) }
        @if bytes.len() > LONGEST { p.dim { "Cut here, of " (bits::count(bytes.len(), "byte")) "." } }
    }
}
