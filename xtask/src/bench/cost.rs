//! What a process costs without noise: instructions by valgrind, system calls and syncs by strace.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use super::subject::Subject;
use crate::battery::points;
use crate::failure::Failure;
use crate::workspace::{is_installed, scratch};

/// Rounds that no timing takes, so that each process has work of its own to do.
const COUNTED: [usize; 2] = [1_000_001, 1_000_002];

/// Nothing where the tool that counts it is not installed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    pub instructions: Option<u64>,
    pub calls: Option<Calls>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calls {
    pub all: usize,
    pub syncs: usize,
}

pub fn of(subject: &Subject) -> Result<Cost, Failure> {
    let folder = scratch("cost")?;
    let file = folder.path().join("out");
    let instructions = match is_installed("valgrind") {
        true => Some(count_instructions(subject, &file)?),
        false => None,
    };
    let calls = match is_installed("strace") {
        true => Some(count_calls(subject, &file)?),
        false => None,
    };
    Ok(Cost {
        instructions,
        calls,
    })
}

fn count_instructions(subject: &Subject, file: &Path) -> Result<u64, Failure> {
    let out = format!("--callgrind-out-file={}", file.display());
    let mut command = subject.under(&["valgrind", "--tool=callgrind", &out], COUNTED[0]);
    let output = command
        .stderr(Stdio::piped())
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

fn count_calls(subject: &Subject, file: &Path) -> Result<Calls, Failure> {
    let name = file.to_string_lossy();
    let mut command = subject.under(&["strace", "-qq", "-o", &name], COUNTED[1]);
    command.status().map_err(Failure::program("strace"))?;
    let trace = fs::read_to_string(file).map_err(Failure::file("read", file))?;
    let points = points(&trace);
    let syncs = points
        .iter()
        .filter(|point| ["fsync", "fdatasync"].contains(&point.call.as_str()));
    Ok(Calls {
        all: points.len(),
        syncs: syncs.count(),
    })
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
}
