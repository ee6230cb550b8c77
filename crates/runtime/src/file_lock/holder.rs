//! Who has a turn: noted in the lock itself, for those who wait.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use engine::{Process, ProcessState, Time};
use evidence::process;

use crate::clock;
use crate::failure::Failure;

/// A longer note is none of ours.
const LONGEST: u64 = 256;

/// The process that has a turn, and since when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    process: Process,
    since: Time,
}

impl Holder {
    /// Writes into the lock that this process has it now.
    pub fn note(mut file: &File) -> io::Result<()> {
        let Some(holder) = Self::of(std::process::id()) else {
            return Ok(());
        };
        file.set_len(0)?;
        file.write_all(holder.text().as_bytes())
    }

    pub fn of(process: u32) -> Option<Self> {
        let (process, since) = (process::find(process)?, clock::now());
        Some(Self { process, since })
    }

    pub fn text(&self) -> String {
        let Process { id, started } = self.process;
        format!("{id} {started} {}\n", self.since.0)
    }

    /// Who has the lock, if they have said so and are still there.
    pub fn read(path: &Path) -> Option<Self> {
        let mut text = String::new();
        let file = fs::File::open(path).ok()?;
        file.take(LONGEST).read_to_string(&mut text).ok()?;
        let holder = Self::parse(&text)?;
        (process::life(&holder.process) == ProcessState::Alive).then_some(holder)
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

    pub fn is_stopped(&self) -> bool {
        process::is_stopped(&self.process)
    }

    /// Why nobody else gets the turn, and what a person can do.
    pub fn told(&self) -> Failure {
        let (id, since) = (self.process.id, views::time::rfc3339(self.since));
        let at_it = format!("process {id} has been at it since {since}");
        if self.is_stopped() {
            Failure::outside(format!("{at_it}, and it was stopped")).hint(format!(
                "`kill -CONT {id}` lets it go on, `kill -9 {id}` ends it; then do it again"
            ))
        } else {
            Failure::outside(format!("{at_it}, and others wait")).hint(format!(
                "wait for it, or end it with `kill {id}`; then do it again"
            ))
        }
    }
}
