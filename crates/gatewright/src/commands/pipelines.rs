//! `gatewright pipelines`: what can be started by name, and the definition of one.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::json;
use views::{Paint, Style};

use crate::context::Context;
use crate::definition::{self, Trouble};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Format, Output};

/// List the pipelines that can be started by name, or print the definition of one
#[derive(Debug, clap::Args)]
pub struct Pipelines {
    /// The pipeline whose definition is printed
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

impl Pipelines {
    pub fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let project = evidence::Project::find(&context.folder)?;
        match &self.name {
            Some(name) => print(name, context, &project.root, output)?,
            None => list(&project.root, output)?,
        }
        Ok(Exit::Success)
    }
}

/// The bytes as they are; those of a project's own file are made harmless.
fn print(name: &str, context: &Context, root: &Path, output: &mut Output) -> Result<(), Failure> {
    let sources =
        definition::find(name, &context.folder, root).map_err(|trouble| match trouble {
            Trouble::Failed(failure) => failure,
            Trouble::Rejected { .. } => {
                Failure::no(format!("{name} is too large to be a definition"))
            }
        })?;
    let text = String::from_utf8_lossy(&sources.main.bytes).into_owned();
    let json = || {
        let files: Vec<&String> = sources.files.keys().collect();
        json!({ "name": name, "definition": text, "files": files })
    };
    output.facts(|_| views::safe(&text), json)
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
