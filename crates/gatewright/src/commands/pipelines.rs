//! `gatewright pipelines`: lists the pipelines, or prints a definition.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use language::Sources;
use runtime::context::Context;
use runtime::definition::{self, DefinitionError};
use runtime::failure::Failure;
use runtime::start_run;
use serde_json::json;
use views::{Paint, Style};

use crate::exit::Exit;
use crate::output::{Format, Output};

/// List the pipelines you can start by name, or print the definition of one
#[derive(Debug, clap::Args)]
pub(crate) struct Pipelines {
    /// The pipeline to print
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Write the definition and every file it refers to into this folder instead of printing it
    #[arg(long, value_name = "FOLDER", requires = "name")]
    out: Option<PathBuf>,
}

impl Pipelines {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let project = evidence::Project::find(&context.folder)?;
        match &self.name {
            Some(name) => {
                let meant = start_run::installed_path(context, &project, name)?;
                self.show(&meant, context, &project.root, output)?;
            }
            None => list(&project.root, output)?,
        }
        Ok(Exit::Success)
    }
}

impl Pipelines {
    fn show(
        &self,
        name: &str,
        context: &Context,
        root: &Path,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let sources = sources(name, context, root)?;
        match &self.out {
            Some(folder) => write(name, &sources, &context.folder.join(folder), output),
            None => print(name, &sources, output),
        }
    }
}

fn sources(name: &str, context: &Context, root: &Path) -> Result<Sources, Failure> {
    definition::find(name, &context.folder, root).map_err(|trouble| match trouble {
        DefinitionError::Failed(failure) => failure,
        DefinitionError::Rejected { .. } => {
            Failure::refused(format!("{name} is too large for a definition"))
        }
    })
}

/// Writes the definition and what it refers to, so that it can be linted there. No file is
/// replaced: a person may have worked on it.
fn write(name: &str, sources: &Sources, folder: &Path, output: &mut Output) -> Result<(), Failure> {
    let shown = Path::new(&sources.main.name);
    let ending = shown.extension().and_then(|ending| ending.to_str());
    let ending = ending.filter(|ending| *ending == "json").unwrap_or("toml");
    let stem = Path::new(name).file_stem().unwrap_or_default();
    let main = format!("{}.{ending}", stem.to_string_lossy());
    let mut all = language::files_beside(sources);
    all.insert(0, (&main, &sources.main.bytes));
    let taken = all.iter().map(|(path, _)| folder.join(path));
    if let Some(taken) = taken.into_iter().find(|path| path.exists()) {
        let failure = Failure::refused(format!("{} already exists", taken.display()));
        return Err(failure.hint("choose another folder"));
    }
    for (path, bytes) in &all {
        let path = folder.join(path);
        let beside = path.parent().unwrap_or(folder);
        fs::create_dir_all(beside).map_err(Failure::file("make", beside))?;
        fs::write(&path, bytes).map_err(Failure::file("write", &path))?;
    }
    let names: Vec<&str> = all.iter().map(|(path, _)| *path).collect();
    let text = names.iter().map(|name| format!("{}\n", views::line(name)));
    output.facts(|_| text.collect(), || json!({ "files": names }))
}

/// The bytes as they are. Text of a project's own file is escaped.
fn print(name: &str, sources: &Sources, output: &mut Output) -> Result<(), Failure> {
    let text = String::from_utf8_lossy(&sources.main.bytes).into_owned();
    let beside = language::files_beside(sources).into_iter();
    let files: Vec<&str> = beside.map(|(path, _)| path).collect();
    let json = || json!({ "name": name, "definition": text, "files": files });
    output.facts(|_| views::safe(&text), json)?;
    if !files.is_empty() && output.format() == Format::Text {
        output.say(&format!(
            "it refers to {}; `gatewright pipelines {name} --out FOLDER` writes them all",
            files.join(", ")
        ));
    }
    Ok(())
}

fn list(root: &Path, output: &mut Output) -> Result<(), Failure> {
    let own = definition::project_names(root);
    match output.format() {
        Format::Json => {
            let builtin = language::builtin::all().iter().map(|builtin| {
                json!({ "name": builtin.name, "about": builtin.about, "from": "gatewright" })
            });
            let own = own
                .iter()
                .map(|name| json!({ "name": name, "from": "project" }));
            output.json(&json!({ "pipelines": builtin.chain(own).collect::<Vec<_>>() }))
        }
        Format::Text => {
            let text = text(own.iter().map(String::as_str), output.paint());
            output.text(&text)
        }
    }
}

fn text<'a>(own: impl Iterator<Item = &'a str>, paint: Paint) -> String {
    let builtin = language::builtin::all();
    let width = builtin
        .iter()
        .map(|builtin| builtin.name.len())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for builtin in builtin {
        let name = paint.on(Style::Strong, &format!("{:<width$}", builtin.name));
        let _ = writeln!(text, "{name}  {}", builtin.about);
    }
    for name in own {
        let name = paint.on(Style::Strong, &format!("{name:<width$}"));
        let _ = writeln!(text, "{name}  (of this project)");
    }
    text
}
