//! Loops: a process that leads runs round and says what it took, ours or a peer's.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use serde_json::Value;

use crate::dist::{profile_folder, static_cargo, triple};
use crate::failure::Failure;
use crate::workspace::{is_installed, read, scratch, succeed};

/// How many runs there are at once, where there are many.
pub(super) const MANY: usize = 64;

/// What one transition of ours writes, near enough.
const APPENDED: usize = 12_000;

/// Whose loop it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    Floor,
    Ours,
    LangGraph,
    Dbos,
}

impl Who {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Floor => "floor",
            Self::Ours => "gatewright",
            Self::LangGraph => "LangGraph",
            Self::Dbos => "DBOS",
        }
    }
}

pub(super) struct Loop {
    pub who: Who,
    pub runs: usize,
    /// Of each run.
    steps: usize,
    kind: Kind,
}

enum Kind {
    /// In this process.
    Append,
    /// `PROGRAM [SCRIPT] FOLDER [RUNS] STEPS`, which prints its lap as JSON.
    Process {
        program: PathBuf,
        script: Option<PathBuf>,
    },
}

/// One go of a loop.
#[derive(Clone, Debug)]
pub(super) struct Lap {
    pub transitions: f64,
    pub seconds: f64,
    pub cpu_seconds: f64,
    pub resident_bytes: f64,
}

impl Lap {
    /// Transitions a second.
    pub(super) fn rate(&self) -> f64 {
        self.transitions / self.seconds
    }

    /// Seconds of CPU a transition.
    pub(super) fn cpu(&self) -> f64 {
        self.cpu_seconds / self.transitions
    }
}

/// The floor, and ours with one run and with many.
///
/// The loop is an example of its own, so that xtask itself is built without the product.
pub(super) fn ours() -> Result<Vec<Loop>, Failure> {
    let triple = triple()?;
    let mut build = static_cargo("build", &triple);
    succeed(build.args(["--package", "xtask", "--example", "transitions"]))?;
    let program = profile_folder(&triple).join("examples/transitions");
    let ours = |runs, steps| Loop {
        who: Who::Ours,
        runs,
        steps,
        kind: Kind::Process {
            program: program.clone(),
            script: None,
        },
    };
    Ok(vec![Loop::floor(), ours(1, 1_000), ours(MANY, 200)])
}

impl Loop {
    pub(super) fn floor() -> Self {
        Self {
            who: Who::Floor,
            runs: 1,
            steps: 500,
            kind: Kind::Append,
        }
    }

    pub(super) fn of_peer(who: Who, python: &Path, script: &Path) -> Self {
        Self {
            who,
            runs: 1,
            steps: 300,
            kind: Kind::Process {
                program: python.to_owned(),
                script: Some(script.to_owned()),
            },
        }
    }

    pub(super) fn lap(&self) -> Result<Lap, Failure> {
        let folder = scratch("loop")?;
        match &self.kind {
            Kind::Append => append(&folder.path().join("journal"), self.steps),
            Kind::Process { .. } => {
                let command = self.command(&[], folder.path(), self.steps);
                parse(&read(&mut command.ok_or_else(no_process)?)?)
            }
        }
    }

    /// The process, started by another program if one is named.
    pub(super) fn command(&self, starter: &[&str], folder: &Path, steps: usize) -> Option<Command> {
        let Kind::Process { program, script } = &self.kind else {
            return None;
        };
        let mut command = match starter.split_first() {
            None => Command::new(program),
            Some((starter, options)) => {
                let mut command = Command::new(starter);
                command.args(options).arg(program);
                command
            }
        };
        let runs = self.runs.to_string();
        let runs = script.is_none().then_some(runs);
        command.args(script).arg(folder).args(runs);
        command.arg(steps.to_string());
        Some(command)
    }

