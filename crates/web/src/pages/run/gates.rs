//! The gates of a run, each with its evidence: command, exit code, tree, reviewers, and whether it still holds.

use maud::{Markup, html};
use views::facts::{CommandEvidence, GateEvidence, ReviewEvidence};

use super::{Shown, entry_link};
use crate::bits;
use crate::reading::Reading;

pub(super) fn gates(reading: &Reading<'_>, shown: &Shown) -> Markup {
    let gates = shown.view.journal.as_ref().map(|journal| &journal.gates);
    let gates = gates.map(Vec::as_slice).unwrap_or_default();
    html! {
        @if !gates.is_empty() {
            h2 { "Gates" span.count { (gates.len()) } }
            div.gates { @for gate in gates { (one(reading, shown, gate)) } }
        }
    }
}

fn one(reading: &Reading<'_>, shown: &Shown, gate: &GateEvidence) -> Markup {
    html! {
        article.gate {
            header {
                (bits::gate(&shown.view.status, gate.state)) " " strong { (gate.stage) } " " span.dim { (gate.kind) }
                @if let Some(round) = gate.round { span.dim { " · round " (round) } }
                @if let Some(at) = gate.at { span.meta { " · " (bits::ago(at, shown.time)) } }
                @if let Some(entry) = gate.entry { " · " (entry_link(reading, &shown.run.id, entry)) }
                @if let Some(subject) = gate.subject { span.meta { " · of " (bits::hash(subject)) } }
            }
            @for (index, evidence) in gate.commands.iter().enumerate() {
                (command(gate, index, evidence))
            }
            @if !gate.reviews.is_empty() {
                ul.reviews { @for review in &gate.reviews { (self::review(reading, shown, review)) } }
            }
        }
    }
}

fn command(gate: &GateEvidence, index: usize, evidence: &CommandEvidence) -> Markup {
    let tail = evidence.tail.block();
    let class = match evidence.exit {
        Some(0) => "good",
        Some(_) | None => "bad",
    };
    let head = html! {
        code { "$ " (evidence.command.line()) }
        " " span class=(format!("pill {class}")) { (evidence.ended.line()) }
        " " span.dim { (views::time::duration(evidence.duration_ms)) }
    };
    html! {
        @if tail.trim().is_empty() { p.check { (head) } } @else {
            details.check id=(format!("check-{}-{index}", gate.stage)) {
                summary { (head) }
                pre.output { (tail) }
            }
        }
    }
}

fn review(reading: &Reading<'_>, shown: &Shown, review: &ReviewEvidence) -> Markup {
    html! {
        li {
            @match review.approved {
                Some(content) => { span.pill.good { "✓ approved" } " " (bits::hash(content)) },
                None => { span.pill.wait { "△ found problems" } },
            }
            " " @match &review.agent {
                Some(agent) => { (agent.as_str()) },
                None => { "reviewer " (review.reviewer) },
            }
            span.meta { " · " (bits::ago(review.at, shown.time)) " · " (entry_link(reading, &shown.run.id, review.entry)) }
        }
    }
}
