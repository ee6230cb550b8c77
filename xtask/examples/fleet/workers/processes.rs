//! The processes of one machine as the system shows them, and signals to all of them.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};

use crate::Result;

/// One process of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub id: i32,
    pub line: String,
}

/// All that work in this folder, whose program lies there, or whose home does. One that has ended is not there.
pub(crate) fn inside(folder: &Path) -> Vec<Process> {
    let listed = fs::read_dir("/proc").into_iter().flatten();
    let names = listed.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let ids = names.filter_map(|name| name.parse().ok());
    ids.filter_map(|id| find(id, folder)).collect()
}

fn find(id: i32, folder: &Path) -> Option<Process> {
    let entry = PathBuf::from(format!("/proc/{id}"));
    let stat = fs::read_to_string(entry.join("stat")).ok()?;
    let state = stat.rsplit_once(") ")?.1.chars().next()?;
    if matches!(state, 'Z' | 'X') {
        return None;
    }
    let links = ["cwd", "exe"].map(|name| fs::read_link(entry.join(name)).ok());
    let is_there = links.iter().flatten().any(|path| path.starts_with(folder));
    let home = format!("HOME={}", folder.join("home").display());
    let variables = fs::read(entry.join("environ")).unwrap_or_default();
    let has_home = || {
        let mut words = variables.split(|byte| *byte == 0);
        words.any(|word| word == home.as_bytes())
    };
    (is_there || has_home()).then(|| {
        let line = fs::read(entry.join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        Process { id, line }
    })
}

/// Sends it to one process. One that has ended meanwhile is skipped.
pub(crate) fn send(id: i32, signal: Signal) -> Result<()> {
    let process = Pid::from_raw(id).ok_or("a process has an id")?;
    match kill_process(process, signal) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Stops all of them, also those that start meanwhile.
pub(crate) fn freeze(folder: &Path) -> Result<()> {
    let mut frozen: Vec<i32> = Vec::new();
    loop {
        let all = inside(folder).into_iter().map(|process| process.id);
        let new: Vec<i32> = all.filter(|id| !frozen.contains(id)).collect();
        if new.is_empty() {
            return Ok(());
        }
        new.iter().try_for_each(|id| send(*id, Signal::STOP))?;
        frozen.extend(new);
    }
}

pub(crate) fn wake(folder: &Path) -> Result<()> {
    let all = inside(folder);
    all.iter()
        .try_for_each(|process| send(process.id, Signal::CONT))
}

/// kill -9 for all, at one moment as far as they can tell.
pub(crate) fn kill(folder: &Path) -> Result<()> {
    freeze(folder)?;
    loop {
        let all = inside(folder);
        if all.is_empty() {
            return Ok(());
        }
        all.iter()
            .try_for_each(|process| send(process.id, Signal::KILL))?;
    }
}
