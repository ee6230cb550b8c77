//! Starts the host once, without a model, and checks that it calls our hooks.

use std::process::Command;
use std::time::Duration;

use engine::{Begins, PipelineName};
use hosts::DEFAULT_SESSION_HOST;
use runtime::enrolment::{self, Installed, InstalledPipeline};
use runtime::state::State;
use runtime::subprocess;

use super::{CheckTopic, DoctorContext, Finding, claims};
use crate::host::{Host, TITLE};
use crate::pipeline;
use crate::trial::Trial;

const PATIENCE: Duration = Duration::from_secs(60);

pub(super) fn finding(doctor: &DoctorContext<'_>, host: Option<&Host>) -> Finding {
    let Some(host) = host else {
        return CheckTopic::Live.red(format!("{TITLE} is not installed"), "install it");
    };
    if !matches!(doctor.installed, Ok(Some(_))) {
        return CheckTopic::Live.red(
            "nothing is installed here, so no session is guarded",
            "see the lines about pipelines",
        );
    }
    if claims::is_elsewhere(doctor) {
        return CheckTopic::Live.red(
            "the hooks guard another place, so they were not tried",
            "see the lines about hooks",
        );
    }
    match tried(doctor, host) {
        Ok(true) => CheckTopic::Live.fine(format!("{TITLE} started a session, and it was guarded")),
        Ok(false) => CheckTopic::Live.red(
            format!("{TITLE} started a session and did not call the hooks"),
            "see the lines about settings and hooks",
        ),
        Err(reason) => CheckTopic::Live.red(
            format!("cannot start {TITLE}: {reason}"),
            "start it once by hand",
        ),
    }
}

/// Begins a session in a state of its own, in which every session of this project has a run. Was this
/// one given a run?
fn tried(doctor: &DoctorContext<'_>, host: &Host) -> Result<bool, String> {
    let folder = tempfile::tempdir().map_err(|cause| cause.to_string())?;
    let home =
        runtime::environment::Environment::new([("XDG_STATE_HOME".into(), folder.path().into())]);
    let state = State::find(&home).map_err(|failure| failure.to_string())?;
    let name = PipelineName::parse(pipeline::DEFAULT).map_err(|problem| problem.to_string())?;
    let always_on = Installed {
        project: doctor.project.key.clone(),
        pipelines: vec![InstalledPipeline {
            name,
            file: None,
            begins: Begins::Session,
            commands: Default::default(),
        }],
    };
    enrolment::install(&state, &always_on).map_err(|cause| cause.to_string())?;
    let _trial = Trial::begin(&doctor.state, &state).map_err(|failure| failure.to_string())?;
    let mut command = Command::new(&host.path);
    command
        .args(DEFAULT_SESSION_HOST.trial_arguments)
        .current_dir(&doctor.project.root)
        .env("XDG_STATE_HOME", folder.path());
    // A session around this command is not the one that begins.
    let variables = &DEFAULT_SESSION_HOST.variables;
    let marks = variables.marks.iter().map(|(name, _)| *name);
    for name in marks.chain([variables.session, variables.process]) {
        command.env_remove(name);
    }
    let ended =
        subprocess::run(&mut command, b"", PATIENCE).map_err(|trouble| trouble.to_string())?;
    ended.success()?;
    Ok(enrolment::is_anybody_enrolled(&state))
}
