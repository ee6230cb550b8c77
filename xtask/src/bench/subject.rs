//! What is timed: processes by name, each made anew for every round.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;

use tempfile::TempDir;

use super::history;
use crate::battery;
use crate::dist::{STATIC_FLAGS, triple};
use crate::failure::Failure;
use crate::workspace::{root, rustc, scratch, succeed};

/// One kind of process.
pub struct Subject {
    pub kind: Kind,
    /// How many entries the run has; 0 for a process that has no run.
    pub entries: usize,
    make: Box<Make>,
}

/// Makes the process of a round: what starts it, and the round.
type Make = dyn Fn(&[&str], usize) -> Command;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Noop,
    Append,
    Decide,
    Advance,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Noop => "no-op",
            Self::Append => "append",
            Self::Decide => "decide",
            Self::Advance => "advance",
        }
    }
}

impl Subject {
    /// The process of this round, silent.
    pub fn command(&self, round: usize) -> Command {
        self.under(&[], round)
    }

    /// The same, started by a program that watches it.
    pub fn under(&self, starter: &[&str], round: usize) -> Command {
        let mut command = (self.make)(starter, round);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }
}

/// The processes that are compared with, compiled with the same flags as the program.
pub struct Floors {
    folder: TempDir,
}

impl Floors {
    pub fn build() -> Result<Self, Failure> {
        let folder = scratch("floors")?;
        let triple = triple()?;
        for name in ["noop", "append"] {
            let source = root().join("xtask/bench").join(name).with_extension("rs");
            let mut command = rustc();
            command.args([
                "--edition=2024",
                "-O",
                "-C",
                "panic=abort",
                "--target",
                &triple,
            ]);
            command
                .args(STATIC_FLAGS)
                .arg("-o")
                .arg(folder.path().join(name))
                .arg(source);
            succeed(&mut command)?;
        }
        Ok(Self { folder })
    }

    pub fn subjects(&self) -> Vec<Subject> {
        let noop = self.folder.path().join("noop");
        let append = self.folder.path().join("append");
        let journal = self.folder.path().join("journal");
        vec![
            floor(Kind::Noop, noop, None),
            floor(Kind::Append, append, Some(journal)),
        ]
    }
}

fn floor(kind: Kind, program: PathBuf, argument: Option<PathBuf>) -> Subject {
    let make = move |starter: &[&str], _: usize| {
        let mut command = match starter.split_first() {
            None => Command::new(&program),
            Some((starter, options)) => {
                let mut command = Command::new(starter);
                command.args(options).arg(&program);
                command
            }
        };
        command.args(&argument);
        command
    };
    Subject {
        kind,
        entries: 0,
        make: Box::new(make),
    }
}

/// Our own program on a run with so many entries behind it.
pub fn ours(program: &Path, entries: usize) -> Result<Vec<Subject>, Failure> {
    let stand = battery::started(program)?;
    history::grow(&stand, entries)?;
    let decide = Rc::new(stand);
    let advance = Rc::clone(&decide);
    let next =
        move |starter: &[&str], _: usize| decide.under(starter, &["next", battery::RUN, "--json"]);
    let checkpoint = move |starter: &[&str], round: usize| {
        advance.under(
            starter,
            &["checkpoint", battery::RUN, &format!("round-{round}")],
        )
    };
    Ok(vec![
        Subject {
            kind: Kind::Decide,
            entries,
            make: Box::new(next),
        },
        Subject {
            kind: Kind::Advance,
            entries,
            make: Box::new(checkpoint),
        },
    ])
}
