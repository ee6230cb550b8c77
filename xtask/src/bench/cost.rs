//! What a process costs without noise: instructions by valgrind, system calls and syncs by strace.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use super::subject::{Process, Subject};
use crate::battery::points;
use crate::failure::Failure;
use crate::workspace::{is_installed, scratch};

/// Rounds that no timing takes, so that each process has work of its own to do. The median counts: every
/// few advances one has to begin the store's log anew.
const INSTRUCTIONS_COUNTED: [usize; 3] = [1_000_001, 1_000_002, 1_000_003];
const CALLS_COUNTED: [usize; 5] = [1_000_004, 1_000_005, 1_000_006, 1_000_007, 1_000_008];

/// How often we look whether a trace is whole, a hundredth of a second apart.
const PATIENCE: usize = 1_000;

/// Nothing where the tool that counts it is not installed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    pub instructions: Option<u64>,
    pub calls: Option<Calls>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Calls {
    pub all: usize,
    pub syncs: usize,
}

pub(super) fn of(subject: &Subject) -> Result<Cost, Failure> {
    if !subject.kind.is_counted() {
        return Ok(Cost::default());
    }
    let folder = scratch("cost")?;
    let file = folder.path().join("out");
    let instructions = if is_installed("valgrind") {
        let counted = INSTRUCTIONS_COUNTED.map(|round| count_instructions(subject, round, &file));
        Some(median(counted.into_iter().collect::<Result<_, _>>()?))
    } else {
        None
    };
    let calls = if is_installed("strace") {
        let counted = CALLS_COUNTED.map(|round| count_calls(subject, round, &file));
        let counted: Vec<Calls> = counted.into_iter().collect::<Result<_, _>>()?;
        Some(Calls {
            all: median(counted.iter().map(|calls| calls.all).collect()),
            syncs: median(counted.iter().map(|calls| calls.syncs).collect()),
        })
    } else {
        None
    };
    Ok(Cost {
        instructions,
        calls,
    })
}

fn median<T: Copy + Ord + Default>(mut counted: Vec<T>) -> T {
    counted.sort_unstable();
    counted.get(counted.len() / 2).copied().unwrap_or_default()
}

fn count_instructions(subject: &Subject, round: usize, file: &Path) -> Result<u64, Failure> {
    let out = format!("--callgrind-out-file={}", file.display());
    let starter = ["valgrind", "--tool=callgrind", &out];
    let output = subject
        .ready(&starter, round)?
        .output()
        .map_err(Failure::program("valgrind"))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let counted = collected(&said);
    counted.ok_or_else(|| Failure::no(format!("valgrind counted no instructions:\n{said}")))
}

/// The number on valgrind's line `==1== Collected : 123`.
fn collected(said: &str) -> Option<u64> {
    let line = said
        .lines()
        .find_map(|line| line.split_once("Collected :"))?
        .1;
    line.trim().parse().ok()
}

/// With `-D` strace is not the parent of the process: a hook checks its parent.
fn count_calls(subject: &Subject, round: usize, file: &Path) -> Result<Calls, Failure> {
    let name = file.to_string_lossy();
    let starter = ["strace", "-D", "-f", "-qq", "-o", &name];
    let mut process = hidden_from(&starter, subject.ready(&starter, round)?);
    process.run().map_err(Failure::program("strace"))?;
    let calls = calls(&written(file)?);
    let syncs = calls
        .iter()
        .filter(|call| ["fsync", "fdatasync"].contains(&call.as_str()));
    Ok(Calls {
        all: calls.len(),
        syncs: syncs.count(),
    })
}

/// The same process, whose variables its starter does not have itself, but only hands on. A hook looks
/// closely at each process that has those of its session, and nobody traces sessions.
fn hidden_from(starter: &[&str], process: Process) -> Process {
    let Process { command, input } = process;
    let mut hidden = Command::new(command.get_program());
    let (options, rest): (Vec<_>, Vec<_>) = command
        .get_args()
        .enumerate()
        .partition(|(at, _)| *at + 1 < starter.len());
    hidden.args(options.into_iter().map(|(_, option)| option));
    hidden.env_clear();
    for (name, value) in command.get_envs() {
        let Some(value) = value else { continue };
        if name == "PATH" {
            hidden.env(name, value);
        }
        let mut variable = name.to_owned();
        variable.push("=");
        variable.push(value);
        hidden.arg("-E").arg(variable);
    }
    hidden.args(rest.into_iter().map(|(_, argument)| argument));
    if let Some(folder) = command.get_current_dir() {
        hidden.current_dir(folder);
    }
    let command = hidden;
    Process { command, input }
}

/// The whole trace. strace may still write after the process has ended.
fn written(file: &Path) -> Result<String, Failure> {
    for _ in 0..PATIENCE {
        let trace = fs::read_to_string(file).map_err(Failure::file("read", file))?;
        if trace.contains("exit_group(") {
            return Ok(trace);
        }
        thread::sleep(Duration::from_millis(10));
    }
    Err(Failure::no("strace did not see the end of the process"))
}

/// The calls of a trace in which the number of a process stands before each.
fn calls(trace: &str) -> Vec<String> {
    let without_number = |line: &str| match line.split_once(char::is_whitespace) {
        Some((number, call)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{}\n", call.trim_start())
        }
        _ => format!("{line}\n"),
    };
    let trace: String = trace.lines().map(without_number).collect();
    points(&trace).into_iter().map(|point| point.call).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_read_from_what_valgrind_says() {
        let said = "==7== Events    : Ir\n==7== Collected : 163264\n==7== \n";
        assert_eq!(collected(said), Some(163_264));
        assert_eq!(collected("==7== Events    : Ir\n"), None);
    }

    #[test]
    fn variables_are_handed_on_and_not_had() {
        let starter = ["strace", "-D", "-o", "out"];
        let mut command = Command::new(starter[0]);
        command.args(&starter[1..]).args(["hook", "-f"]);
        command.env_clear().env("PATH", "/bin").env("SESSION", "s");
        let input = b"x".to_vec();
        let Process { command, input } = hidden_from(&starter, Process { command, input });
        assert_eq!(input, b"x");
        let arguments: Vec<_> = command.get_args().collect();
        let expected = [
            "-D",
            "-o",
            "out",
            "-E",
            "PATH=/bin",
            "-E",
            "SESSION=s",
            "hook",
            "-f",
        ];
        assert_eq!(arguments, expected);
        let variables: Vec<_> = command.get_envs().map(|(name, _)| name).collect();
        assert_eq!(variables, ["PATH"]);
    }

    #[test]
    fn calls_are_counted_in_every_thread() {
        let trace = "\
7 execve(\"/bin/a\", [\"a\"], 0x7ffd /* 3 vars */) = 0
7 clone3({flags=CLONE_VM}, 88 <unfinished ...>
8     fdatasync(3) = 0
7 <... clone3 resumed>) = 8
7 exit_group(0) = ?
";
        assert_eq!(calls(trace), ["clone3", "fdatasync", "exit_group"]);
    }
}
