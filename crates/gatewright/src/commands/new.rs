//! `gatewright new`: a pipeline of one's own, from a template or from another pipeline.

use std::path::Path;

use engine::PipelineName;
use hosts::Program;
use language::{Sources, builtin, template};
use runtime::context::Context;
use runtime::definition::{self, DefinitionError, ENDINGS, Place};
use runtime::failure::Failure;
use runtime::project_files::PROJECT_FOLDER;
use runtime::start_run;
use serde_json::json;
use views::{Paint, Style};

use crate::exit::Exit;
use crate::output::Output;
use install::disk::BaseFolder;

/// Create a pipeline from a template or a recipe, or from another pipeline
///
/// Writes the definition (.gatewright/NAME.toml), its scenarios (.gatewright/NAME.md), and the
/// agents, commands and other files that belong to it. The result passes `gatewright lint`. Edit it
/// as you like. `new` never overwrites a file.
#[derive(Debug, clap::Args)]
pub(crate) struct New {
    /// The name of the new pipeline
    #[arg(value_name = "NAME", required_unless_present = "list")]
    name: Option<String>,
    /// The template or recipe to copy; `--list` shows them [default: minimal]
    #[arg(long, value_name = "TEMPLATE", conflicts_with_all = ["from", "extends"])]
    template: Option<String>,
    /// Copy this pipeline instead of a template (a name or a path)
    #[arg(long, value_name = "PIPELINE", conflicts_with = "extends")]
    from: Option<String>,
    /// Take this pipeline over without a copy, and change only what you write: a built-in pipeline, or
    /// a file in .gatewright, such as base.toml
    #[arg(long, value_name = "PIPELINE")]
    extends: Option<String>,
    /// List the templates and recipes
    #[arg(long, conflicts_with_all = ["name", "template", "from", "extends"])]
    list: bool,
}

const DEFAULT: &str = "minimal";

/// A pipeline that is about to be written.
struct NewPipeline {
    sources: Sources,
    scenarios: String,
}

impl New {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let Some(name) = &self.name else {
            return list(output);
        };
        match self.begin(name, context, output) {
            Ok(exit) => Ok(exit),
            Err(DefinitionError::Failed(failure)) => Err(failure),
            Err(DefinitionError::Rejected { text, problems }) => {
                output.mutter(&definition::rendered(&problems, &text, output.talk_paint()));
                Ok(Exit::No)
            }
        }
    }

    fn begin(
        &self,
        word: &str,
        context: &Context,
        output: &mut Output,
    ) -> Result<Exit, DefinitionError> {
        let project = evidence::Project::find(&context.folder).map_err(Failure::from)?;
        let name = free_name(word, &project.root)?;
        let made = match (&self.from, &self.extends) {
            (Some(from), _) => {
                let meant = start_run::installed_path(context, &project, from)?;
                copied(&meant, &name, context, &project.root)?
            }
            (None, Some(extends)) => extended(extends, &name, &project.root)?,
            (None, None) => from_template(self.template.as_deref().unwrap_or(DEFAULT), &name)?,
        };
        let files = made.files(&name);
        let base = BaseFolder::new(project.root);
        let missing = missing(&base, &files)?;
        // The definition last: what is half made has no name yet, and can be made again.
        for (path, bytes) in missing.iter().rev() {
            base.write(path, bytes)?;
        }
        Ok(tell(&name, &files, output)?)
    }
}

/// A name that no other pipeline has here.
fn free_name(word: &str, root: &Path) -> Result<PipelineName, Failure> {
    let name = PipelineName::parse(word).map_err(|problem| {
        Failure::usage(format!("'{word}' is not a valid pipeline name ({problem})"))
    })?;
    if builtin::find(word).is_some() {
        let failure = Failure::refused(format!("{name} is a built-in pipeline"));
        return Err(failure.hint(format!("type `gatewright new my-{name} --from {name}`")));
    }
    let paths = ENDINGS.map(|ending| format!("{PROJECT_FOLDER}/{name}.{ending}"));
    match paths
        .iter()
        .find(|path| root.join(path).symlink_metadata().is_ok())
    {
        Some(taken) => {
            let failure = Failure::refused(format!("{taken} already exists"));
            Err(failure.hint("choose another name, or edit that file"))
        }
        None => Ok(name),
    }
}

fn from_template(word: &str, name: &PipelineName) -> Result<NewPipeline, DefinitionError> {
    let Some(template) = template::find(word) else {
        let failure = Failure::not_found(format!("there is no template '{word}'"));
        let names = || template::all().map(|template| template.name);
        return Err(match engine::nearest(word, names()) {
            Some(near) => failure.hint(format!("did you mean {near}?")),
            None => failure.hint(format!(
                "there are {}",
                names().collect::<Vec<_>>().join(", ")
            )),
        }
        .into());
    };
    with_generated(template.sources(name))
}

