//! The artifacts that a worker must produce, as instructions.

use engine::{Artifact, ArtifactName, Definition, Format, Leaves, Outcome, Run, Source, StepId};
use serde_json::Value;

use crate::placeholder::{filled, wanted};
use crate::safe::line;

/// A line for each artifact: its name, its place, and what it must contain.
pub(crate) fn requirements(
    definition: &Definition,
    run: &Run,
    leaves: &Leaves,
    step: Option<&StepId>,
    agent: &str,
) -> Vec<String> {
    let always = leaves.always.iter().map(|name| (name, None));
    let by_outcome = leaves.by_outcome.iter();
    let others = by_outcome.flat_map(|(outcome, names)| {
        let named = names.iter();
        named.map(move |name| (name, Some(outcome)))
    });
    let told = always.chain(others).filter_map(|(name, outcome)| {
        let artifact = definition.artifacts.get(name)?;
        let requirement = Requirement {
            artifact,
            run,
            step,
            agent,
        };
        Some(requirement.text(name, outcome))
    });
    told.collect()
}

/// One artifact, in one run.
struct Requirement<'a> {
    artifact: &'a Artifact,
    run: &'a Run,
    step: Option<&'a StepId>,
    agent: &'a str,
}

impl Requirement<'_> {
    fn text(&self, name: &ArtifactName, when: Option<&Outcome>) -> String {
        let when = when.map(|outcome| format!(" (when the outcome is `{outcome}`)"));
        let fields = self.fields();
        let fields = if fields.is_empty() {
            String::new()
        } else {
            format!(", with the fields {}", fields.join(", "))
        };
        let verdict = verdict(self.artifact).map(|words| format!("; {words}"));
        let strict = if self.artifact.strictness.is_strict(&self.run.params) {
            ""
        } else {
            " (optional: you get only a warning without it)"
        };
        format!(
            "{name}{}: {}{fields}{}{strict}",
            when.unwrap_or_default(),
            self.place(),
            verdict.unwrap_or_default()
        )
    }

    fn place(&self) -> String {
        let artifact = self.artifact;
        let format = match artifact.format {
            Format::Bundle => "Markdown with YAML front matter",
            Format::Json { .. } => "JSON",
            Format::Text => "text",
        };
        match &artifact.source {
            Source::File(path) => {
                let path = filled(self.run, path, self.step);
                format!("the file `{}`, {format}", line(&path))
            }
            Source::Reply if self.fields().is_empty() && artifact.outcome.is_none() => {
                "your last message; it is stored word for word".to_owned()
            }
            Source::Reply => format!("your last message, {format}"),
            Source::Answers => "a person's answers".to_owned(),
        }
    }

    /// The required fields, except the one with the verdict, each with the text that it must
    /// contain.
    fn fields(&self) -> Vec<String> {
        let artifact = self.artifact;
        let verdict = artifact.outcome.as_ref().map(|outcome| &outcome.field);
        let named = artifact.require.iter().chain(artifact.equals.keys());
        let mut fields: Vec<String> = Vec::new();
        for field in named.cloned().chain(required_by_schema(artifact)) {
            if Some(&field) != verdict && !fields.contains(&field) {
                fields.push(field);
            }
        }
        let told = fields.iter().map(|field| match artifact.equals.get(field) {
            Some(text) => {
                let text = wanted(self.run, text, self.step, self.agent);
                format!("{} (`{}`)", line(field), line(&text))
            }
            None => line(field),
        });
        told.collect()
    }
}

/// The fields that the schema requires at its top.
fn required_by_schema(artifact: &Artifact) -> Vec<String> {
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
        .map(|(word, means)| {
            if word == means.as_str() {
                format!("`{}`", line(word))
            } else {
                format!("`{}` ({means})", line(word))
            }
        })
        .collect();
    Some(format!(
        "`{}` is {}",
        line(&outcome.field),
        words.join(" or ")
    ))
}
