//! The program at work in the background: it can be sent signals, and waited for.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use testkit::Ran;

use super::fixture::until;

pub(crate) struct UnderWay {
    child: Child,
    /// The program itself; the child may be a detour to it.
    pub id: i32,
    /// What it says on its standard error output.
    said: PathBuf,
}

impl UnderWay {
    /// Starts it. The command writes its number into the file before it becomes the program.
    pub(crate) fn begin(mut command: Command, file: &Path) -> Self {
        let said = file.with_extension("said");
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(&said).unwrap());
        let child = command.spawn().unwrap();
        until("it has begun", || file.exists());
        let id = fs::read_to_string(file).unwrap().trim().parse().unwrap();
        Self { child, id, said }
    }

    pub(crate) fn signal(&self, signal: Signal) -> &Self {
        kill_process(Pid::from_raw(self.id).unwrap(), signal).unwrap();
        self
    }

    pub(crate) fn interrupt(&self) -> &Self {
        self.signal(Signal::INT)
    }

    pub(crate) fn kill(self) -> Ran {
        self.signal(Signal::KILL);
        self.end()
    }

    /// What it said, when it has ended.
    pub(crate) fn end(self) -> Ran {
        let mut ended = self.child.wait_with_output().unwrap();
        ended.stderr = fs::read(&self.said).unwrap();
        Ran::from(ended)
    }

    /// What it has said so far.
    pub(crate) fn said(&self) -> String {
        fs::read_to_string(&self.said).unwrap()
    }

    /// Does it know what to do with an interrupt?
    pub(crate) fn listens(&self) -> bool {
        // The shell that becomes the program may have something of its own to do with it.
        let name = self.told("Name:").unwrap_or_default();
        let caught = self.told("SigCgt:").unwrap_or_default();
        // Signals count from 1, and an interrupt is the second one.
        let caught = u64::from_str_radix(&caught, 16);
        name == "gatewright" && caught.is_ok_and(|caught| caught & 0b10 != 0)
    }

    /// What the system tells of it under this name. Nothing when it has ended.
    fn told(&self, name: &str) -> Option<String> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id)).ok()?;
        let line = status.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1).map(str::to_owned)
    }

    /// The most memory that it ever had, in kilobytes. Nothing when it has ended.
    pub(crate) fn memory(&self) -> Option<u64> {
        self.told("VmHWM:")?.parse().ok()
    }
}

/// Is this process at work? One that has ended and waits for its parent is not.
pub(crate) fn is_alive(id: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest.chars().next());
    !matches!(state, None | Some(None | Some('Z' | 'X')))
}
