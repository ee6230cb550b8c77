//! Checks this machine: our program, the state folder and the store, and the resulting assurance.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use runtime::enrolment;
use runtime::failure::Failure;
use runtime::find_run;
use runtime::workspace::Workspace;
use store::Backend as _;

use super::{CheckTopic, DoctorContext, Finding};
use crate::record;

/// How much we promise: see `assurance`.
pub(super) const LEVEL: &str = "L0";

/// Room with which a store can go on, and room with which it cannot.
const PLENTY: u64 = 200 * 1024 * 1024;
const TOO_LITTLE: u64 = 10 * 1024 * 1024;

const LARGEST_PROGRAM: u64 = 32 * 1024 * 1024;

pub(super) fn program(doctor: &DoctorContext<'_>) -> Finding {
    let program = &doctor.program;
    let says = match short_hash(program.real()) {
        Some(hash) => format!("{} (sha256 {hash})", program.path),
        None => program.path.clone(),
    };
    if program.real().starts_with(&doctor.project.root) {
        CheckTopic::Program.warning(
            format!("{says} is in the project, where agents can change it"),
            "install it outside the project",
        )
    } else {
        CheckTopic::Program.fine(says)
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
pub(super) fn state(doctor: &DoctorContext<'_>) -> Vec<Finding> {
    let folder = doctor.state.folder();
    let shown = folder.display();
    let Ok(metadata) = fs::symlink_metadata(folder) else {
        return vec![CheckTopic::State.fine(format!("the first run will create {shown}"))];
    };
    let mode = metadata.mode() & 0o777;
    let owner = match metadata.uid() == rustix::process::getuid().as_raw() {
        _ if !metadata.is_dir() => CheckTopic::State.red(
            format!("{shown} is a link or not a folder"),
            "replace it with a real folder",
        ),
        false => CheckTopic::State.red(
            format!("{shown} belongs to somebody else"),
            "set XDG_STATE_HOME to a folder of yours",
        ),
        true if mode & 0o077 != 0 => CheckTopic::State.red(
            format!("other users can read {shown} (mode {mode:o})"),
            format!("type `chmod 700 {shown}`"),
        ),
        true => CheckTopic::State.fine(format!("only you can read {shown}")),
    };
    let owner = std::iter::once(owner);
    owner.chain(room(doctor)).chain(damaged(doctor)).collect()
}

fn damaged(doctor: &DoctorContext<'_>) -> impl Iterator<Item = Finding> {
    let files = enrolment::damaged_files(&doctor.state).into_iter();
    files.map(|path| {
        CheckTopic::State.red(
            format!("{} is damaged, so no agent can start", path.display()),
            "remove it; then start a new session, or type `gatewright init` in its project",
        )
    })
}

fn room(doctor: &DoctorContext<'_>) -> Option<Finding> {
    let room = rustix::fs::statvfs(doctor.state.folder()).ok()?;
    let free = room.f_bavail.saturating_mul(room.f_frsize);
    let says = format!("{} MiB are free for the store", free / (1024 * 1024));
    match free {
        free if free < TOO_LITTLE => Some(CheckTopic::State.red(says, "free disk space")),
        free if free < PLENTY => Some(CheckTopic::State.warning(says, "free disk space")),
        _ => None,
    }
}

/// Checks that the store opens and every hash chain is intact.
pub(super) fn store(doctor: &DoctorContext<'_>) -> Finding {
    let advice = "`gatewright verify` shows details, `gatewright verify --repair` repairs it";
    let looked = Workspace::if_exists(doctor.context).and_then(|workspace| match workspace {
        None => Ok(None),
        Some(workspace) => is_whole(&workspace).map(Some),
    });
    match looked {
        Ok(None) => CheckTopic::Store.fine("no run has been started yet"),
        Ok(Some(true)) => {
            CheckTopic::Store.fine("it opens, and the hash chains of the active runs are intact")
        }
        Ok(Some(false)) => CheckTopic::Store.red("it is damaged, so no run can start", advice),
        Err(failure) => CheckTopic::Store.red(failure.to_string(), advice),
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
    Ok(workspace.store.check_pages()?.is_empty())
}

/// What hooks could not record, and the next one will.
pub(super) fn spool(doctor: &DoctorContext<'_>) -> Option<Finding> {
    let waiting = fs::read_dir(doctor.state.folder().join("spool"))
        .ok()?
        .count();
    (waiting > 0).then(|| {
        let says = format!("{waiting} events are not in the journal yet");
        CheckTopic::Store.warning(says, "the next hook records them; see the lines above")
    })
}

/// What the hooks stop, and what they do not stop. Nothing is stopped where none are installed.
pub(super) fn assurance(doctor: &DoctorContext<'_>) -> Vec<Finding> {
    if !matches!(&doctor.installed, Ok(Some(_))) {
        return Vec::new();
    }
    let lines = [
        format!(
            "{LEVEL}, guarded: stops drift, accidents and simple cheating, and records the rest"
        ),
        "it is not a sandbox: agents run as your user and can write what you can write".to_owned(),
        "it does not stop a shell command that hides its writes, an agent program started without these \
         settings, a replaced gatewright program, or a script that imitates a person or a host"
            .to_owned(),
    ];
    lines.map(|line| CheckTopic::Assurance.fine(line)).into()
}
