//! `gatewright export`: exports a run, for other programs and for people.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use engine::{ArtifactName, Held};
use runtime::clock;
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::find_run;
use runtime::person_only;
use runtime::workspace::{OpenRun, Workspace};
use serde_json::{Value, json};
use store::Backend;
use views::RunContext;

use crate::exit::Exit;
use crate::output::{Format, Output};
use runtime::explain::numbered;
use runtime::facts::freshness;

/// Export a run (definition, journal, artifacts), or one artifact
#[derive(Debug, clap::Args)]
pub(crate) struct Export {
    /// The run's id, or its first characters
    #[arg(value_name = "RUN")]
    run: String,
    /// Output format [default: jsonl; with --json: json]
    #[arg(long, value_name = "FORMAT")]
    format: Option<ExportFormat>,
    /// Export only this artifact, as it was captured
    #[arg(long, value_name = "NAME", value_parser = parse_artifact, conflicts_with = "format")]
    artifact: Option<ArtifactName>,
    /// Write to this file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ExportFormat {
    /// A JSON object a line, each with its kind
    Jsonl,
    /// One JSON list of the same objects
    Json,
    /// A Markdown page for people
    Md,
}

fn parse_artifact(text: &str) -> Result<ArtifactName, String> {
    ArtifactName::parse(text).map_err(|problem| problem.to_string())
}

impl Export {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        // What a worker left is for the session, too: a briefing names this command.
        if self.artifact.is_none() || self.output.is_some() {
            person_only::require_person(context, "export", Held::Nobody)?;
        }
        if self.format == Some(ExportFormat::Md) && output.format() == Format::Json {
            return Err(
                Failure::usage("--format md and --json cannot be combined").hint("remove --json")
            );
        }
        let mut workspace = find_run::workspace(context)?;
        let stored = find_run::find(&workspace, Some(&self.run))?;
        let opened = workspace.opened(stored)?;
        if let Some(artifact) = &self.artifact {
            let bytes = captured(&workspace, &opened, artifact)?;
            self.write_artifact(context, artifact, &bytes, output)?;
            return Ok(Exit::Success);
        }
        let format = self.format.unwrap_or(match output.format() {
            Format::Json => ExportFormat::Json,
            Format::Text => ExportFormat::Jsonl,
        });
        let text = match format {
            ExportFormat::Jsonl => harmless(&lines(&workspace, &opened)?),
            ExportFormat::Json => list(&workspace, &opened)?,
            ExportFormat::Md => page(&workspace, &opened)?,
        };
        match &self.output {
            Some(path) => save(&context.folder.join(path), text.as_bytes())?,
            None => output.text(&text)?,
        }
        Ok(Exit::Success)
    }
}

impl Export {
    fn write_artifact(
        &self,
        context: &Context,
        artifact: &ArtifactName,
        bytes: &[u8],
        output: &mut Output,
    ) -> Result<(), Failure> {
        let text = String::from_utf8_lossy(bytes);
        match &self.output {
            Some(path) => save(&context.folder.join(path), bytes),
            None if output.format() == Format::Json => {
                output.json(&json!({ "artifact": artifact.as_str(), "content": text }))
            }
            None if output.is_terminal() => output.text(&views::safe(&text)),
            None => output.bytes(bytes),
        }
    }
}

/// The bytes of an artifact at the end of its worker.
fn captured(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    name: &ArtifactName,
) -> Result<Vec<u8>, Failure> {
    let run = opened.run();
    let Some(captured) = run.artifacts.get(name) else {
        let known: Vec<&str> = run.artifacts.keys().map(ArtifactName::as_str).collect();
        let failure = Failure::not_found(format!(
            "run {} has not captured an artifact '{name}'",
            run.id
        ));
        return Err(if known.is_empty() {
            failure.hint("it has not captured any artifact yet")
        } else {
            failure.hint(format!("it has captured {}", known.join(", ")))
        });
    };
    let hash = captured.content;
    let content = workspace.store.content(hash)?;
    content.ok_or_else(|| evidence::Error::ContentLost { hash }.into())
}

/// The store's own lines.
fn lines(workspace: &Workspace<'_>, opened: &OpenRun) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    store::export(&workspace.store, &opened.run().id, &mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The same values, with every character escaped that a terminal would obey or hide: a pager or an editor
/// shows them, too. The hash of an entry covers its text with these characters written out.
fn harmless(lines: &str) -> String {
    let mut shown = String::with_capacity(lines.len());
    for found in lines.chars() {
        if views::is_forbidden(found) {
            found
                .encode_utf16(&mut [0; 2])
                .iter()
                .for_each(|unit| shown.push_str(&format!("\\u{unit:04x}")))
        } else {
            shown.push(found)
        }
    }
    shown
}

fn list(workspace: &Workspace<'_>, opened: &OpenRun) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    store::export(&workspace.store, &opened.run().id, &mut bytes)?;
    let objects = serde_json::Deserializer::from_slice(&bytes).into_iter::<Value>();
    let objects: Result<Vec<Value>, _> = objects.collect();
    let objects =
        objects.map_err(|problem| Failure::bug(format!("an export is not JSON ({problem})")))?;
    Ok(views::json_text(&Value::Array(objects)))
}

fn entries(number: u64) -> String {
    match number {
        1 => "1 entry".to_owned(),
        _ => format!("{number} entries"),
    }
}

fn page(workspace: &Workspace<'_>, opened: &OpenRun) -> Result<String, Failure> {
    let OpenRun { stored, pipeline } = opened;
    let run = &stored.run;
    let verification = workspace.store.verify(&run.id)?;
    let says = if verification.intact {
        format!("The journal is intact: {}.", entries(verification.entries))
    } else {
        format!(
            "THE JOURNAL IS DAMAGED (faults: {}).",
            verification.faults.len()
        )
    };
    let entries = workspace.store.journal(&run.id, 1, stored.version)?;
    let entries: Vec<_> = numbered(&entries).collect();
    let now = clock::now();
    let freshness = freshness(pipeline, run, now);
    let around = RunContext {
        project: &stored.home,
        now,
        freshness,
    };
    Ok(views::summary(
        pipeline,
        run,
        &entries,
        around,
        views::Verification::Result(&says),
    ))
}

/// Writes a temporary file and renames it, so that a reader sees the old file or the whole new one.
pub(crate) fn save(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    // A terminal or /dev/null cannot be replaced by a new file, so we write to it directly.
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return fs::write(path, bytes).map_err(Failure::file("write", path));
    }
    let written = || {
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(bytes)?;
        file.persist(path).map(drop).map_err(|failed| failed.error)
    };
    written().map_err(Failure::file("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_has_the_same_values_and_steers_nothing() {
        let line = serde_json::json!({ "a": "\u{9b}31m\u{202e}x\u{e0041}" }).to_string();
        let shown = harmless(&line);
        assert!(!shown.chars().any(views::is_forbidden));
        let values = [&line, &shown].map(|text| serde_json::from_str::<Value>(text).unwrap());
        assert_eq!(values[0], values[1]);
    }
}
