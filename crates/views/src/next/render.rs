//! The next steps as text and as JSON. Both read the same view, so they cannot disagree.

use serde_json::{Value, json};

use super::{Actor, ArtifactSpec, NextAction, NextView, ShownArtifact, VerdictField, questions};
use crate::change::ChangeReport;
use crate::layout::TextBuilder;
use crate::paint::{Paint, Style};
use crate::rest::Rest;
use crate::safe::Untrusted;
use crate::words;

pub(super) fn text(view: &NextView, paint: Paint) -> String {
    let mut builder = headed(view, paint);
    background(&mut builder, view);
    actions(&mut builder, view);
    builder.finish()
}

pub(super) fn background_text(view: &NextView, paint: Paint) -> String {
    let mut builder = TextBuilder::new(paint);
    background(&mut builder, view);
    builder.finish()
}

fn background(builder: &mut TextBuilder, view: &NextView) {
    view.causes.show(builder);
    for shown in &view.about {
        let lines = shown.lines();
        if lines.is_empty() {
            continue;
        }
        builder.blank();
        builder.line(Style::Strong, &format!("  {}:", shown.title()));
        for (style, line) in &lines {
            builder.indented(4, *style, line);
        }
    }
    if let Some(change) = &view.change {
        change.show(builder);
    }
    questions::show(builder, &view.questions);
}

pub(super) fn actions_text(view: &NextView, paint: Paint) -> String {
    let mut builder = headed(view, paint);
    actions(&mut builder, view);
    builder.finish()
}

fn headed(view: &NextView, paint: Paint) -> TextBuilder {
    let mut builder = TextBuilder::new(paint);
    let NextView { run, stage, .. } = view;
    let standing = if view.is_queued {
        format!("{run} is queued, and begins in {stage}")
    } else {
        format!("{run} is in {stage}")
    };
    builder.line(Style::Strong, &standing);
    builder
}

fn actions(builder: &mut TextBuilder, view: &NextView) {
    if let Some(rest) = &view.rest {
        builder.blank();
        builder.line(Style::Wait, &format!("it {}", rest.text(&view.run)));
    }
    for action in &view.actions {
        builder.blank();
        builder.line(style(&action.actor), &action.what.line());
        let call = action.call.iter().map(|call| (Style::Normal, call.line()));
        builder.fields("call", call);
        builder.fields(
            "type",
            action
                .commands
                .iter()
                .map(|command| (Style::Strong, command.clone())),
        );
        builder.fields("leave", action.leaves.iter().flat_map(left));
        builder.fields(
            "may read",
            action.reads.iter().map(|spec| (Style::Normal, place(spec))),
        );
    }
}

fn style(actor: &Actor) -> Style {
    match actor {
        Actor::Person => Style::Wait,
        Actor::Nobody => Style::Dim,
        Actor::Agent(_) | Actor::Session | Actor::AnyAgent(_) | Actor::Gatewright => Style::Normal,
    }
}

/// Its place, then what it must contain.
fn left(spec: &ArtifactSpec) -> Vec<(Style, String)> {
    let mut lines = vec![(Style::Normal, place(spec))];
    if !spec.require.is_empty() {
        let fields: Vec<_> = spec.require.iter().map(Untrusted::line).collect();
        lines.push((Style::Dim, format!("  with {}", fields.join(", "))));
    }
    lines.extend(spec.equals.iter().map(|(field, text)| {
        let line = format!("  whose {} is {}", field.line(), text.line());
        (Style::Dim, line)
    }));
    lines.extend(
        spec.verdict
            .as_ref()
            .map(|verdict| (Style::Dim, format!("  {}", words_of(verdict)))),
    );
    if !spec.strict {
        lines.push((
            Style::Dim,
            "  only a warning if it is missing or invalid".to_owned(),
        ));
    }
    lines
}

fn words_of(verdict: &VerdictField) -> String {
    let words = verdict.words.iter();
    let words: Vec<_> = words
        .map(|(word, means)| {
            if word.raw() == means.as_str() {
                word.line()
            } else {
                format!("{} ({means})", word.line())
            }
        })
        .collect();
    format!("whose {} is {}", verdict.field.line(), words.join(" or "))
}

fn place(spec: &ArtifactSpec) -> String {
    let place = match &spec.path {
        Some(path) => format!("in {}", path.line()),
        None => format!("as {}", spec.source),
    };
    let captured = spec
        .captured
        .as_ref()
        .map(|content| format!(", captured {}", words::short(content)));
    let shown = spec.shown_by.as_ref().map(|command| format!(": {command}"));
    format!(
        "{} ({}) {place}{}{}",
        spec.name,
        spec.format,
        captured.unwrap_or_default(),
        shown.unwrap_or_default()
    )
}

pub(super) fn json(view: &NextView) -> Value {
    let actions: Vec<_> = view.actions.iter().map(action_json).collect();
    json!({
        "run": view.run.as_str(),
        "stage": view.stage.as_str(),
        "causes": view.causes.json(),
        "about": view.about.iter().map(ShownArtifact::json).collect::<Vec<_>>(),
        "change": view.change.as_ref().map(ChangeReport::json),
        "questions": view.questions.iter().map(questions::json).collect::<Vec<_>>(),
        "rest": view.rest.as_ref().map(Rest::json),
        "next": actions,
    })
}

fn action_json(action: &NextAction) -> Value {
    json!({
        "who": actor_json(&action.actor),
        "what": action.what.raw(),
        "call": action.call.as_ref().map(Untrusted::raw),
        "commands": action.commands,
        "reads": action.reads.iter().map(spec_json).collect::<Vec<_>>(),
        "leaves": action.leaves.iter().map(spec_json).collect::<Vec<_>>(),
    })
}

fn actor_json(actor: &Actor) -> Value {
    match actor {
        Actor::Agent(agent) => json!({ "kind": "agent", "agent": agent.as_str() }),
        Actor::AnyAgent(agents) => {
            json!({ "kind": "any_agent", "agents": agents.iter().map(Untrusted::raw).collect::<Vec<_>>() })
        }
        Actor::Session => json!({ "kind": "session" }),
        Actor::Person => json!({ "kind": "person" }),
        Actor::Gatewright => json!({ "kind": "gatewright" }),
        Actor::Nobody => json!({ "kind": "nobody" }),
    }
}

fn spec_json(spec: &ArtifactSpec) -> Value {
    let verdict = spec.verdict.as_ref().map(|verdict| {
        let words = verdict
            .words
            .iter()
            .map(|(word, means)| (word.raw().to_owned(), json!(means.as_str())));
        json!({ "field": verdict.field.raw(), "words": Value::Object(words.collect()) })
    });
    let equals = spec.equals.iter();
    let equals = equals.map(|(field, text)| (field.raw().to_owned(), json!(text.raw())));
    json!({
        "artifact": spec.name.as_str(),
        "source": spec.source,
        "path": spec.path.as_ref().map(Untrusted::raw),
        "format": spec.format,
        "require": spec.require.iter().map(Untrusted::raw).collect::<Vec<_>>(),
        "equals": Value::Object(equals.collect()),
        "outcome": verdict,
        "strict": spec.strict,
        "captured": spec.captured.map(|content| content.to_string()),
        "shown_by": spec.shown_by,
    })
}
