//! Checks the version of an agent program before it works: what we know about a program holds for
//! tested versions.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use hosts::{Program, Version, VersionSupport};
use runtime::failure::Failure;
use runtime::state::State;
use runtime::{clock, subprocess};
use views::progress::short;

use super::choice::Runner;
use super::spawn_spec::SpawnSpec;
use super::version_cache;

/// How long `--version` may take. Where ten agents start on a busy machine, a program on Node.js needs more than ten
/// seconds for it, and that must not end a run.
const VERSION_TIMEOUT: Duration = Duration::from_secs(60);

const COLUMNS: usize = 60;

/// A program that may be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsableProgram {
    /// Its own description.
    pub said: String,
    /// What a person should know about this version.
    pub caution: Option<String>,
}

/// Why a program may not be started, and how to fix that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusableProgram {
    pub reason: String,
    pub remedy: String,
}

/// May this program be started? It is asked outside of any project, so that no project can change
/// the answer.
pub fn check(
    program: Program,
    path: &Path,
    variables: &BTreeMap<OsString, OsString>,
) -> Result<UsableProgram, UnusableProgram> {
    let mut command = Command::new(path);
    command.arg("--version").current_dir("/");
    command.env_clear().envs(variables);
    let shown = path.display();
    let (said, version) = read(&mut command).map_err(|reason| UnusableProgram {
        reason: format!("cannot read the version of {shown}: {reason}"),
        remedy: format!(
            "type `{shown} --version`; {}, if it is broken",
            program.installed_by()
        ),
    })?;
    judge(program, path, said, version)
}

/// May a program of this version be started?
fn judge(
    program: Program,
    path: &Path,
    said: String,
    version: Version,
) -> Result<UsableProgram, UnusableProgram> {
    let (word, path) = (program.word(), path.display());
    let tested = program.tested();
    let caution = match program.support(version) {
        VersionSupport::Tested => None,
        VersionSupport::Untested => Some(format!(
            "{word} {version} is not tested with this gatewright, which was tested with {tested}"
        )),
        VersionSupport::TooOld => {
            let oldest = program.oldest();
            return Err(UnusableProgram {
                reason: format!("{path} is {word} {version}; gatewright needs {oldest} or later"),
                remedy: format!("update it: {}", program.installed_by()),
            });
        }
    };
    Ok(UsableProgram { said, caution })
}

/// The first line that `--version` prints, and the version in it.
pub fn read(command: &mut Command) -> Result<(String, Version), String> {
    let ended =
        subprocess::run(command, b"", VERSION_TIMEOUT).map_err(|trouble| trouble.to_string())?;
    let said = ended.success()?;
    let line = said.lines().find(|line| !line.trim().is_empty());
    let line = line.ok_or("it prints nothing")?;
    let said = short(line, COLUMNS);
    match Version::in_line(line) {
        Some(version) => Ok((said, version)),
        None => Err(format!("it prints '{said}'")),
    }
}

/// The programs that passed, so that each is asked once.
#[derive(Debug, Default)]
pub struct VersionChecks(BTreeSet<PathBuf>);

impl VersionChecks {
    /// The program that `check_once` would ask now, which may take seconds.
    pub fn must_ask(&self, state: &State, spec: &SpawnSpec) -> Option<Program> {
        let Runner::Program(program) = spec.runner else {
            return None;
        };
        let is_known = self.0.contains(&spec.program)
            || version_cache::known(state, &spec.program, clock::now()).is_some();
        (!is_known).then_some(program)
    }

    /// Refuses a program that is not usable. Returns a caution the first time.
    pub fn check_once(
        &mut self,
        state: &State,
        spec: &SpawnSpec,
    ) -> Result<Option<String>, Failure> {
        let Runner::Program(program) = spec.runner else {
            return Ok(None);
        };
        if self.0.contains(&spec.program) {
            return Ok(None);
        }
        let usable = checked(state, program, spec);
        let usable = usable
            .map_err(|unusable| Failure::environment(unusable.reason).hint(unusable.remedy))?;
        self.0.insert(spec.program.clone());
        Ok(usable.caution)
    }

    /// A worker failed: perhaps its program is another one than we think.
    pub fn distrust(&mut self, state: &State) {
        self.0.clear();
        version_cache::forget(state);
    }
}

/// Judges what the program said before; asks it where that does not count any more.
fn checked(
    state: &State,
    program: Program,
    spec: &SpawnSpec,
) -> Result<UsableProgram, UnusableProgram> {
    let said = version_cache::known(state, &spec.program, clock::now());
    let known = said.and_then(|said| Some((Version::in_line(&said)?, said)));
    if let Some((version, said)) = known
        && let Ok(usable) = judge(program, &spec.program, said, version)
    {
        return Ok(usable);
    }
    // A program that was too old may have been replaced: only an answer of today refuses it.
    let usable = check(program, &spec.program, &spec.variables)?;
    version_cache::keep(state, &spec.program, &usable.said, clock::now());
    Ok(usable)
}
