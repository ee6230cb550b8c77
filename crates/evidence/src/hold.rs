//! Programs that are held: a process of ours is their parent and the parent of all that they leave behind,
//! so nothing that they start gets away, whatever it does to its group and its environment.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, wait};

use crate::group;

/// The exit code of a holder whose program could not start. The report says so; the code alone does not.
const COULD_NOT_START: i32 = 127;

/// How a program is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// Our own program, which has the command `hold`.
    pub holder: PathBuf,
    /// Where the holder writes why a program could not start.
    pub report: PathBuf,
}

impl Hold {
    /// The command that holds this program. Its arguments come next.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(&self.holder);
        command.arg("hold").arg(&self.report).arg(program);
        command
    }

    /// Why the program could not start, if it ended with this code for that reason.
    pub fn failure(&self, code: i32) -> Option<String> {
        (code == COULD_NOT_START).then(|| fs::read_to_string(&self.report).ok())?
    }
}

/// How a held program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Code(i32),
    Signal(i32),
}

/// The holder's side: runs the program and kills what it left behind. The holder then ends as it did: by the
/// same signal, or with this code.
pub fn hold(report: &Path, program: &OsStr, arguments: &[OsString]) -> u8 {
    let ended = run(program, arguments).unwrap_or_else(|cause| {
        // Without the report it counts as a program that ended with this code.
        let _ = fs::write(report, cause.to_string());
        Ended::Code(COULD_NOT_START)
    });
    let code = match ended {
        Ended::Code(code) => code,
        Ended::Signal(number) => {
            if let Some(signal) = Signal::from_named_raw(number) {
                let _ = kill_process(getpid(), signal);
            }
            128 + number
        }
    };
    u8::try_from(code).unwrap_or(u8::MAX)
}

fn run(program: &OsStr, arguments: &[OsString]) -> io::Result<Ended> {
    adopt_orphans();
    let child = Command::new(program).args(arguments).spawn()?;
    let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let ended = wait_for(id)?;
    group::kill_descendants(std::process::id());
    Ok(ended)
}

/// Processes that lose their parent become ours. Other systems cannot do that.
fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    // An old kernel without it leaves what there was before: groups and marks.
    let _ = rustix::process::set_child_subreaper(Some(getpid()));
}

/// Waits for the end of this child, and reaps the orphans that end before it.
fn wait_for(child: Option<Pid>) -> io::Result<Ended> {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((id, status))) if Some(id) == child => {
                if let Some(ended) = ended(status) {
                    return Ok(ended);
                }
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(cause) => return Err(cause.into()),
        }
    }
}

fn ended(status: WaitStatus) -> Option<Ended> {
    let code = status.exit_status().map(Ended::Code);
    code.or_else(|| status.terminating_signal().map(Ended::Signal))
}
