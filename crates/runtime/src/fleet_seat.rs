//! The seat of this process in a fleet: the store that machines share, and who this machine is.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use engine::{OnMachine, Who};
use evidence::Project;
use store::{Connector, Handle, SharedBackend};

use crate::failure::Failure;
use crate::run_environment;
use crate::state::State;

/// The folder of the clones in which this machine works for the fleet, in the state folder.
const PROJECTS: &str = "fleet-projects";

/// The longest part of a clone's name that comes from its remote.
const LONGEST_NAME: usize = 40;

/// Takes a seat in the fleet that this machine has joined. A screen calls it again when the database was away.
pub type ConnectFleet = dyn Fn() -> Result<FleetSeat, Failure> + Send + Sync;

/// A process that works on the runs of a fleet.
#[derive(Clone)]
pub struct FleetSeat {
    store: Arc<Mutex<SeatStore>>,
    /// The machine's id, which no other machine has.
    pub machine: String,
    /// Its name, for people.
    pub name: String,
    /// Who started this process: the checks of its runs use the programs that this person vouches for.
    by: Who,
}

/// The store of a seat. A connection may take seconds, so the one that was made first is used, too.
struct SeatStore {
    spare: Option<Box<dyn SharedBackend>>,
    connect: Connector,
}

impl FleetSeat {
    pub fn new(store: Box<dyn SharedBackend>, machine: String, name: String, by: Who) -> Self {
        let store = SeatStore {
            connect: store.connector(),
            spare: Some(store),
        };
        let store = Arc::new(Mutex::new(store));
        Self {
            store,
            machine,
            name,
            by,
        }
    }

    /// A handle of its own.
    pub(crate) fn open(&self) -> Result<Handle, store::Error> {
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        let handle = match store.spare.take() {
            Some(spare) => spare,
            None => (store.connect)()?,
        };
        Ok(Handle::Fleet(handle))
    }

    /// This machine as a run records it, with the environment of checks in this project.
    pub fn on_machine(&self, state: &State, project: &Project) -> Result<OnMachine, Failure> {
        Ok(OnMachine {
            machine: self.machine.clone(),
            name: self.name.clone(),
            environment: run_environment::fix(state, project, &self.by)?,
        })
    }
}

/// Where this machine keeps the clone of a remote.
pub fn project_folder(state: &State, remote: &str) -> PathBuf {
    let projects = state.folder().join(PROJECTS);
    let last = remote.trim_end_matches('/').rsplit(['/', ':']).next();
    let name = last.unwrap_or_default().trim_end_matches(".git");
    let name: String = name
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        .take(LONGEST_NAME)
        .collect();
    let hash = store::content_hash(remote.as_bytes()).to_string();
    let short: String = hash.chars().take(12).collect();
    projects.join(short).join(if name.is_empty() {
        "project".to_owned()
    } else {
        name
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clone_of_a_remote_has_its_name() {
        let state = State::new(PathBuf::from("/state"));
        let name = |remote: &str| {
            let folder = project_folder(&state, remote);
            let name = folder
                .file_name()
                .map(|name| name.to_string_lossy().into_owned());
            name.unwrap()
        };
        assert_eq!(name("git@example.org:team/shop.git"), "shop");
        assert_eq!(name("https://example.org/team/shop/"), "shop");
        assert_eq!(name("/srv/git/../..;rm"), "rm");
        assert_eq!(name("/"), "project");
        let folder = |remote: &str| project_folder(&state, remote);
        assert_ne!(folder("/a/shop.git"), folder("/b/shop.git"));
    }
}
