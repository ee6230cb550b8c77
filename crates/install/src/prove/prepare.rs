//! Prepares the sandbox: the pipeline's files, the host's settings, and trust for this copy alone.

use std::path::{Path, PathBuf};

use engine::{Definition, Mode, Pipeline};
use evidence::Project;
use language::Sources;
use runtime::clock;
use runtime::context::Context;
use runtime::definition::{self, DefinitionError, Place};
use runtime::enrolment::{self, Installed, InstalledPipeline};
use runtime::failure::Failure;
use runtime::state::State;
use runtime::trust::{self, Subject, record};

use super::hook_commands::{HookCommands, SettingsOwner};
use super::sandbox::{self, Sandbox};
use super::simulation::Simulation;
use crate::host::PLACES;

/// A pipeline to test.
pub(super) struct ChosenPipeline {
    sources: Sources,
    pub pipeline: Pipeline,
    place: PipelineOrigin,
}

/// Where the pipeline comes from.
enum PipelineOrigin {
    Builtin,
    /// A file of the project, by its name in `.gatewright`.
    Project(String),
}

/// Reads a pipeline. An untrusted one is an error.
pub(super) fn choose(
    context: &Context,
    project: &Project,
    word: &str,
) -> Result<ChosenPipeline, DefinitionError> {
    let place = definition::place(word, &context.folder, &project.root)?;
    let sources = definition::find(word, &context.folder, &project.root)?;
    let pipeline = definition::compile(&sources)?.pipeline;
    let definition = pipeline.definition();
    if definition.mode == Mode::Advisory {
        let message =
            format!("{word} is advisory: it refuses nothing, so there is no guard to test");
        return Err(Failure::refused(message)
            .hint("set mode = \"enforced\"")
            .into());
    }
    let whose = match place {
        Place::Builtin(_) => PipelineOrigin::Builtin,
        Place::File { path, .. } => {
            if !trust::is_shipped(&sources) {
                let subject = Subject::new(&path, &sources, definition, &project.root)?;
                trust::require(&context.state()?, word, &subject)?;
            }
            PipelineOrigin::Project(file_name(&path))
        }
    };
    Ok(ChosenPipeline {
        sources,
        pipeline,
        place: whose,
    })
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// Creates the simulation.
pub(super) fn set(
    context: &Context,
    chosen: &ChosenPipeline,
    hook_commands: HookCommands,
) -> Result<Simulation, Failure> {
    let folder = Sandbox::new()?;
    let mut stages = chosen.pipeline.definition().stages.iter();
    if stages.any(|stage| stage.work.as_route().is_some()) {
        folder.make_repository()?;
    }
    let file = chosen.file();
    if let Some(file) = &file {
        write_sources(&folder, file, &chosen.sources)?;
    }
    write_settings(&folder, &hook_commands)?;
    let definition = chosen.pipeline.definition();
    let word = file.clone().unwrap_or_else(|| definition.name.to_string());
    let mut simulation = Simulation::new(
        folder,
        hook_commands,
        chosen.pipeline.clone(),
        word,
        context,
    );
    let project = Project::find(&simulation.sandbox.project())?;
    let state = simulation.context.state()?;
    if let Some(file) = &file {
        trust_copy(
            &simulation,
            &state,
            &project.root.join(file),
            &chosen.sources,
        )?;
    }
    let installed = Installed {
        project: project.key,
        pipelines: vec![installed(definition, file)],
    };
    enrolment::install(&state, &installed).map_err(Failure::file("write to", state.folder()))?;
    simulation.set_start()?;
    Ok(simulation)
}

impl ChosenPipeline {
    /// The path of its file in the sandbox, relative to the project.
    fn file(&self) -> Option<String> {
        match &self.place {
            PipelineOrigin::Builtin => None,
            PipelineOrigin::Project(name) => Some(format!(".gatewright/{name}")),
        }
    }
}

fn installed(definition: &Definition, file: Option<String>) -> InstalledPipeline {
    InstalledPipeline {
        name: definition.name.clone(),
        file,
        begins: definition.begins,
        commands: definition.commands.clone(),
    }
}

fn write_sources(folder: &Sandbox, file: &str, sources: &Sources) -> Result<(), Failure> {
    let path = folder.project().join(file);
    sandbox::write(&path, &sources.main.bytes)?;
    for (name, bytes) in language::files_beside(sources) {
        sandbox::write(&path.with_file_name(name), bytes)?;
    }
    Ok(())
}

fn write_settings(folder: &Sandbox, hook_commands: &HookCommands) -> Result<(), Failure> {
    for (path, text) in settings_files(folder, hook_commands) {
        sandbox::write(&path, text.as_bytes())?;
    }
    Ok(())
}

fn settings_files<'a>(
    folder: &Sandbox,
    hook_commands: &'a HookCommands,
) -> impl Iterator<Item = (PathBuf, &'a String)> {
    let (project, user) = (folder.project(), folder.home().join(PLACES.folder));
    hook_commands.settings.iter().map(move |file| {
        let base = match file.owner {
            SettingsOwner::Project => &project,
            SettingsOwner::User => &user,
        };
        (base.join(file.name), &file.text)
    })
}

impl Simulation {
    /// The settings files with our hooks in the sandbox.
    pub(super) fn settings_files(&self) -> Vec<PathBuf> {
        let files = settings_files(&self.sandbox, &self.hook_commands);
        files.map(|(path, _)| path).collect()
    }
}

/// Trusts the copy: a person trusts the same bytes, or we ship them.
fn trust_copy(
    simulation: &Simulation,
    state: &State,
    path: &Path,
    sources: &Sources,
) -> Result<(), Failure> {
    if trust::is_shipped(sources) {
        return Ok(());
    }
    let definition = simulation.pipeline.definition();
    let subject = Subject::new(path, sources, definition, &simulation.sandbox.project())?;
    record::keep(state, &subject, clock::now(), &simulation.context.who()).map(drop)
}
