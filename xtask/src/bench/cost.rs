//! What a process costs without noise: instructions by valgrind, system calls and syncs by strace.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::subject::Subject;
use crate::battery::points;
use crate::failure::Failure;
use crate::workspace::{is_installed, scratch};

/// Rounds that no timing takes, so that each process has work of its own to do.
const COUNTED: [usize; 2] = [1_000_001, 1_000_002];

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

/// Peers start further programs, and long ones: nobody counts for them.
pub(super) fn of(subject: &Subject) -> Result<Cost, Failure> {
    if subject.kind.is_peer() {
        return Ok(Cost::default());
    }
    let folder = scratch("cost")?;
    let file = folder.path().join("out");
    let instructions = if is_installed("valgrind") {
        Some(count_instructions(subject, &file)?)
    } else {
        None
    };
    let calls = if is_installed("strace") {
        Some(count_calls(subject, &file)?)
    } else {
        None
    };
    Ok(Cost {
        instructions,
        calls,
    })
}

fn count_instructions(subject: &Subject, file: &Path) -> Result<u64, Failure> {
    let out = format!("--callgrind-out-file={}", file.display());
    let starter = ["valgrind", "--tool=callgrind", &out];
    let output = subject
        .ready(&starter, COUNTED[0])?
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
fn count_calls(subject: &Subject, file: &Path) -> Result<Calls, Failure> {
    let name = file.to_string_lossy();
    let starter = ["strace", "-D", "-f", "-qq", "-o", &name];
    let mut process = subject.ready(&starter, COUNTED[1])?;
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
