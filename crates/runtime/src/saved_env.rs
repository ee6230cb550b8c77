//! What the environment said when a run began: where workers have their settings, and their service.
//!
//! Whoever asks for a step may be an agent. A home or a service of its own choice would give it
//! reviewers of its own choice, so these are taken from the start of the run, as the search path is.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use engine::{Definition, Driver, Run, RunId, Work};
use hosts::Program;

use crate::failure::Failure;
use crate::state::{self, State};
use crate::workspace::Workspace;

/// What every worker is told besides.
const EVERYBODY: [&str; 4] = [
    "HOME",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
];

/// Variables by their names.
pub type Variables = BTreeMap<OsString, OsString>;

/// Keeps the settings of this process for the workers of a run that has any.
pub fn keep(workspace: &Workspace<'_>, run: &Run, definition: &Definition) -> Result<(), Failure> {
    // All agents of a headless run are ours, whatever the definition says of them.
    if run.driver != Driver::Headless && !has_workers(definition) {
        return Ok(());
    }
    let kept: BTreeMap<&str, String> = names()
        .filter_map(|name| Some((name, std::env::var(name).ok()?)))
        .collect();
    let text = serde_json::to_string(&kept)
        .map_err(|cause| Failure::bug(format!("variables cannot be written ({cause})")))?;
    let path = path(&workspace.state, &run.id);
    state::write_durably(&path, &text).map_err(Failure::file("write to", &path))
}

/// A fork's workers have the settings of its origin's.
pub fn keep_alike(state: &State, origin: &RunId, fork: &RunId) -> Result<(), Failure> {
    let Ok(text) = std::fs::read_to_string(path(state, origin)) else {
        return Ok(());
    };
    let path = path(state, fork);
    state::write_durably(&path, &text).map_err(Failure::file("write to", &path))
}

/// The settings of a run's workers; those of this process where nothing was kept.
pub fn settings(state: &State, run: &RunId, now: &Variables) -> Variables {
    let text = std::fs::read_to_string(path(state, run)).ok();
    let kept: Option<BTreeMap<String, String>> =
        text.and_then(|text| serde_json::from_str(&text).ok());
    match kept {
        Some(kept) => kept
            .into_iter()
            .filter(|(name, _)| names().any(|known| known == name))
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
        None => now
            .iter()
            .filter(|(name, _)| names().any(|known| *name == known))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    let programs = Program::ALL
        .into_iter()
        .flat_map(Program::settings_variables);
    EVERYBODY.into_iter().chain(programs.copied())
}

/// It lies beside the run's search path, and goes with it.
fn path(state: &State, run: &RunId) -> PathBuf {
    state
        .folder()
        .join("search")
        .join(format!("{run}.variables"))
}

/// Does anybody in this pipeline have a runner?
fn has_workers(definition: &Definition) -> bool {
    definition.stages.iter().any(|stage| match &stage.work {
        Work::Agent(work) => work.settings.runner.is_some(),
        Work::Steps(work) => work.settings.runner.is_some(),
        Work::Review(work) => {
            let mut panel = work.panel.iter().map(|reviewer| &reviewer.settings);
            work.owner_settings.runner.is_some() || panel.any(|settings| settings.runner.is_some())
        }
        Work::Open(_) | Work::Check(_) | Work::Ask(_) | Work::End(_) => false,
    })
}
