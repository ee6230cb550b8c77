//! The one process of a state folder that ships: who starts it, and how the others know that it is there.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use crate::current_exe;
use crate::fleet_membership;
use crate::state::State;

const LOCK: &str = "shipping.lock";

/// The lock of the process that ships, which ends with it; `None` if another one has it.
pub fn lock(state: &State) -> Option<File> {
    let mut options = OpenOptions::new();
    let options = options.write(true).create(true).truncate(false).mode(0o600);
    let file = options.open(state.folder().join(LOCK)).ok()?;
    match file.try_lock() {
        Ok(()) => Some(file),
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => None,
    }
}

/// Starts the process that ships, if this machine is in a fleet and it is not there yet. Nobody waits for it, and
/// nothing depends on it: what it does not ship now, the next one ships.
pub fn wake(state: &State) {
    if !fleet_membership::is_joined(state) {
        return;
    }
    let Some(free) = lock(state) else {
        return;
    };
    drop(free);
    let Ok(program) = current_exe::program() else {
        return;
    };
    let _ = Command::new(program)
        .args(["fleet", "ship", "--detached"])
        .arg(state.folder())
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Ctrl-C at the terminal of the session is not for it.
        .process_group(0)
        .spawn();
}
