//! The pipelines of this project: are they sound, and does somebody trust them?

use engine::Begins;

use super::{Finding, Patient, Topic};
use crate::definition::{self, Trouble};
use crate::enrolment::InstalledPipeline;
use crate::failure::Failure;
use crate::trust::{self, Subject};

pub fn findings(patient: &Patient<'_>) -> Vec<Finding> {
    let installed = match &patient.installed {
        Ok(Some(installed)) => installed,
        Ok(None) => {
            let says = "none is installed in this project";
            return vec![Topic::Pipelines.warning(says, "`gatewright init PIPELINE` installs one")];
        }
        Err(reason) => {
            return vec![Topic::Pipelines.red(reason.clone(), "`gatewright init` writes it anew")];
        }
    };
    let pipelines = installed.pipelines.iter();
    pipelines.map(|it| of_pipeline(patient, it)).collect()
}

fn of_pipeline(patient: &Patient<'_>, pipeline: &InstalledPipeline) -> Finding {
    let name = &pipeline.name;
    match look(patient, pipeline) {
        Ok(()) => {
            let how = match pipeline.begins {
                Begins::Session => "every session has a run of it",
                Begins::Command => "a command starts it",
            };
            Topic::Pipelines.fine(format!("{name} is trusted; {how}"))
        }
        Err(Trouble::Failed(failure)) => {
            let Failure { message, hints, .. } = failure;
            let says = format!("{message}: sessions are not guarded by {name}");
            Topic::Pipelines.red(says, hints.join("; "))
        }
        Err(Trouble::Rejected { problems, .. }) => {
            let first = problems.into_iter().next();
            let first = first.map(|problem| problem.message).unwrap_or_default();
            let says = format!("{name} is not accepted ({first})");
            Topic::Pipelines.red(says, format!("`gatewright lint {name}` shows all"))
        }
    }
}

/// Would a session that begins now get this pipeline?
fn look(patient: &Patient<'_>, pipeline: &InstalledPipeline) -> Result<(), Trouble> {
    let root = &patient.project.root;
    let Some(file) = &pipeline.file else {
        return definition::find(pipeline.name.as_str(), root, root)
            .and_then(|sources| definition::compile(&sources))
            .map(drop);
    };
    let path = root.join(file);
    let sources = definition::read(&path, file)?;
    let compiled = definition::compile(&sources)?;
    if trust::is_shipped(&sources) {
        return Ok(());
    }
    let definition = compiled.pipeline.definition();
    let subject = Subject::new(&path, &sources, definition, root)?;
    Ok(trust::require(&patient.state, file, &subject)?)
}
