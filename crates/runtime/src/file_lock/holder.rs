//! The holder of a lock, written into the lock file for those who wait.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use engine::{Process, ProcessState, Time};
use evidence::process;

use crate::clock;
use crate::failure::Failure;

/// A longer note is not ours.
const LONGEST: u64 = 256;

/// The process that holds a lock, and since when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LockHolder {
    process: Process,
    since: Time,
}

impl LockHolder {
    /// Writes into the lock file that this process holds it.
    pub(super) fn write(mut file: &File) -> io::Result<()> {
        let Some(holder) = Self::of(std::process::id()) else {
            return Ok(());
        };
        file.set_len(0)?;
        file.write_all(holder.text().as_bytes())
    }

    pub(super) fn of(process: u32) -> Option<Self> {
        let (process, since) = (process::find(process)?, clock::now());
        Some(Self { process, since })
    }

    pub(super) fn text(&self) -> String {
        let Process { id, started } = self.process;
        format!("{id} {started} {}\n", self.since.0)
    }

    /// The holder of the lock, if it is noted and still alive.
    pub(super) fn read(path: &Path) -> Option<Self> {
        let mut text = String::new();
        let file = fs::File::open(path).ok()?;
        file.take(LONGEST).read_to_string(&mut text).ok()?;
        let holder = Self::parse(&text)?;
        (process::state(&holder.process) == ProcessState::Alive).then_some(holder)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let process = Process {
            id: words.next()?.parse().ok()?,
            started: words.next()?.parse().ok()?,
        };
        let since = Time(words.next()?.parse().ok()?);
        Some(Self { process, since })
    }

    pub(super) fn is_stopped(&self) -> bool {
        process::is_stopped(&self.process)
    }

    /// Why the lock is not free, and what a person can do.
    pub(super) fn failure(&self) -> Failure {
        let (id, since) = (self.process.id, views::time::rfc3339(self.since));
        let holds = format!("process {id} holds the lock since {since}");
        if self.is_stopped() {
            Failure::environment(format!("{holds}, and is stopped")).hint(format!(
                "type `kill -CONT {id}` to continue it or `kill -9 {id}` to end it; then retry"
            ))
        } else {
            Failure::environment(holds).hint(format!(
                "wait for it, or end it with `kill {id}`; then retry"
            ))
        }
    }
}
