//! A drawing for the terminal: stages in the order of the file, each with its edges.

use engine::{Begins, Definition, Edge, LongerWay, Mode, Stage, StageName, Target, Work};

use super::caption;
use super::chart::Chart;
use crate::layout::{COLUMNS, pad, width, wrap};
use crate::safe::line;
use crate::words;

/// Wider names do not widen the column.
const NAME_COLUMNS: usize = 24;

/// `review` and two spaces.
const KIND_COLUMNS: usize = 8;

pub(super) fn render(chart: &Chart<'_>) -> String {
    let definition = chart.definition;
    let names = definition
        .stages
        .iter()
        .map(|stage| width(stage.name.as_str()));
    let name_columns = names
        .filter(|width| *width <= NAME_COLUMNS)
        .max()
        .unwrap_or(0);
    let longer = chart.outgrown();
    let mut lines = heading(definition);
    for (place, stage) in chart.stages() {
        lines.push(String::new());
        lines.extend(stage_lines(chart, stage, name_columns));
        lines.extend(way_lines(chart, place, stage, &longer));
    }
    lines.extend(footnotes(definition));
    let lines: Vec<_> = lines.iter().map(|line| line.trim_end()).collect();
    lines.join("\n") + "\n"
}

fn heading(definition: &Definition) -> Vec<String> {
    let begins = match definition.begins {
        Begins::Session => "every session has a run",
        Begins::Command => "a command starts a run",
    };
    let mode = match definition.mode {
        Mode::Enforced => "enforced",
        Mode::Advisory => "advisory: not enforced",
    };
    let count = definition.stages.len();
    let stages = if count == 1 {
        "1 stage".to_owned()
    } else {
        format!("{count} stages")
    };
    let mut lines = vec![definition.name.to_string()];
    if !definition.about.trim().is_empty() {
        lines.extend(wrap(&line(&definition.about), COLUMNS));
    }
    lines.push(format!(
        "{stages} · {begins} · {mode} · ▶ start · ■ end · ↺ goes back"
    ));
    lines
}

/// The stage on its first line, and what is read, left and asked for below it.
fn stage_lines(chart: &Chart<'_>, stage: &Stage, name_columns: usize) -> Vec<String> {
    let kind = pad(words::stage_kind(stage), KIND_COLUMNS);
    let head = format!(
        "{} {}  {kind}",
        mark(chart, stage),
        pad(stage.name.as_str(), name_columns)
    );
    let here = if chart.is_here(stage) {
        "  ◀ here"
    } else {
        ""
    };
    let indent = name_columns + 4 + KIND_COLUMNS;
    let mut lines = Vec::new();
    for text in body(chart, stage) {
        let taken = if lines.is_empty() {
            width(&head) + width(here)
        } else {
            indent
        };
        lines.extend(wrap(&text, COLUMNS.saturating_sub(taken)));
    }
    let mut lines = lines.into_iter();
    let mut all = vec![format!("{head}{}{here}", lines.next().unwrap_or_default())];
    all.extend(lines.map(|line| format!("{}{line}", " ".repeat(indent))));
    all
}

fn mark(chart: &Chart<'_>, stage: &Stage) -> &'static str {
    match (&stage.work, chart.is_start(stage)) {
        (_, true) => "▶",
        (Work::End(_), false) => "■",
        (_, false) => " ",
    }
}

fn body(chart: &Chart<'_>, stage: &Stage) -> Vec<String> {
    let mut lines = caption::work(chart, stage);
    let artifact_specs = caption::artifact_specs(stage).join(" · ");
    if !artifact_specs.is_empty() {
        lines.push(artifact_specs);
    }
    lines
}

fn way_lines(chart: &Chart<'_>, from: usize, stage: &Stage, longer: &[LongerWay]) -> Vec<String> {
    let edges = stage.edges().into_iter();
    let edges = edges.map(|(way, edge)| (line(&way.to_string()), way_text(chart, from, edge)));
    let outgrown = longer.iter().filter(|way| way.from == stage.name);
    let outgrown = outgrown.map(|way| ("outgrown".to_owned(), longer_text(chart, from, way)));
    let ways: Vec<(String, String)> = edges.chain(outgrown).collect();
    let columns = ways.iter().map(|(way, _)| width(way)).max();
    let columns = columns.unwrap_or(0).min(NAME_COLUMNS);
    let last = ways.len().saturating_sub(1);
    let mut lines = Vec::new();
    for (place, (way, text)) in ways.iter().enumerate() {
        let (branch, below) = if place == last {
            ("└", " ")
        } else {
            ("├", "│")
        };
        let text = format!("{} {text}", pad(way, columns));
        let mut head = format!("    {branch} ");
        for part in wrap(&text, COLUMNS - 10) {
            lines.push(format!("{head}{part}"));
            head = format!("    {below}     ");
        }
    }
    lines
}

/// `↺ plan_drafting · when the change no longer meets the route sizing`.
fn longer_text(chart: &Chart<'_>, from: usize, way: &LongerWay) -> String {
    let LongerWay { route, to, .. } = way;
    let goal = stage_goal(chart, from, to);
    format!("{goal} · when the change no longer meets the route {route}")
}

/// `→ linting`, `↺ debugging · counts fixes; past 2 → escalate`.
fn way_text(chart: &Chart<'_>, from: usize, edge: &Edge) -> String {
    let mut parts = vec![goal(chart, from, edge)];
    parts.extend(chart.counter(edge).map(|(name, counter)| {
        format!(
            "counts {name}, past {} → {}",
            chart.maximum(counter),
            counter.then
        )
    }));
    parts.extend(caption::effects(edge));
    parts.join(" · ")
}

fn goal(chart: &Chart<'_>, from: usize, edge: &Edge) -> String {
    match &edge.to {
        Target::Stage(to) => stage_goal(chart, from, to),
        Target::Interrupted => {
            let goals = chart.resumed(from).into_iter();
            let names: Vec<_> = goals.filter_map(|place| name(chart, place)).collect();
            let names = if names.is_empty() {
                String::new()
            } else {
                format!(": {}", names.join(" or "))
            };
            format!("↺ back to where it was going{names}")
        }
        Target::Param(param) => {
            let choices = chart.choices(param).into_iter();
            let names: Vec<_> = choices.map(|(_, choice)| choice).collect();
            format!("→ {} (by {{{param}}})", names.join(" or "))
        }
    }
}

fn stage_goal(chart: &Chart<'_>, from: usize, to: &StageName) -> String {
    match chart.place(to) {
        Some(place) if place <= from => format!("↺ {to}"),
        Some(_) | None => format!("→ {to}"),
    }
}

fn name<'a>(chart: &Chart<'a>, place: usize) -> Option<&'a str> {
    chart
        .definition
        .stages
        .get(place)
        .map(|stage| stage.name.as_str())
}

/// What is not drawn: the members of groups, and what was proved.
fn footnotes(definition: &Definition) -> Vec<String> {
    let groups = definition.groups.iter().map(|(name, members)| {
        (
            "group   ",
            format!("{name}: {}", caption::patterns(members)),
        )
    });
    let proofs = definition
        .proofs
        .iter()
        .map(|proof| ("proved  ", line(&proof.name)));
    let mut lines = Vec::new();
    for (head, text) in groups.chain(proofs) {
        if lines.is_empty() {
            lines.push(String::new());
        }
        let heads = std::iter::once(head).chain(std::iter::repeat("        "));
        let parts = wrap(&text, COLUMNS - head.len());
        lines.extend(heads.zip(parts).map(|(head, part)| format!("{head}{part}")));
    }
    lines
}
