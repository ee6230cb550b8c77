//! What lies on this machine: our program, the state folder and the store, and what all that promises.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use store::{Backend as _, Sqlite};

use super::{Finding, Patient, Topic};
use crate::install::record;
use runtime::enrolment;
use runtime::failure::Failure;
use runtime::find_run;
use runtime::workspace::Workspace;

/// How much we promise: see `assurance`.
pub const LEVEL: &str = "L0";

/// Room with which a store can go on, and room with which it cannot.
const PLENTY: u64 = 200 * 1024 * 1024;
const TOO_LITTLE: u64 = 10 * 1024 * 1024;

const LARGEST_PROGRAM: u64 = 32 * 1024 * 1024;

pub fn program(patient: &Patient<'_>) -> Finding {
    let program = &patient.program;
    let says = match short_hash(program.real()) {
        Some(hash) => format!("{} (sha256 {hash})", program.path),
        None => program.path.clone(),
    };
    match program.real().starts_with(&patient.project.root) {
        true => Topic::Program.warning(
            format!("{says} lies in the project, where agents write"),
            "install it outside",
        ),
        false => Topic::Program.fine(says),
    }
}

/// The beginning of the program's hash, to compare with a published one. A build for debugging is
/// too large to be worth it.
fn short_hash(path: &Path) -> Option<String> {
    let size = fs::metadata(path).ok()?.len();
    let bytes = (size <= LARGEST_PROGRAM).then(|| fs::read(path).ok())??;
    record::hash(&bytes).get(..16).map(str::to_owned)
}

/// The state folder: ours alone, with room in it.
pub fn state(patient: &Patient<'_>) -> Vec<Finding> {
    let folder = patient.state.folder();
    let shown = folder.display();
    let Ok(metadata) = fs::symlink_metadata(folder) else {
        return vec![Topic::State.fine(format!("{shown} will be made with the first run"))];
    };
    let mode = metadata.mode() & 0o777;
    let owner = match metadata.uid() == rustix::process::getuid().as_raw() {
        _ if !metadata.is_dir() => Topic::State.red(
            format!("{shown} is a link or no folder"),
            "put a real folder there",
        ),
        false => Topic::State.red(
            format!("{shown} belongs to somebody else"),
            "set XDG_STATE_HOME to a folder of yours",
        ),
        true if mode & 0o077 != 0 => Topic::State.red(
            format!("{shown} is open to others (mode {mode:o})"),
            format!("type `chmod 700 {shown}`"),
        ),
        true => Topic::State.fine(format!("{shown} is yours alone")),
    };
    let owner = std::iter::once(owner);
    owner.chain(room(patient)).chain(damaged(patient)).collect()
}

fn damaged(patient: &Patient<'_>) -> impl Iterator<Item = Finding> {
    let files = enrolment::damaged_files(&patient.state).into_iter();
    files.map(|path| {
        Topic::State.red(
            format!(
                "{} is damaged, and keeps agents from beginning",
                path.display()
            ),
            "remove it; then begin a new session, or type `gatewright init` in its project",
        )
    })
}

fn room(patient: &Patient<'_>) -> Option<Finding> {
    let room = rustix::fs::statvfs(patient.state.folder()).ok()?;
    let free = room.f_bavail.saturating_mul(room.f_frsize);
    let says = format!("{} MiB are free for the store", free / (1024 * 1024));
    match free {
        free if free < TOO_LITTLE => Some(Topic::State.red(says, "free some room")),
        free if free < PLENTY => Some(Topic::State.warning(says, "free some room")),
        _ => None,
    }
}

/// The store opens, and every chain in it is whole.
pub fn store(patient: &Patient<'_>) -> Finding {
    let advice = "`gatewright verify` tells more, and `gatewright verify --repair` mends";
    let looked = Workspace::if_there(patient.context).and_then(|workspace| match workspace {
        None => Ok(None),
        Some(workspace) => is_whole(&workspace).map(Some),
    });
    match looked {
        Ok(None) => Topic::Store.fine("no run has been started yet"),
        Ok(Some(true)) => Topic::Store.fine("it opens, and the active runs' chains are whole"),
        Ok(Some(false)) => Topic::Store.red("it is damaged, and refuses every start", advice),
        Err(failure) => Topic::Store.red(failure.to_string(), advice),
    }
}

/// Every page of the database, and the chains of this project's active runs.
fn is_whole(workspace: &Workspace<'_>) -> Result<bool, Failure> {
    let active = find_run::of_project(workspace)?
        .into_iter()
        .filter(find_run::is_active);
    for run in active {
        if !workspace.store.verify(&run.id)?.intact {
            return Ok(false);
        }
    }
    Ok(workspace.store.look(Sqlite::check_pages)?.is_empty())
}

/// What hooks could not record, and the next one will.
pub fn spool(patient: &Patient<'_>) -> Option<Finding> {
    let waiting = fs::read_dir(patient.state.folder().join("spool"))
        .ok()?
        .count();
    (waiting > 0).then(|| {
        let says = format!("{waiting} events could not be recorded when they happened");
        Topic::Store.warning(says, "the next hook records them; look at the lines above")
    })
}

/// The honest word about what hooks can do, and what gets past them.
pub fn assurance() -> Vec<Finding> {
    let lines = [
        format!(
            "{LEVEL}, guarded: it stops drift, accidents and lazy cheating, and shows the rest"
        ),
        "no wall: agents work under your account, and what you can write they can write".to_owned(),
        "not stopped: a shell command that hides what it writes to the settings or to our state"
            .to_owned(),
        "not stopped: an agent program that is started without these settings".to_owned(),
        "not stopped: whoever replaces the program gatewright itself".to_owned(),
        "not stopped: a script that takes care to look like a person, or like a host".to_owned(),
    ];
    lines.map(|line| Topic::Assurance.fine(line)).into()
}
