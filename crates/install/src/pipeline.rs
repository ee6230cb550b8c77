//! The pipeline to install: its file in the project, the files it refers to, and the files for the host.

use std::path::Path;

use engine::Definition;
use evidence::Project;
use language::Sources;
use language::builtin::Builtin;
use runtime::context::Context;
use runtime::definition::{self, DefinitionError, Place};
use runtime::enrolment::InstalledPipeline;
use runtime::failure::Failure;
use runtime::group_members;
use runtime::project_files::PROJECT_FOLDER as OWN_FOLDER;
use runtime::trust::{self, Subject};

use super::additions::Additions;
use super::disk::BaseFolder;
use super::given;
use super::plan::{Change, Plan};
use super::record::{FileKind, InstallRecord};
use crate::request::Altered;

/// What a new user gets who names none.
pub const DEFAULT: &str = "context-first";

/// A pipeline with its files.
pub struct PipelineToInstall {
    pub definition: Definition,
    pub sources: Sources,
    /// Its file, as seen from the project's root.
    file: String,
    /// Files of ours to be put into the project, with the definition itself. A project that has the
    /// pipeline as its own gets none.
    files: Vec<(String, Vec<u8>)>,
    notes: Vec<String>,
}

/// Finds the pipeline with this name or path. An untrusted one is an error.
pub fn choose(
    context: &Context,
    project: &Project,
    record: &InstallRecord,
    word: &str,
) -> Result<PipelineToInstall, DefinitionError> {
    match definition::place(word, &context.folder, &project.root)? {
        Place::Builtin(builtin) => builtin_in(context, project, record, builtin),
        Place::File { path, shown } => own(context, project, &path, &shown),
    }
}

fn builtin_in(
    context: &Context,
    project: &Project,
    record: &InstallRecord,
    builtin: &Builtin,
) -> Result<PipelineToInstall, DefinitionError> {
    let file = format!("{OWN_FOLDER}/{}.toml", builtin.name);
    let base = BaseFolder::new(project.root.clone());
    let sources = builtin.sources();
    let files = files_in_project(&file, &sources);
    if base.read(&file)?.is_some() && other(&base, record, &files)?.is_some() {
        let mut chosen = own(context, project, &project.root.join(&file), &file)?;
        let note = format!("{file} is this project's own version of {}", builtin.name);
        chosen.notes.push(note);
        return Ok(chosen);
    }
    let definition = definition::compile(&sources)?.pipeline.definition().clone();
    if let Some(path) = other(&base, record, &files)? {
        let message =
            format!("{path} already exists with other content, and the pipeline needs it");
        return Err(Failure::refused(message).hint("rename it and retry").into());
    }
    Ok(PipelineToInstall {
        definition,
        sources,
        file,
        files,
        notes: Vec::new(),
    })
}

/// The files of a shipped pipeline, by their path in the project.
fn files_in_project(main: &str, sources: &Sources) -> Vec<(String, Vec<u8>)> {
    let referred = sources.files.iter();
    let referred = referred.map(|(path, bytes)| (format!("{OWN_FOLDER}/{path}"), bytes.clone()));
    let main = (main.to_owned(), sources.main.bytes.clone());
    std::iter::once(main).chain(referred).collect()
}

/// The first file of other content in the place of one of ours: it makes another pipeline of it.
fn other<'a>(
    base: &BaseFolder,
    record: &InstallRecord,
    files: &'a [(String, Vec<u8>)],
) -> Result<Option<&'a str>, Failure> {
    for (path, bytes) in files {
        let present = base.read(path)?;
        let other = present.filter(|present| present != bytes);
        if other.is_some_and(|present| !record.has_unchanged(path, &present)) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// A pipeline of the project's own. Nothing of it reaches the host before a person trusts it.
fn own(
    context: &Context,
    project: &Project,
    path: &Path,
    shown: &str,
) -> Result<PipelineToInstall, DefinitionError> {
    let sources = group_members::with_members(definition::read(path, shown)?, &project.root)?;
    let definition = definition::compile(&sources)?.pipeline.definition().clone();
    let file = inside(path, &project.root)?;
    if !trust::is_shipped(&sources) {
        let subject = Subject::new(path, &sources, &definition, &project.root)?;
        trust::require(&context.state()?, shown, &subject)?;
    }
    Ok(PipelineToInstall {
        definition,
        sources,
        file,
        files: Vec::new(),
        notes: Vec::new(),
    })
}

/// The path of a file as seen from the project's root.
fn inside(path: &Path, root: &Path) -> Result<String, Failure> {
    let real = path
        .canonicalize()
        .map_err(Failure::file("look at", path))?;
    let inside = real.strip_prefix(root).ok().and_then(Path::to_str);
    inside.map(str::to_owned).ok_or_else(|| {
        Failure::refused(format!("{} is not in this project", path.display()))
            .hint(format!("copy it into {OWN_FOLDER}/"))
    })
}

impl PipelineToInstall {
    /// Plans the pipeline's own files, and those that the host gets.
    pub fn plan(
        &mut self,
        plan: &mut Plan,
        record: &InstallRecord,
        altered: Altered,
    ) -> Result<(), Failure> {
        plan.notes.append(&mut self.notes);
        for (path, bytes) in &self.files {
            let before = plan.base.read(path)?;
            plan.push(made(path, before, bytes));
        }
        for (path, bytes) in language::given_files(&self.sources) {
            let path = given::host_path(path);
            let before = plan.base.read(&path)?;
            let is_theirs = before
                .as_ref()
                .is_some_and(|present| present != bytes && !record.has_unchanged(&path, present));
            match altered {
                Altered::Kept if is_theirs => plan.note(format!(
                    "{path} is yours and was not changed; `gatewright init --force` replaces it"
                )),
                Altered::Kept | Altered::Replaced => plan.push(made(&path, before, bytes)),
            }
        }
        Ok(())
    }

    /// The files that the host gets, by their path in its folder.
    pub fn given(&self) -> Vec<(String, Vec<u8>)> {
        let given = language::given_files(&self.sources).into_iter();
        given
            .map(|(path, bytes)| (path.to_owned(), bytes.to_vec()))
            .collect()
    }

    pub fn installed(&self) -> InstalledPipeline {
        InstalledPipeline {
            name: self.definition.name.clone(),
            file: Some(self.file.clone()),
            begins: self.definition.begins,
            commands: self.definition.commands.clone(),
        }
    }

    /// What it adds to files that are the person's.
    pub fn additions(&self) -> Additions {
        Additions::of(&self.definition, &self.sources)
    }
}

fn made(path: &str, before: Option<Vec<u8>>, bytes: &[u8]) -> Change {
    Change {
        path: path.to_owned(),
        kind: FileKind::Made,
        before,
        after: Some(bytes.to_vec()),
    }
}
