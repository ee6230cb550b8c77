//! The pipelines of this project: are they sound, and does somebody trust them?

use engine::Begins;
use runtime::definition::{self, Trouble};
use runtime::enrolment::InstalledPipeline;
use runtime::failure::Failure;
use runtime::group_members;
use runtime::trust::{self, Subject};

use super::{Finding, Patient, Topic};
use crate::install::additions::Additions;
use crate::install::disk::Base;

pub fn findings(patient: &Patient<'_>) -> Vec<Finding> {
    let installed = match &patient.installed {
        Ok(Some(installed)) => installed,
        Ok(None) => {
            let says = "no pipeline is installed in this project";
            return vec![Topic::Pipelines.warning(says, "`gatewright init PIPELINE` installs one")];
        }
        Err(reason) => {
            return vec![Topic::Pipelines.red(reason.clone(), "`gatewright init` rewrites it")];
        }
    };
    let pipelines = installed.pipelines.iter();
    pipelines.flat_map(|it| of_pipeline(patient, it)).collect()
}

fn of_pipeline(patient: &Patient<'_>, pipeline: &InstalledPipeline) -> Vec<Finding> {
    let name = &pipeline.name;
    let found = match look(patient, pipeline) {
        Ok(additions) => {
            let how = match pipeline.begins {
                Begins::Session => "every session has a run of it",
                Begins::Command => "a command starts it",
            };
            let fine = Topic::Pipelines.fine(format!("{name} is trusted; {how}"));
            return std::iter::once(fine)
                .chain(missing(patient, &additions))
                .collect();
        }
        Err(Trouble::Failed(failure)) => {
            let Failure { message, hints, .. } = failure;
            let says = format!("{message}: {name} does not guard any session");
            Topic::Pipelines.red(says, hints.join("; "))
        }
        Err(Trouble::Rejected { problems, .. }) => {
            let first = problems.into_iter().next();
            let first = first.map(|problem| problem.message).unwrap_or_default();
            let says = format!("{name} is not accepted ({first})");
            Topic::Pipelines.red(says, format!("`gatewright lint {name}` shows all problems"))
        }
    };
    vec![found]
}

/// What somebody took out of the files to which the pipeline adds.
fn missing(patient: &Patient<'_>, additions: &Additions) -> Vec<Finding> {
    let base = Base::new(patient.project.root.clone());
    match additions.missing(&base, &patient.project) {
        Ok(missing) => missing
            .into_iter()
            .map(|says| Topic::Pipelines.warning(says, "`gatewright init` restores it"))
            .collect(),
        Err(Failure { message, hints, .. }) => {
            vec![Topic::Pipelines.warning(message, hints.join("; "))]
        }
    }
}

/// Would a session that begins now get this pipeline? Then this is what it adds to the project.
fn look(patient: &Patient<'_>, pipeline: &InstalledPipeline) -> Result<Additions, Trouble> {
    let root = &patient.project.root;
    let Some(file) = &pipeline.file else {
        let sources = definition::find(pipeline.name.as_str(), root, root)?;
        let compiled = definition::compile(&sources)?;
        return Ok(Additions::of(compiled.pipeline.definition(), &sources));
    };
    let path = root.join(file);
    let sources = group_members::settled(definition::read(&path, file)?, root)?;
    let compiled = definition::compile(&sources)?;
    let definition = compiled.pipeline.definition();
    let additions = Additions::of(definition, &sources);
    if trust::is_shipped(&sources) {
        return Ok(additions);
    }
    let subject = Subject::new(&path, &sources, definition, root)?;
    trust::require(&patient.state, file, &subject)?;
    Ok(additions)
}
