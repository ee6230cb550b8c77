//! The environment of workers: where their programs, their settings and their service are.
//!
//! An agent may start a run and call `step`. With a PATH, a home or a service of its own it could choose
//! its own reviewers, so these values come from the environment that a person gave, like those of checks.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use engine::{Run, RunId};

use crate::check_environment;
use crate::failure::Failure;
use crate::state::{self, State};
use crate::worker_settings::is_known;

/// Variables by their names.
pub type Variables = BTreeMap<OsString, OsString>;

/// What the workers of a run get besides the task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerEnvironment {
    /// Where their programs are looked for.
    pub folders: Vec<PathBuf>,
    pub settings: Variables,
}

/// The environment of a run's workers. `now` is that of this process, for runs of earlier versions.
pub fn of_run(state: &State, run: &Run, now: &Variables) -> Result<WorkerEnvironment, Failure> {
    if run.environment.is_none() {
        return Ok(of_older(state, &run.id, now));
    }
    let given = check_environment::of_run(state, run).map_err(Failure::environment)?;
    let settings = given.variables.iter().filter(|(name, _)| is_known(name));
    Ok(WorkerEnvironment {
        folders: given.folders(),
        settings: settings
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
    })
}

/// Runs of earlier versions recorded the settings of the process that started them.
fn of_older(state: &State, run: &RunId, now: &Variables) -> WorkerEnvironment {
    let search = state.search_path(run).unwrap_or_default();
    let text = std::fs::read_to_string(path(state, run)).ok();
    let kept: Option<BTreeMap<String, String>> =
        text.and_then(|text| serde_json::from_str(&text).ok());
    let settings = match kept {
        Some(kept) => kept
            .into_iter()
            .filter(|(name, _)| is_known(name))
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
        None => now
            .iter()
            .filter(|(name, _)| name.to_str().is_some_and(is_known))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
    };
    WorkerEnvironment {
        folders: std::env::split_paths(&search).collect(),
        settings,
    }
}

/// The workers of a fork of such a run get what those of its origin get.
pub fn copy_older(state: &State, origin: &RunId, fork: &RunId) -> Result<(), Failure> {
    if let Some(search) = state.search_path(origin) {
        state.save_search_path(fork, &search)?;
    }
    let Ok(text) = std::fs::read_to_string(path(state, origin)) else {
        return Ok(());
    };
    let path = path(state, fork);
    state::write_durably(&path, &text).map_err(Failure::file("write to", &path))
}

/// The file is next to the run's search path, and is removed with it.
fn path(state: &State, run: &RunId) -> PathBuf {
    state
        .folder()
        .join("search")
        .join(format!("{run}.variables"))
}
