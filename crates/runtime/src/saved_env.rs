//! The environment at the start of a run: where workers find their settings and their service.
//!
//! An agent may call `step`. With its own home or service it could choose its own reviewers, so
//! these values come from the start of the run, like the search path.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use engine::{Definition, Driver, Run, RunId, Work};
use hosts::Program;

use crate::failure::Failure;
use crate::state::{self, State};
use crate::workspace::Workspace;

/// Variables that every worker gets.
const EVERYBODY: [&str; 4] = [
    "HOME",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
];

/// Variables by their names.
pub type Variables = BTreeMap<OsString, OsString>;

/// Saves this process's settings for the workers of a run, if it has any.
pub fn save(workspace: &Workspace<'_>, run: &Run, definition: &Definition) -> Result<(), Failure> {
    // We start all agents of a headless run, whatever the definition says.
    if run.driver != Driver::Headless && !has_workers(definition) {
        return Ok(());
    }
    let kept: BTreeMap<&str, String> = names()
        .filter_map(|name| Some((name, std::env::var(name).ok()?)))
        .collect();
    let text = serde_json::to_string(&kept)
        .map_err(|cause| Failure::bug(format!("cannot encode the variables ({cause})")))?;
    let path = path(&workspace.state, &run.id);
    state::write_durably(&path, &text).map_err(Failure::file("write to", &path))
}

/// A fork's workers get the settings of its origin.
pub fn copy(state: &State, origin: &RunId, fork: &RunId) -> Result<(), Failure> {
    let Ok(text) = std::fs::read_to_string(path(state, origin)) else {
        return Ok(());
    };
    let path = path(state, fork);
    state::write_durably(&path, &text).map_err(Failure::file("write to", &path))
}

/// The settings of a run's workers; those of this process if nothing was saved.
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

/// The file is next to the run's search path, and is removed with it.
fn path(state: &State, run: &RunId) -> PathBuf {
    state
        .folder()
        .join("search")
        .join(format!("{run}.variables"))
}

/// Does any worker of this pipeline have a runner?
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
