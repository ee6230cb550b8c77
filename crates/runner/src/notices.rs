//! One notice for each real event: a run that is driven again and still waits for the same thing is not told twice.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use engine::{RunId, Status};
use runtime::drive_settings::DriveSettings;
use runtime::failure::Failure;
use runtime::notify_target::NotifyTarget;
use runtime::state::{self, State};
use runtime::transact;
use runtime::workspace::{OpenRun, Workspace};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::notify;
use crate::progress::Watcher;

/// The notices of one drive.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    /// The event and the target of each that could not be sent.
    failed: BTreeSet<(String, String)>,
}

impl Notices {
    /// Tells every target of the run that does not know it yet. A notice that fails is said, recorded, and tried again
    /// when the run is next driven to the same place.
    pub(crate) fn tell(
        &mut self,
        workspace: &mut Workspace<'_>,
        opened: &OpenRun,
        status: &Status,
        watcher: &mut dyn Watcher,
    ) -> Result<(), Failure> {
        let run = &opened.run().id;
        let targets = DriveSettings::load(&workspace.state, run)?.notify;
        if targets.is_empty() || !notify::is_worth_a_notice(status) {
            return Ok(());
        }
        let mut told = NotifiedTargets::read(&workspace.state, run, event(opened, status));
        for target in targets {
            let name = evidence::hash(target.as_bytes()).to_string();
            let Some(parsed) = NotifyTarget::parse(&target).ok() else {
                continue;
            };
            let failed = (told.event.clone(), name.clone());
            if told.targets.contains(&name) || self.failed.contains(&failed) {
                continue;
            }
            match notify::send(workspace, opened, status, &parsed) {
                Ok(()) => {
                    told.targets.push(name);
                    told.write(&workspace.state, run)?;
                }
                Err(message) => {
                    self.failed.insert(failed);
                    watcher.remark(&message);
                    let current = workspace.read(run)?;
                    transact::remark(workspace, current, None, &message)?;
                }
            }
        }
        Ok(())
    }
}

/// What happened, in so far as it happens once. A later visit, another attempt, another answer or another grant of
/// the budget makes it another event; driving the run again does not.
fn event(opened: &OpenRun, status: &Status) -> String {
    let run = opened.run();
    let reason = notify::reason(opened, status).unwrap_or_default();
    let text = format!(
        "{} {} {} {} {} {reason}",
        status.word(),
        run.position.visit,
        run.last_dispatch,
        run.position.happened.len(),
        run.grants,
    );
    evidence::hash(text.as_bytes()).to_string()
}

/// Who was told of the latest event of a run. The targets may hold secrets, so only their hashes are kept.
#[derive(Serialize, Deserialize)]
struct NotifiedTargets {
    event: String,
    targets: Vec<String>,
}

impl NotifiedTargets {
    fn read(state: &State, run: &RunId, event: String) -> Self {
        let text = fs::read_to_string(path(state, run)).unwrap_or_default();
        let told: Option<Self> = serde_json::from_str(&text).ok();
        told.filter(|told| told.event == event)
            .unwrap_or_else(|| Self {
                event,
                targets: Vec::new(),
            })
    }

    fn write(&self, state: &State, run: &RunId) -> Result<(), Failure> {
        let path = path(state, run);
        state::write_durably(&path, &json!(self).to_string())
            .map_err(Failure::file("write to", &path))
    }
}

fn path(state: &State, run: &RunId) -> PathBuf {
    state
        .folder()
        .join("headless")
        .join(format!("{run}.notified"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_bytes_are_read_and_written_as_they_always_were() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let run = RunId::parse("r-1").unwrap();
        let read = |event: &str| NotifiedTargets::read(&state, &run, event.to_owned());
        let stored = r#"{"event":"e","targets":["t1","t2"]}"#;
        let mut told = read("e");
        assert!(told.targets.is_empty());
        told.targets = vec!["t1".to_owned(), "t2".to_owned()];
        told.write(&state, &run).unwrap();
        assert_eq!(fs::read_to_string(path(&state, &run)).unwrap(), stored);
        assert_eq!(read("e").targets, ["t1", "t2"]);
        // Nobody knows of another event yet.
        let other = read("f");
        assert_eq!((other.event.as_str(), other.targets.len()), ("f", 0));
        for damaged in ["", "[]", "{}", r#"{"event":"e"}"#] {
            fs::write(path(&state, &run), damaged).unwrap();
            assert!(read("e").targets.is_empty(), "{damaged}");
        }
    }
}