    /// The syncs of a transition, beside those of beginning and of ending: the difference of a long loop
    /// and one half as long. Nothing where strace is not installed.
    pub(super) fn syncs(&self) -> Result<Option<f64>, Failure> {
        if !is_installed("strace") {
            return Ok(None);
        }
        let counted = |steps| self.count_syncs(steps);
        let (short, long) = (counted(self.steps / 2)?, counted(self.steps)?);
        let between = self.runs * (self.steps - self.steps / 2);
        let syncs = |(long, short): (usize, usize)| (long as f64 - short as f64) / between as f64;
        Ok(long.zip(short).map(syncs))
    }

    fn count_syncs(&self, steps: usize) -> Result<Option<usize>, Failure> {
        let folder = scratch("loop")?;
        let trace = folder.path().join("trace");
        let name = trace.to_string_lossy().into_owned();
        let calls = "trace=fsync,fdatasync,sync_file_range";
        let starter = ["strace", "-f", "-qq", "-o", &name, "-e", calls];
        let Some(mut command) = self.command(&starter, folder.path(), steps) else {
            return Ok(None);
        };
        read(&mut command)?;
        let traced = fs::read_to_string(&trace).map_err(Failure::file("read", &trace))?;
        // strace prints a call in two lines if another thread made a call meanwhile.
        let calls = traced.lines().filter(|line| !line.contains("resumed>"));
        Ok(Some(calls.filter(|line| line.contains("sync(")).count()))
    }
}

fn no_process() -> Failure {
    Failure::no("the floor is not a process")
}

fn parse(printed: &str) -> Result<Lap, Failure> {
    let wrong = || Failure::no(format!("a loop printed no lap: {printed}"));
    let line = printed.lines().last().ok_or_else(wrong)?;
    let lap: Value = serde_json::from_str(line).map_err(|_| wrong())?;
    let number = |name: &str| lap[name].as_f64().ok_or_else(wrong);
    Ok(Lap {
        transitions: number("transitions")?,
        seconds: number("seconds")?,
        cpu_seconds: number("cpu_seconds")?,
        resident_bytes: number("resident_bytes")?,
    })
}

fn append(path: &Path, steps: usize) -> Result<Lap, Failure> {
    let bytes = vec![b'x'; APPENDED];
    let appended = || -> std::io::Result<f64> {
        let mut file = fs::File::create(path)?;
        let began = Instant::now();
        for _ in 0..steps {
            file.write_all(&bytes)?;
            file.sync_data()?;
        }
        Ok(began.elapsed().as_secs_f64())
    };
    let seconds = appended().map_err(Failure::file("append to", path))?;
    Ok(Lap {
        transitions: steps as f64,
        seconds,
        cpu_seconds: f64::NAN,
        resident_bytes: f64::NAN,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lap_is_the_last_line_that_was_printed() {
        let printed =
            "hello\n{\"transitions\":10,\"seconds\":2.0,\"cpu_seconds\":1,\"resident_bytes\":5}\n";
        let lap = parse(printed).unwrap();
        assert_eq!((lap.rate(), lap.cpu()), (5.0, 0.1));
        for wrong in ["", "nothing", "{\"transitions\":10}"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_peer_is_told_the_folder_and_the_steps_and_we_the_runs_too() {
        let words = |each: &Loop| {
            let command = each.command(&["strace", "-f"], Path::new("f"), 9).unwrap();
            let words = command.get_args().map(|word| word.to_string_lossy());
            words.collect::<Vec<_>>().join(" ")
        };
        let peer = Loop::of_peer(Who::Dbos, Path::new("python"), Path::new("s.py"));
        assert_eq!(words(&peer), "-f python s.py f 9");
        let kind = Kind::Process {
            program: "ours".into(),
            script: None,
        };
        let (who, runs, steps) = (Who::Ours, 64, 1);
        let ours = Loop {
            who,
            runs,
            steps,
            kind,
        };
        assert_eq!(words(&ours), "-f ours f 64 9");
    }
}
