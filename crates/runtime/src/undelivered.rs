//! Completed runs whose work was not handed over, as every screen tells them.
//!
//! Two notes in the folder of a run's place say which runs to look at, so that nobody opens those that are over:
//! one that work is to be delivered, and one that a delivery has failed. The run itself says what is true.

use std::fs;
use std::path::PathBuf;

use engine::{Definition, Deliver, DeliveryState, RunId, Status};
use views::Untrusted;
use views::facts::Undelivered;

use crate::drive_settings::{DeliverRequest, DriveSettings};
use crate::failure::Failure;
use crate::run_branch;
use crate::state::{State, write_durably};
use crate::workspace::OpenRun;

/// The file that marks a run whose work is still to be delivered.
const OPEN: &str = "undelivered";

/// The file that marks a run whose delivery has failed.
const FAILED: &str = "delivery-failed";

/// What a run hands over: what the person asked for counts before what the definition says.
pub fn wanted(definition: &Definition, wanted: &DeliverRequest) -> Deliver {
    let defined = definition.placement.delivery.as_ref();
    let deliver = wanted.deliver.or(defined.map(|it| it.deliver));
    deliver.unwrap_or(Deliver::Branch)
}

/// What the delivery of a run lacks; nothing if it is not completed, or not to be delivered.
pub fn of(state: &State, opened: &OpenRun) -> Option<Undelivered> {
    let place = opened.run().place.as_ref()?;
    let reason = match &place.delivery {
        DeliveryState::Done(_) => return None,
        DeliveryState::Open => None,
        DeliveryState::Failed { reason } => Some(Untrusted::new(reason)),
    };
    let is_completed = engine::status(&opened.pipeline, opened.run()) == Status::Completed;
    if !is_completed || place.folder.is_none() {
        return None;
    }
    // Settings that cannot be read are an error where the work is delivered.
    let settings = DriveSettings::load(state, &opened.run().id).unwrap_or_default();
    let deliver = wanted(opened.pipeline.definition(), &settings.deliver);
    (deliver != Deliver::Nothing).then_some(Undelivered { reason })
}

/// The runs that have a place, and whose work may still be to be delivered.
pub fn open_runs(state: &State) -> Vec<RunId> {
    marked(state, &[OPEN])
}

/// The same, with those whose delivery has failed.
pub fn runs(state: &State) -> Vec<RunId> {
    marked(state, &[OPEN, FAILED])
}

fn marked(state: &State, names: &[&str]) -> Vec<RunId> {
    let listed = fs::read_dir(run_branch::places(state));
    let runs = listed.into_iter().flatten().filter_map(|entry| {
        let entry = entry.ok()?;
        let is_marked = names.iter().any(|name| entry.path().join(name).exists());
        let name = is_marked.then(|| entry.file_name().into_string().ok())??;
        RunId::parse(&name).ok()
    });
    runs.collect()
}

/// Work is to be delivered when the run is completed.
pub fn note_open(state: &State, run: &RunId) -> Result<(), Failure> {
    note(state, run, OPEN)
}

/// A delivery has failed. A worker does not repeat it: a person does.
pub fn note_failed(state: &State, run: &RunId) -> Result<(), Failure> {
    note(state, run, FAILED)?;
    forget(state, run, OPEN);
    Ok(())
}

/// Nothing is left to deliver.
pub fn note_settled(state: &State, run: &RunId) {
    forget(state, run, OPEN);
    forget(state, run, FAILED);
}

fn note(state: &State, run: &RunId, name: &str) -> Result<(), Failure> {
    let path = path(state, run, name);
    write_durably(&path, "").map_err(Failure::file("write to", &path))
}

/// If it stays, the next reader opens the run once more and finds that it is delivered.
fn forget(state: &State, run: &RunId, name: &str) {
    let _ = fs::remove_file(path(state, run, name));
}

fn path(state: &State, run: &RunId, name: &str) -> PathBuf {
    run_branch::run_folder(state, run).join(name)
}
