//! The artifacts that a worker must produce, as instructions.

use engine::{
    Artifact, ArtifactName, Definition, Format, Leaves, Outcome, Run, Source, StepId, Work,
};
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
            definition,
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
    definition: &'a Definition,
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
            "{name}{}: {}{fields}{}{}{strict}",
            when.unwrap_or_default(),
            self.place(),
            verdict.unwrap_or_default(),
            self.lists(name)
        )
    }

    /// The lists that later stages take from it. A schema says it itself.
    fn lists(&self, name: &ArtifactName) -> String {
        if matches!(self.artifact.format, Format::Json { schema: Some(_) }) {
            return String::new();
        }
        let if_so = match &self.artifact.outcome {
            Some(_) => ", if the outcome leads there",
            None => "",
        };
        let listed = engine::listed_fields(self.definition, name);
        let told = listed.filter_map(|(stage, field)| {
            let (what, entry) = entries(self.definition, &stage.work)?;
            let field = line(&field.field);
            Some(format!(
                "; `{field}` lists the {what} of `{}`{if_so}, each {entry}",
                stage.name
            ))
        });
        told.collect()
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

/// What a stage takes from a list, and how an entry is written.
fn entries(definition: &Definition, work: &Work) -> Option<(&'static str, String)> {
    match work {
        Work::Steps(work) => {
            let groups = work.agents.iter().map(|pattern| {
                let group = definition.group(pattern).map(Vec::as_slice);
                group.unwrap_or(std::slice::from_ref(pattern))
            });
            let agents = groups.flatten().map(|agent| line(agent.as_str()));
            let agents: Vec<String> = agents.collect();
            let agents = match agents.as_slice() {
                [] => String::new(),
                agents => format!(" (one of `{}`)", agents.join("`, `")),
            };
            let entry = format!(
                "with id, title, agent{agents} and needs (the ids of the steps that must come before)"
            );
            Some(("steps", entry))
        }
        Work::Ask(_) => Some((
            "questions",
            "a text, or an object with id, question and options".to_owned(),
        )),
        Work::Agent(_)
        | Work::Open(_)
        | Work::Check(_)
        | Work::Review(_)
        | Work::Route(_)
        | Work::End(_) => None,
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
