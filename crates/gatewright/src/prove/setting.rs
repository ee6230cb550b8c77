//! Setting the scene: the pipeline's own bytes, the host's settings, and trust for this copy alone.

use std::path::{Path, PathBuf};

use engine::{Definition, Mode, Pipeline};
use evidence::Project;
use language::Sources;
use runtime::clock;
use runtime::context::Context;
use runtime::definition::{self, Place, Trouble};
use runtime::enrolment::{self, Installed, InstalledPipeline};
use runtime::failure::Failure;
use runtime::state::State;
use runtime::trust::{self, Subject, record};

use super::folder::{self, Folder};
use super::lines::{Lines, Owner};
use super::scene::Scene;
use crate::install::host::PLACES;

/// A pipeline that is to be proved.
pub struct Chosen {
    sources: Sources,
    pub pipeline: Pipeline,
    place: Whose,
}

/// Whose pipeline it is.
enum Whose {
    Ours,
    /// A file, with its name in the folder for definitions.
    Project(String),
}

/// Reads a pipeline, and refuses one that nobody trusts.
pub fn choose(context: &Context, project: &Project, word: &str) -> Result<Chosen, Trouble> {
    let place = definition::place(word, &context.folder, &project.root)?;
    let sources = definition::find(word, &context.folder, &project.root)?;
    let pipeline = definition::compile(&sources)?.pipeline;
    let definition = pipeline.definition();
    if definition.mode == Mode::Advisory {
        let message =
            format!("{word} is advisory: it refuses nothing, so there is no guard to test");
        return Err(Failure::no(message).hint("set mode = \"enforced\"").into());
    }
    let whose = match place {
        Place::Builtin(_) => Whose::Ours,
        Place::File { path, .. } => {
            if !trust::is_shipped(&sources) {
                let subject = Subject::new(&path, &sources, definition, &project.root)?;
                trust::require(&context.state()?, word, &subject)?;
            }
            Whose::Project(file_name(&path))
        }
    };
    Ok(Chosen {
        sources,
        pipeline,
        place: whose,
    })
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// Makes the copy.
pub fn set(context: &Context, chosen: &Chosen, lines: Lines) -> Result<Scene, Failure> {
    let folder = Folder::new()?;
    let file = chosen.file();
    if let Some(file) = &file {
        write_sources(&folder, file, &chosen.sources)?;
    }
    write_settings(&folder, &lines)?;
    let definition = chosen.pipeline.definition();
    let word = file.clone().unwrap_or_else(|| definition.name.to_string());
    let mut scene = Scene::new(folder, lines, chosen.pipeline.clone(), word, context);
    let project = Project::find(&scene.folder.project())?;
    let state = scene.context.state()?;
    if let Some(file) = &file {
        trust_copy(&scene, &state, &project.root.join(file), &chosen.sources)?;
    }
    let installed = Installed {
        project: project.key,
        pipelines: vec![installed(definition, file)],
    };
    enrolment::install(&state, &installed).map_err(Failure::file("write to", state.folder()))?;
    scene.begin_here()?;
    Ok(scene)
}

impl Chosen {
    /// Its file in the copy, as seen from the project.
    fn file(&self) -> Option<String> {
        match &self.place {
            Whose::Ours => None,
            Whose::Project(name) => Some(format!(".gatewright/{name}")),
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

fn write_sources(folder: &Folder, file: &str, sources: &Sources) -> Result<(), Failure> {
    let path = folder.project().join(file);
    folder::write(&path, &sources.main.bytes)?;
    for (name, bytes) in &sources.files {
        folder::write(&path.with_file_name(name), bytes)?;
    }
    Ok(())
}

fn write_settings(folder: &Folder, lines: &Lines) -> Result<(), Failure> {
    for (path, text) in settings_files(folder, lines) {
        folder::write(&path, text.as_bytes())?;
    }
    Ok(())
}

fn settings_files<'a>(
    folder: &Folder,
    lines: &'a Lines,
) -> impl Iterator<Item = (PathBuf, &'a String)> {
    let (project, user) = (folder.project(), folder.home().join(PLACES.folder));
    lines.settings.iter().map(move |file| {
        let base = match file.owner {
            Owner::Project => &project,
            Owner::User => &user,
        };
        (base.join(file.name), &file.text)
    })
}

impl Scene {
    /// The settings files with our hooks in the copy.
    pub fn settings_files(&self) -> Vec<PathBuf> {
        let files = settings_files(&self.folder, &self.lines);
        files.map(|(path, _)| path).collect()
    }
}

/// A person trusts these bytes, or we do: so the copy of them is trusted here.
fn trust_copy(scene: &Scene, state: &State, path: &Path, sources: &Sources) -> Result<(), Failure> {
    if trust::is_shipped(sources) {
        return Ok(());
    }
    let definition = scene.pipeline.definition();
    let subject = Subject::new(path, sources, definition, &scene.folder.project())?;
    record::keep(state, &subject, clock::now(), &scene.context.who()).map(drop)
}
