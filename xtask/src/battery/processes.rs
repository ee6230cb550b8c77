//! Processes as the system shows them: those of one stand, who they are, and signals to them.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Failure;

/// One that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub id: u32,
    /// The number of its group, which is its own if it leads one.
    group: u32,
    /// Its command line, with spaces between the words.
    pub line: String,
    /// Its environment.
    variables: Vec<String>,
    folder: Option<PathBuf>,
    program: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    Kill,
    Stop,
    Continue,
}

impl Process {
    fn read(id: u32) -> Option<Self> {
        let folder = PathBuf::from(format!("/proc/{id}"));
        let stat = fs::read_to_string(folder.join("stat")).ok()?;
        // The name may hold anything, so the fields are counted from its closing bracket.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        // One that has ended and was not taken notice of is not there.
        fields.next().filter(|state| !matches!(*state, "Z" | "X"))?;
        let words = |name: &str| {
            let bytes = fs::read(folder.join(name)).unwrap_or_default();
            let words = bytes
                .split(|byte| *byte == 0)
                .filter(|word| !word.is_empty());
            words
                .map(|word| String::from_utf8_lossy(word).into_owned())
                .collect::<Vec<_>>()
        };
        Some(Self {
            id,
            group: fields.nth(1)?.parse().ok()?,
            line: words("cmdline").join(" "),
            variables: words("environ"),
            folder: fs::read_link(folder.join("cwd")).ok(),
            program: fs::read_link(folder.join("exe")).ok(),
        })
    }

    /// Is it a worker of the run, at the head of its group?
    pub(super) fn is_worker_of(&self, run: &str) -> bool {
        self.id == self.group && self.belongs_to(run)
    }

    /// Was it started for a worker of the run, by whomever?
    pub(super) fn belongs_to(&self, run: &str) -> bool {
        let mark = format!("GATEWRIGHT_RUN={run}");
        self.variables.contains(&mark)
    }

    /// Is it this program, and waits as a watchdog?
    pub(super) fn is_watchdog_of(&self, program: &Path) -> bool {
        self.program.as_deref() == Some(program) && self.line.contains(" watchdog ")
    }

    /// Does it work in this folder, or is its program from there?
    pub(super) fn is_inside(&self, folder: &Path) -> bool {
        let places = [&self.folder, &self.program];
        let mut places = places.into_iter().flatten();
        places.any(|place| place.starts_with(folder))
    }
}

/// All that are there now.
pub(super) fn all() -> Vec<Process> {
    let listed = fs::read_dir("/proc").into_iter().flatten();
    let names = listed.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let ids = names.filter_map(|name| name.parse().ok());
    ids.filter_map(Process::read).collect()
}

/// Those who hold a lock on this file.
pub(super) fn lockers(file: &Path) -> Vec<u32> {
    let Ok(inode) = fs::metadata(file).map(|file| file.ino()) else {
        return Vec::new();
    };
    let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
    let held = locks.lines().filter_map(|line| {
        // Number, kind, manner, aim, process, and the file with its device.
        let mut fields = line.split_whitespace().skip(4);
        let (process, file) = (fields.next()?, fields.next()?);
        let is_this = file.rsplit(':').next() == Some(inode.to_string().as_str());
        process.parse().ok().filter(|_| is_this)
    });
    held.collect()
}

/// Sends a signal to each of them, in this order, as quickly as a shell can. One that has ended
/// meanwhile is skipped.
pub(super) fn send(signal: Signal, processes: &[u32]) -> Result<(), Failure> {
    let name = match signal {
        Signal::Kill => "KILL",
        Signal::Stop => "STOP",
        Signal::Continue => "CONT",
    };
    let ids: Vec<String> = processes.iter().map(ToString::to_string).collect();
    let script = "signal=$1; shift; for process; do kill -s $signal $process 2>/dev/null; done; :";
    let status = Command::new("/bin/sh")
        .args(["-c", script, "sh", name])
        .args(ids)
        .status();
    status.map(drop).map_err(Failure::program("sh"))
}
