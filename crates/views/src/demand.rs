//! What a worker must leave behind, told so that it can.

use engine::{Artifact, ArtifactName, Definition, Format, Leaves, Outcome, Run, Source, StepId};
use serde_json::Value;

use crate::next::filled;
use crate::safe::line;

/// A line for each artifact: what it is called, where it lies, and what must be in it.
pub fn demands(
    definition: &Definition,
    run: &Run,
    leaves: &Leaves,
    step: Option<&StepId>,
) -> Vec<String> {
    let always = leaves.always.iter().map(|name| (name, None));
    let by_outcome = leaves.by_outcome.iter();
    let others = by_outcome.flat_map(|(outcome, names)| {
        let named = names.iter();
        named.map(move |name| (name, Some(outcome)))
    });
    let told = always.chain(others).filter_map(|(name, outcome)| {
        let artifact = definition.artifacts.get(name)?;
        Some(demand(name, artifact, outcome, &place(run, artifact, step)))
    });
    told.collect()
}

fn demand(name: &ArtifactName, artifact: &Artifact, when: Option<&Outcome>, place: &str) -> String {
    let when = when.map(|outcome| format!(" (when the outcome is `{outcome}`)"));
    let fields = fields(artifact);
    let fields = match fields.is_empty() {
        true => String::new(),
        false => format!(", with the fields {}", fields.join(", ")),
    };
    let verdict = verdict(artifact).map(|words| format!("; {words}"));
    let strict = match artifact.strict {
        true => "",
        false => " (without it the work goes on, with a warning)",
    };
    format!(
        "{name}{}: {place}{fields}{}{strict}",
        when.unwrap_or_default(),
        verdict.unwrap_or_default()
    )
}

fn place(run: &Run, artifact: &Artifact, step: Option<&StepId>) -> String {
    let format = match artifact.format {
        Format::Bundle => "Markdown with YAML front matter",
        Format::Json { .. } => "JSON",
        Format::Text => "text",
    };
    match &artifact.source {
        Source::File(path) => format!("the file `{}`, {format}", line(&filled(run, path, step))),
        Source::Reply if fields(artifact).is_empty() && artifact.outcome.is_none() => {
            "your last message, which is kept word for word".to_owned()
        }
        Source::Reply => format!("your last message, {format}"),
        Source::Answers => "a person's answers".to_owned(),
    }
}

/// The fields that must be there, but for the one with the verdict.
fn fields(artifact: &Artifact) -> Vec<String> {
    let verdict = artifact.outcome.as_ref().map(|outcome| &outcome.field);
    let mut fields: Vec<String> = Vec::new();
    for field in artifact.require.iter().cloned().chain(demanded(artifact)) {
        if Some(&field) != verdict && !fields.contains(&field) {
            fields.push(field);
        }
    }
    fields.iter().map(|field| line(field)).collect()
}

/// The fields that the schema requires at its top.
fn demanded(artifact: &Artifact) -> Vec<String> {
    let Format::Json { schema: Some(text) } = &artifact.format else {
        return Vec::new();
    };
    let schema: Value = serde_json::from_str(text).unwrap_or_default();
    let required = schema["required"].as_array().into_iter().flatten();
    required
        .filter_map(|field| Some(field.as_str()?.to_owned()))
        .collect()
}

/// `status` is `FAIL` (failed) or `PASS` (passed).
fn verdict(artifact: &Artifact) -> Option<String> {
    let outcome = artifact.outcome.as_ref()?;
    let words = outcome.values.iter();
    let words: Vec<String> = words
        .map(|(word, means)| match word == means.as_str() {
            true => format!("`{}`", line(word)),
            false => format!("`{}` ({means})", line(word)),
        })
        .collect();
    Some(format!(
        "`{}` is {}",
        line(&outcome.field),
        words.join(" or ")
    ))
}
