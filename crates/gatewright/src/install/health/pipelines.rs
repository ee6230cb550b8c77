//! Checks the pipelines of this project: are they valid and trusted?

use engine::{Begins, Definition};
use runtime::definition::{self, DefinitionError};
use runtime::enrolment::InstalledPipeline;
use runtime::failure::Failure;
use runtime::project_files::PROJECT_FOLDER;
use runtime::trust::{self, Subject};
use runtime::{group_members, needed_programs};

use super::{CheckTopic, DoctorContext, Finding, claims};
use crate::install;
use crate::install::additions::Additions;
use crate::install::disk::BaseFolder;

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
    if claims::promise(doctor) || install::was_installed(&doctor.state, &doctor.project) {
        let folder = doctor.state.folder().display();
        CheckTopic::Pipelines.red(
            format!("hooks are installed, and {folder} knows of no pipeline in this project"),
            "`gatewright init` records it again, `gatewright uninit` removes the hooks",
        )
    } else if install::has_pipelines(&doctor.project.root) {
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
        Ok((additions, definition)) => {
            let how = match pipeline.begins {
                Begins::Session => "every session has a run of it",
                Begins::Command => "a command starts it",
            };
            let fine = CheckTopic::Pipelines.fine(format!("{name} is trusted; {how}"));
            return std::iter::once(fine)
                .chain(missing(doctor, &additions))
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

/// Would a session that begins now get this pipeline? Then this is it, with what it adds to the project.
fn look(
    doctor: &DoctorContext<'_>,
    pipeline: &InstalledPipeline,
) -> Result<(Additions, Definition), DefinitionError> {
    let root = &doctor.project.root;
    let Some(file) = &pipeline.file else {
        let sources = definition::find(pipeline.name.as_str(), root, root)?;
        let compiled = definition::compile(&sources)?;
        let definition = compiled.pipeline.definition();
        return Ok((Additions::of(definition, &sources), definition.clone()));
    };
    // As the hook does: a worktree without the file goes by the main one's.
    let main = doctor.project.main_root();
    let main = main.as_ref().filter(|_| !root.join(file).exists());
    let root = main.unwrap_or(root);
    let path = root.join(file);
    let sources = group_members::with_members(definition::read(&path, file)?, root)?;
    let compiled = definition::compile(&sources)?;
    let definition = compiled.pipeline.definition();
    let additions = Additions::of(definition, &sources);
    if trust::is_shipped(&sources) {
        return Ok((additions, definition.clone()));
    }
    let subject = Subject::new(&path, &sources, definition, root)?;
    trust::require(&doctor.state, file, &subject)?;
    Ok((additions, definition.clone()))
}