/// Another pipeline under a new name. A built-in one brings its scenarios along.
fn copied(
    word: &str,
    name: &PipelineName,
    context: &Context,
    root: &Path,
) -> Result<NewPipeline, DefinitionError> {
    let place = definition::place(word, &context.folder, root)?;
    let original = definition::find(word, &context.folder, root)?;
    let sources = language::renamed(&original, name).ok_or_else(|| {
        Failure::refused(format!(
            "{word} is not a pipeline definition, or has no name"
        ))
        .hint(format!("`gatewright lint {word}` shows what is wrong"))
    })?;
    let shipped = match place {
        Place::Builtin(builtin) => scenario::shipped_for(builtin.name, &sources.main.name),
        Place::File { .. } => None,
    };
    match shipped {
        Some(scenarios) => {
            definition::compile(&sources)?;
            Ok(NewPipeline { sources, scenarios })
        }
        None => with_generated(sources),
    }
}

/// A definition that says only what it extends.
fn extended(word: &str, name: &PipelineName, root: &Path) -> Result<NewPipeline, DefinitionError> {
    let text = format!(
        "# All that {word} says holds here too, unless this file says otherwise.\n\
         # `gatewright pipelines {word}` prints it.\n\n\
         name    = \"{name}\"\n\
         extends = \"{}\"\n",
        word.escape_default()
    );
    let shown = format!("{name}.toml");
    let sources = definition::read_text(text.into(), &shown, &root.join(PROJECT_FOLDER))?;
    with_generated(sources)
}

/// A definition that compiles, with scenarios for each of its transitions.
fn with_generated(sources: Sources) -> Result<NewPipeline, DefinitionError> {
    let pipeline = definition::compile(&sources)?.pipeline;
    let host = Program::DEFAULT.host_name();
    let scenarios = scenario::generate(&pipeline, &sources.main.name, &host).text;
    Ok(NewPipeline { sources, scenarios })
}

impl NewPipeline {
    /// Every file by its path from the project's root, the definition first.
    fn files(&self, name: &PipelineName) -> Vec<(String, Vec<u8>)> {
        let inside = |path: &str| format!("{PROJECT_FOLDER}/{path}");
        let main = (
            inside(&self.sources.main.name),
            self.sources.main.bytes.clone(),
        );
        let scenarios = (
            inside(&format!("{name}.md")),
            self.scenarios.clone().into_bytes(),
        );
        let others = language::files_beside(&self.sources).into_iter();
        let others = others.map(|(path, bytes)| (inside(path), bytes.to_vec()));
        [main, scenarios].into_iter().chain(others).collect()
    }
}

/// The files that are not there yet. What is there with the same content is shared; other content is
/// somebody's own.
fn missing<'a>(
    base: &BaseFolder,
    files: &'a [(String, Vec<u8>)],
) -> Result<Vec<&'a (String, Vec<u8>)>, Failure> {
    let mut missing = Vec::new();
    for file in files {
        match base.read(&file.0)? {
            None => missing.push(file),
            Some(present) if present == file.1 => {}
            Some(_) => {
                let failure =
                    Failure::refused(format!("{} already exists with other content", file.0));
                return Err(
                    failure.hint("nothing was written; rename the file, or choose another name")
                );
            }
        }
    }
    Ok(missing)
}

fn tell(
    name: &PipelineName,
    files: &[(String, Vec<u8>)],
    output: &mut Output,
) -> Result<Exit, Failure> {
    let paths: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
    let text: String = paths.iter().map(|path| format!("{path}\n")).collect();
    let json = || json!({ "pipeline": name.as_str(), "files": paths });
    output.facts(|_| text.clone(), json)?;
    for (command, does) in [
        (
            format!("gatewright lint {name}"),
            "checks it after you edit it",
        ),
        (format!("gatewright test {name}"), "runs its scenarios"),
        (
            format!("gatewright trust {name}"),
            "shows what it may run, and trusts it",
        ),
        (
            format!("gatewright init {name}"),
            "guards this project in Claude Code",
        ),
        (
            format!("gatewright run {name} --task …"),
            "starts the agents for you instead",
        ),
    ] {
        output.say(&format!("next: `{command}` {does}"));
    }
    Ok(Exit::Success)
}

fn list(output: &mut Output) -> Result<Exit, Failure> {
    let templates: Vec<_> = template::all().collect();
    let text = |paint: Paint| {
        let width = templates.iter().map(|it| it.name.len()).max().unwrap_or(0);
        let line = |name: &str, about: &str| {
            let name = paint.on(Style::Strong, &format!("{name:<width$}"));
            format!("{name}  {about}\n")
        };
        templates.iter().map(|it| line(it.name, it.about)).collect()
    };
    let json = || {
        let one = |it: &&template::Template| json!({ "name": it.name, "about": it.about });
        json!({ "templates": templates.iter().map(one).collect::<Vec<_>>() })
    };
    output.facts(text, json)?;
    Ok(Exit::Success)
}
