//! The next steps as text and as JSON. Both read the same view, so they cannot disagree.

use serde_json::{Value, json};

use super::{Actor, NextView, Paper, VerdictField, WayOn};
use crate::layout::Sheet;
use crate::paint::{Paint, Style};
use crate::safe::Outside;
use crate::words;

pub fn text(view: &NextView, paint: Paint) -> String {
    let mut sheet = Sheet::new(paint);
    sheet.line(Style::Strong, &format!("{} is in {}", view.run, view.stage));
    for way in &view.ways {
        sheet.blank();
        sheet.line(style(&way.actor), &way.what.line());
        sheet.fields(
            "type",
            way.commands
                .iter()
                .map(|command| (Style::Strong, command.clone())),
        );
        sheet.fields("leave", way.leaves.iter().flat_map(left));
        sheet.fields(
            "may read",
            way.reads.iter().map(|paper| (Style::Normal, place(paper))),
        );
    }
    sheet.finish()
}

fn style(actor: &Actor) -> Style {
    match actor {
        Actor::Person => Style::Wait,
        Actor::Nobody => Style::Dim,
        Actor::Agent(_) | Actor::Session | Actor::AnyAgent(_) | Actor::Gatewright => Style::Normal,
    }
}

/// Where it lies, then what must be in it.
fn left(paper: &Paper) -> Vec<(Style, String)> {
    let mut lines = vec![(Style::Normal, place(paper))];
    if !paper.require.is_empty() {
        let fields: Vec<_> = paper.require.iter().map(Outside::line).collect();
        lines.push((Style::Dim, format!("  with {}", fields.join(", "))));
    }
    lines.extend(paper.equals.iter().map(|(field, text)| {
        let line = format!("  whose {} is {}", field.line(), text.line());
        (Style::Dim, line)
    }));
    lines.extend(
        paper
            .verdict
            .as_ref()
            .map(|verdict| (Style::Dim, format!("  {}", words_of(verdict)))),
    );
    if !paper.strict {
        lines.push((
            Style::Dim,
            "  a missing or invalid one is only a warning".to_owned(),
        ));
    }
    lines
}

fn words_of(verdict: &VerdictField) -> String {
    let words = verdict.words.iter();
    let words: Vec<_> = words
        .map(|(word, means)| match word.raw() == means.as_str() {
            true => word.line(),
            false => format!("{} ({means})", word.line()),
        })
        .collect();
    format!("whose {} is {}", verdict.field.line(), words.join(" or "))
}

fn place(paper: &Paper) -> String {
    let place = match &paper.path {
        Some(path) => format!("in {}", path.line()),
        None => format!("as {}", paper.source),
    };
    let captured = paper
        .captured
        .as_ref()
        .map(|content| format!(", captured {}", words::short(content)));
    let shown = paper
        .shown_by
        .as_ref()
        .map(|command| format!(": {command}"));
    format!(
        "{} ({}) {place}{}{}",
        paper.name,
        paper.format,
        captured.unwrap_or_default(),
        shown.unwrap_or_default()
    )
}

pub fn json(view: &NextView) -> Value {
    let ways: Vec<_> = view.ways.iter().map(way_json).collect();
    json!({ "run": view.run.as_str(), "stage": view.stage.as_str(), "next": ways })
}

fn way_json(way: &WayOn) -> Value {
    json!({
        "who": actor_json(&way.actor),
        "what": way.what.raw(),
        "commands": way.commands,
        "reads": way.reads.iter().map(paper_json).collect::<Vec<_>>(),
        "leaves": way.leaves.iter().map(paper_json).collect::<Vec<_>>(),
    })
}

fn actor_json(actor: &Actor) -> Value {
    match actor {
        Actor::Agent(agent) => json!({ "kind": "agent", "agent": agent.as_str() }),
        Actor::AnyAgent(agents) => {
            json!({ "kind": "any_agent", "agents": agents.iter().map(Outside::raw).collect::<Vec<_>>() })
        }
        Actor::Session => json!({ "kind": "session" }),
        Actor::Person => json!({ "kind": "person" }),
        Actor::Gatewright => json!({ "kind": "gatewright" }),
        Actor::Nobody => json!({ "kind": "nobody" }),
    }
}

fn paper_json(paper: &Paper) -> Value {
    let verdict = paper.verdict.as_ref().map(|verdict| {
        let words = verdict
            .words
            .iter()
            .map(|(word, means)| (word.raw().to_owned(), json!(means.as_str())));
        json!({ "field": verdict.field.raw(), "words": Value::Object(words.collect()) })
    });
    let equals = paper.equals.iter();
    let equals = equals.map(|(field, text)| (field.raw().to_owned(), json!(text.raw())));
    json!({
        "artifact": paper.name.as_str(),
        "source": paper.source,
        "path": paper.path.as_ref().map(Outside::raw),
        "format": paper.format,
        "require": paper.require.iter().map(Outside::raw).collect::<Vec<_>>(),
        "equals": Value::Object(equals.collect()),
        "outcome": verdict,
        "strict": paper.strict,
        "captured": paper.captured.map(|content| content.to_string()),
        "shown_by": paper.shown_by,
    })
}
