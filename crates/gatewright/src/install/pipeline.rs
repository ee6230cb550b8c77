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
use super::host::PLACES;
use super::plan::{Change, Plan};
use super::record::{FileKind, InstallRecord};

/// What a new user gets who names none.
pub(crate) const DEFAULT: &str = "context-first";

const HOST_FOLDER: &str = PLACES.folder;

/// A pipeline with its files.
pub(crate) struct PipelineToInstall {
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
pub(crate) fn choose(
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
    if let Some(present) = base.read(&file)?
        && present != builtin.text.as_bytes()
        && !record.has_unchanged(&file, &present)
    {
        let mut chosen = own(context, project, &project.root.join(&file), &file)?;
        let note = format!("{file} is this project's own version of {}", builtin.name);
        chosen.notes.push(note);
        return Ok(chosen);
    }
    let sources = builtin.sources();
    let definition = definition::compile(&sources)?.pipeline.definition().clone();
    let referred = sources.files.iter();
    let referred = referred.map(|(path, bytes)| (format!("{OWN_FOLDER}/{path}"), bytes.clone()));
    let main = (file.clone(), sources.main.bytes.clone());
    let files: Vec<(String, Vec<u8>)> = std::iter::once(main).chain(referred).collect();
    refuse_others(&base, record, &files)?;
    Ok(PipelineToInstall {
        definition,
        sources,
        file,
        files,
        notes: Vec::new(),
    })
}

/// A file of another content in the place of one of ours would make another pipeline of it.
fn refuse_others(
    base: &BaseFolder,
    record: &InstallRecord,
    files: &[(String, Vec<u8>)],
) -> Result<(), Failure> {
    for (path, bytes) in files {
        let present = base.read(path)?;
        let other = present.filter(|present| present != bytes);
        if other.is_some_and(|present| !record.has_unchanged(path, &present)) {
            let message =
                format!("{path} already exists with other content, and the pipeline needs it");
            return Err(Failure::refused(message).hint("rename it and retry"));
        }
    }
    Ok(())
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
    pub(crate) fn plan(&mut self, plan: &mut Plan, record: &InstallRecord) -> Result<(), Failure> {
        plan.notes.append(&mut self.notes);
        for (path, bytes) in &self.files {
            let before = plan.base.read(path)?;
            plan.push(made(path, before, bytes));
        }
        for (path, bytes) in language::given_files(&self.sources) {
            let path = format!("{HOST_FOLDER}/{path}");
            let before = plan.base.read(&path)?;
            match before {
                Some(present) if present != bytes && !record.has_unchanged(&path, &present) => {
                    plan.note(format!("{path} is yours and was not changed"));
                }
                before => plan.push(made(&path, before, bytes)),
            }
        }
        Ok(())
    }

    /// The files that the host gets, by their path in its folder.
    pub(crate) fn given(&self) -> Vec<(String, Vec<u8>)> {
        let given = language::given_files(&self.sources).into_iter();
        given
            .map(|(path, bytes)| (path.to_owned(), bytes.to_vec()))
            .collect()
    }

    pub(crate) fn installed(&self) -> InstalledPipeline {
        InstalledPipeline {
            name: self.definition.name.clone(),
            file: Some(self.file.clone()),
            begins: self.definition.begins,
            commands: self.definition.commands.clone(),
        }
    }

    /// What it adds to files that are the person's.
    pub(crate) fn additions(&self) -> Additions {
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
