//! The clones of projects that people have on this machine, by their remote: a run of the fleet takes from there what git
//! ignores and its work needs.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use evidence::Project;

use crate::environment::Environment;
use crate::failure::Failure;
use crate::fleet_project;
use crate::state::{self, State};

/// Remembers the project of this folder, if it has a remote.
pub fn note(state: &State, environment: &Environment, folder: &Path) -> Result<(), Failure> {
    let Ok(project) = Project::find(folder) else {
        return Ok(());
    };
    // A project without a remote has no run in the fleet.
    let (Ok(remote), Some(root)) = (
        fleet_project::remote_of(&project, environment),
        project.root.to_str(),
    ) else {
        return Ok(());
    };
    // One at a time: each would write what it has read, without the other's.
    let lock = state.folder().join("fleet-clones.lock");
    let file = File::create(&lock).map_err(Failure::file("write to", &lock))?;
    file.lock().map_err(Failure::file("lock", &lock))?;
    let mut clones = noted(state);
    if clones.insert(remote, root.to_owned()).as_deref() == Some(root) {
        return Ok(());
    }
    let path = path(state);
    let text = serde_json::json!(clones).to_string();
    state::write_durably(&path, &text).map_err(Failure::file("write to", &path))
}

/// The clone of this remote that was used last, if it is still one.
pub fn find(state: &State, environment: &Environment, remote: &str) -> Option<Project> {
    let root = noted(state).remove(remote)?;
    let project = Project::find(Path::new(&root)).ok()?;
    let now = fleet_project::remote_of(&project, environment).ok()?;
    (now == remote).then_some(project)
}

fn noted(state: &State) -> BTreeMap<String, String> {
    let text = fs::read_to_string(path(state)).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

fn path(state: &State) -> PathBuf {
    state.folder().join("fleet-clones.json")
}
