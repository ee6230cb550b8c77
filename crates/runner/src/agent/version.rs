//! The version of an agent program: asked before it works, for what we know of it holds for versions.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use hosts::{Program, Version, VersionSupport};
use runtime::failure::Failure;
use runtime::subprocess;
use views::progress::short;

use super::choice::Runner;
use super::spawn_spec::SpawnSpec;

/// How long a program may think about its version.
const PATIENCE: Duration = Duration::from_secs(10);

const COLUMNS: usize = 60;

/// A program that may be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fit {
    /// What it says of itself.
    pub said: String,
    /// What a person should know of this version.
    pub caution: Option<String>,
}

/// Why a program may not be started, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit {
    pub reason: String,
    pub remedy: String,
}

/// May this program be started? Asked where no project can have a say in the answer.
pub fn judge(
    program: Program,
    path: &Path,
    variables: &BTreeMap<OsString, OsString>,
) -> Result<Fit, Unfit> {
    let mut command = Command::new(path);
    command.arg("--version").current_dir("/");
    command.env_clear().envs(variables);
    let (word, path) = (program.word(), path.display());
    let (said, version) = read(&mut command).map_err(|reason| Unfit {
        reason: format!("{path} does not tell its version: {reason}"),
        remedy: format!(
            "try `{path} --version`; {}, if it is broken",
            program.installed_by()
        ),
    })?;
    let tested = program.tested();
    let caution = match program.support(version) {
        VersionSupport::Tested => None,
        VersionSupport::Untested => Some(format!(
            "{word} {version} was not tried with this gatewright, which was tested with {tested}"
        )),
        VersionSupport::TooOld => {
            let oldest = program.oldest();
            return Err(Unfit {
                reason: format!("{path} is {word} {version}, and {oldest} or later is needed"),
                remedy: format!("update it: {}", program.installed_by()),
            });
        }
    };
    Ok(Fit { said, caution })
}

/// The first line that a program prints when it is asked for its version, and the version.
pub fn read(command: &mut Command) -> Result<(String, Version), String> {
    let ended = subprocess::run(command, b"", PATIENCE).map_err(|trouble| trouble.to_string())?;
    let said = ended.well()?;
    let line = said.lines().find(|line| !line.trim().is_empty());
    let line = line.ok_or("it prints nothing")?;
    let said = short(line, COLUMNS);
    match Version::in_line(line) {
        Some(version) => Ok((said, version)),
        None => Err(format!("it prints '{said}'")),
    }
}

/// The programs that were found fit, so that each is asked once.
#[derive(Debug, Default)]
pub struct Asked(BTreeSet<PathBuf>);

impl Asked {
    /// Refuses an order whose program is not fit. What a person should know is handed back once.
    pub fn look_at(&mut self, order: &SpawnSpec) -> Result<Option<String>, Failure> {
        let Runner::Program(program) = order.runner else {
            return Ok(None);
        };
        if self.0.contains(&order.program) {
            return Ok(None);
        }
        let fit = judge(program, &order.program, &order.variables);
        let fit = fit.map_err(|unfit| Failure::outside(unfit.reason).hint(unfit.remedy))?;
        self.0.insert(order.program.clone());
        Ok(fit.caution)
    }
}
