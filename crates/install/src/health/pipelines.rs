//! Checks the pipelines of this project: are they valid and trusted?

use std::path::{Path, PathBuf};

use engine::{Begins, Definition};
use language::Sources;
use runtime::definition::{self, DefinitionError};
use runtime::enrolment::InstalledPipeline;
use runtime::failure::Failure;
use runtime::project_files::PROJECT_FOLDER;
use runtime::trust::{self, Subject};
use runtime::{group_members, needed_programs};

use super::{CheckTopic, DoctorContext, Finding, claims};
use crate::additions::Additions;
use crate::disk::BaseFolder;
use crate::given;

pub(super) fn findings(doctor: &DoctorContext<'_>) -> Vec<Finding> {
    let installed = match &doctor.installed {
        Ok(Some(installed)) => installed,
        Ok(None) => return vec![none(doctor)],
        Err(reason) => {
            return vec![
                CheckTopic::Pipelines.red(reason.clone(), "`gatewright init` rewrites it"),
            ];
        }
    };
    let pipelines = installed.pipelines.iter();
    pipelines.flat_map(|it| of_pipeline(doctor, it)).collect()
}

/// Nothing is recorded for this project. Hooks in its own settings, or a record of `init`, say that
/// something was.
fn none(doctor: &DoctorContext<'_>) -> Finding {
    if claims::promise(doctor) || crate::was_installed(&doctor.state, &doctor.project) {
        let folder = doctor.state.folder().display();
        CheckTopic::Pipelines.red(
            format!("hooks are installed, and {folder} knows of no pipeline in this project"),
            "`gatewright init` records it again, `gatewright uninit` removes the hooks",
        )
    } else if crate::has_pipelines(&doctor.project.root) {
        let folder = doctor.state.folder().display();
        CheckTopic::Pipelines.red(
            format!("this project has pipelines in {PROJECT_FOLDER}, and {folder} knows of none"),
            "`gatewright init` records them",
        )
    } else {
        CheckTopic::Pipelines.warning(
            "no pipeline is installed in this project",
            "`gatewright init PIPELINE` installs one",
        )
    }
}

fn of_pipeline(doctor: &DoctorContext<'_>, pipeline: &InstalledPipeline) -> Vec<Finding> {
    let name = &pipeline.name;
    let found = match look(doctor, pipeline) {
        Ok(Examined {
            root,
            sources,
            definition,
        }) => {
            let how = match pipeline.begins {
                Begins::Session => "every session has a run of it",
                Begins::Command => "a command starts it",
            };
            let fine = CheckTopic::Pipelines.fine(format!("{name} is trusted; {how}"));
            return std::iter::once(fine)
                .chain(given(&root, &sources))
                .chain(missing(doctor, &Additions::of(&definition, &sources)))
                .chain(missing_programs(doctor, &definition))
                .collect();
        }
        Err(DefinitionError::Failed(failure)) => {
            let Failure { message, hints, .. } = failure;
            let says = format!("{message}: {name} does not guard any session");
            CheckTopic::Pipelines.red(says, hints.join("; "))
        }
        Err(DefinitionError::Rejected { problems, .. }) => {
            let first = problems.into_iter().next();
            let first = first.map(|problem| problem.message).unwrap_or_default();
            let says = format!("{name} is not accepted ({first})");
            CheckTopic::Pipelines.red(says, format!("`gatewright lint {name}` shows all problems"))
        }
    };
    vec![found]
}

/// What the host would not find, or find changed: then other agents work than the trusted ones.
fn given(root: &Path, sources: &Sources) -> Vec<Finding> {
    match given::faults(&BaseFolder::new(root.to_owned()), sources) {
        Ok(faults) => faults
            .into_iter()
            .map(|fault| CheckTopic::Pipelines.red(fault.says, fault.advice))
            .collect(),
        Err(Failure { message, hints, .. }) => {
            vec![CheckTopic::Pipelines.red(message, hints.join("; "))]
        }
    }
}

/// What the checks and workers of the pipeline would not find.
fn missing_programs(doctor: &DoctorContext<'_>, definition: &Definition) -> Vec<Finding> {
    let missing = needed_programs::missing(doctor.context, &doctor.project, definition);
    let missing = missing.unwrap_or_default().into_iter();
    missing
        .map(|it| {
            let (pipeline, needed_for) = (&definition.name, it.needed_for.join(", "));
            let says = format!(
                "{pipeline} needs `{}` for {needed_for}, and it is missing",
                it.name
            );
            CheckTopic::Pipelines.warning(says, it.remedy)
        })
        .collect()
}

/// What somebody took out of the files to which the pipeline adds.
fn missing(doctor: &DoctorContext<'_>, additions: &Additions) -> Vec<Finding> {
    let base = BaseFolder::new(doctor.project.root.clone());
    match additions.missing(&base, &doctor.project) {
        Ok(missing) => missing
            .into_iter()
            .map(|says| CheckTopic::Pipelines.warning(says, "`gatewright init` restores it"))
            .collect(),
        Err(Failure { message, hints, .. }) => {
            vec![CheckTopic::Pipelines.warning(message, hints.join("; "))]
        }
    }
}

/// A pipeline that a session which begins now would get.
struct Examined {
    /// The worktree that has it.
    root: PathBuf,
    sources: Sources,
    definition: Definition,
}

impl Examined {
    fn new(root: &Path, sources: Sources, definition: &Definition) -> Self {
        Self {
            root: root.to_owned(),
            sources,
            definition: definition.clone(),
        }
    }
}

/// Would a session that begins now get this pipeline? Then this is it.
fn look(
    doctor: &DoctorContext<'_>,
    pipeline: &InstalledPipeline,
) -> Result<Examined, DefinitionError> {
    let root = &doctor.project.root;
    let Some(file) = &pipeline.file else {
        let sources = definition::find(pipeline.name.as_str(), root, root)?;
        let compiled = definition::compile(&sources)?;
        return Ok(Examined::new(root, sources, compiled.pipeline.definition()));
    };
    // As the hook does: a worktree without the file goes by the main one's.
    let main = doctor.project.main_root();
    let main = main.as_ref().filter(|_| !root.join(file).exists());
    let root = main.unwrap_or(root);
    let path = root.join(file);
    let sources = group_members::with_members(definition::read(&path, file)?, root)?;
    let compiled = definition::compile(&sources)?;
    let definition = compiled.pipeline.definition();
    if !trust::is_shipped(&sources) {
        let subject = Subject::new(&path, &sources, definition, root)?;
        trust::require(&doctor.state, file, &subject)?;
    }
    Ok(Examined::new(root, sources, definition))
}
