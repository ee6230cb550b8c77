//! Two runs side by side: what they did, how long it took, what was proved.

use std::collections::BTreeMap;

use engine::{RunId, Seconds, StageName};
use maud::{Markup, html};
use runtime::failure::Failure;
use views::facts::GateEvidence;
use views::time::span;

use super::run::{self, Shown};
use crate::page::{Page, Part, Place};
use crate::reading::Reading;
use crate::{bits, query};

pub(super) fn page(reading: &mut Reading<'_>, query: &str) -> Result<Page, Failure> {
    let run = |name: &str| query::value(query, name).and_then(|id| RunId::parse(id.trim()).ok());
    let (one, other) = (run("a"), run("b"));
    let both = match (&one, &other) {
        (Some(one), Some(other)) => Some((run::now(reading, one)?, run::now(reading, other)?)),
        _ => None,
    };
    let form = html! {
        h1 { "Compare two runs" }
        form.compare method="get" {
            label { "One run " input name="a" required value=[one.as_ref().map(RunId::as_str)] placeholder="r-…"; }
            label { "Another " input name="b" required value=[other.as_ref().map(RunId::as_str)] placeholder="r-…"; }
            button { "Compare" }
        }
    };
    let compared = match &both {
        Some((one, other)) => compared(reading, one, other),
        None => html! {},
    };
    Ok(Page {
        title: "Compare two runs".to_owned(),
        waiting: reading.waiting()?,
        place: Place::Run,
        parts: vec![Part::new("choose", form), Part::new("compared", compared)],
    })
}

fn compared(reading: &Reading<'_>, one: &Shown, other: &Shown) -> Markup {
    let both = [one, other];
    let row = |name: &str, cell: &dyn Fn(&Shown) -> Markup| {
        html! { tr { th scope="row" { (name) } @for shown in both { td { (cell(shown)) } } } }
    };
    html! {
        table.compared {
            thead { tr { th {} @for shown in both { th {
                a href=(reading.base.to(&format!("run/{}", shown.run.id))) { (shown.run.id) }
            } } } }
            tbody {
                (row("Task", &|it| html! { (it.view.task.line()) }))
                (row("Pipeline", &|it| html! { (it.view.pipeline) " " (bits::hash(it.view.definition)) }))
                (row("Status", &|it| bits::status(&it.view.status)))
                (row("Time", &|it| html! { (lasted(it)) }))
                (row("Entries", &|it| html! { (it.opened.stored.version) }))
                (row("Tokens", &|it| html! { (it.view.used.tokens) }))
                (row("Refusals", &|it| html! { (it.view.journal.as_ref().map_or(0, |j| j.refused)) }))
                (row("Overrides", &|it| html! { (it.view.overrides.len()) }))
            }
        }
        h2 { "Time in each stage" }
        (stages(one, other))
        h2 { "Gates" }
        (gates(one, other))
    }
}

fn lasted(shown: &Shown) -> String {
    let until = if bits::is_over(&shown.view.status) {
        shown.view.until()
    } else {
        shown.time
    };
    span(until.since(shown.view.started_at))
}

/// The visits of each stage, and how long they took together.
fn spent(shown: &Shown) -> BTreeMap<StageName, (usize, Seconds)> {
    let mut spent: BTreeMap<StageName, (usize, Seconds)> = BTreeMap::new();
    let visits = shown
        .view
        .journal
        .iter()
        .flat_map(|journal| &journal.visits);
    for visit in visits {
        let left = visit.left.as_ref().map(|left| left.at);
        // Nobody spends time in the stage in which a run has ended.
        let lasts = (!bits::is_over(&shown.view.status)).then_some(shown.time);
        let Some(until) = left.or(lasts) else {
            continue;
        };
        let so_far = spent.entry(visit.stage.clone());
        let (number, Seconds(time)) = so_far.or_insert((0, Seconds(0)));
        *number += 1;
        *time += until.since(visit.entered_at).0;
    }
    spent
}

fn stages(one: &Shown, other: &Shown) -> Markup {
    let (first, second) = (spent(one), spent(other));
    let mut names: Vec<&StageName> = first.keys().chain(second.keys()).collect();
    names.sort();
    names.dedup();
    let cell = |of: &BTreeMap<StageName, (usize, Seconds)>, name: &StageName| match of.get(name) {
        Some((number, time)) => html! { td.num { (span(*time)) span.dim { " ×" (number) } } },
        None => html! { td.num { span.dim { "–" } } },
    };
    html! {
        table { thead { tr { th { "Stage" } th.num { (one.run.id) } th.num { (other.run.id) } } }
            tbody { @for name in names { tr { td { (name) } (cell(&first, name)) (cell(&second, name)) } } }
        }
    }
}

fn gates(one: &Shown, other: &Shown) -> Markup {
    let of = |shown: &Shown| -> BTreeMap<StageName, Markup> {
        let gates = shown
            .view
            .journal
            .iter()
            .flat_map(|journal| journal.gates.clone());
        let shown = |gate: GateEvidence| {
            let state = bits::gate(&shown.view.status, gate.state);
            (gate.stage, state)
        };
        gates.map(shown).collect()
    };
    let (first, second) = (of(one), of(other));
    let mut names: Vec<&StageName> = first.keys().chain(second.keys()).collect();
    names.sort();
    names.dedup();
    let cell = |of: &BTreeMap<StageName, Markup>, name: &StageName| match of.get(name) {
        Some(state) => html! { td { (state) } },
        None => html! { td { span.dim { "–" } } },
    };
    html! {
        table { thead { tr { th { "Gate" } th { (one.run.id) } th { (other.run.id) } } }
            tbody { @for name in names { tr { td { (name) } (cell(&first, name)) (cell(&second, name)) } } }
        }
    }
}
