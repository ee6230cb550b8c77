//! The floors: two small processes that every other one is compared with.

use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

use super::subject::{Act, Kind, Load, Process, Subject};
use crate::dist::{STATIC_FLAGS, triple};
use crate::failure::Failure;
use crate::workspace::{root, rustc, scratch, succeed};

/// Compiled with the same flags as the program.
pub(super) struct Floors {
    folder: TempDir,
}

impl Floors {
    pub(super) fn build() -> Result<Self, Failure> {
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

    pub(super) fn subjects(&self) -> Vec<Subject> {
        let noop = Floor {
            program: self.folder.path().join("noop"),
            argument: None,
        };
        let append = Floor {
            program: self.folder.path().join("append"),
            argument: Some(self.folder.path().join("journal")),
        };
        vec![
            Subject::new(Kind::Noop, Load::Nothing, noop),
            Subject::new(Kind::Append, Load::Nothing, append),
        ]
    }
}

struct Floor {
    program: PathBuf,
    argument: Option<PathBuf>,
}

impl Act for Floor {
    fn process(&self, starter: &[&str], _: usize) -> Process {
        let mut command = match starter.split_first() {
            None => Command::new(&self.program),
            Some((starter, options)) => {
                let mut command = Command::new(starter);
                command.args(options).arg(&self.program);
                command
            }
        };
        command.args(&self.argument);
        Process::without_input(command)
    }
}
