//! Checks the version of an agent program before it works: what we know about a program holds for
//! tested versions.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hosts::{Program, Version, VersionSupport};
use runtime::failure::Failure;
use runtime::state::State;
use runtime::{clock, subprocess};
use views::progress::short;

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

/// A program that is judged by its version before it works.
#[derive(Clone, Debug)]
pub struct ProgramToCheck {
    pub program: Program,
    pub path: PathBuf,
    pub variables: BTreeMap<OsString, OsString>,
}

/// May this program be started? It is asked outside of any project, so that no project can change
/// the answer.
pub fn check(candidate: &ProgramToCheck) -> Result<UsableProgram, UnusableProgram> {
    let never = AtomicBool::new(false);
    check_unless(candidate, &never)
}

/// The same for a question that ends, without an answer, when the flag is set.
fn check_unless(
    candidate: &ProgramToCheck,
    stop: &AtomicBool,
) -> Result<UsableProgram, UnusableProgram> {
    let ProgramToCheck {
        program,
        path,
        variables,
    } = candidate;
    let mut command = Command::new(path);
    command.arg("--version").current_dir("/");
    command.env_clear().envs(variables);
    let shown = path.display();
    let (said, version) = read_unless(&mut command, stop).map_err(|reason| UnusableProgram {
        reason: format!("cannot read the version of {shown}: {reason}"),
        remedy: format!(
            "type `{shown} --version`; {}, if it is broken",
            program.installed_by()
        ),
    })?;
    judge(*program, path, said, version)
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
    let never = AtomicBool::new(false);
    read_unless(command, &never)
}

fn read_unless(command: &mut Command, stop: &AtomicBool) -> Result<(String, Version), String> {
    let ended = subprocess::run_stoppable(command, VERSION_TIMEOUT, stop);
    let ended = ended.map_err(|trouble| trouble.to_string())?;
    let said = ended.success()?;
    let line = said.lines().find(|line| !line.trim().is_empty());
    let line = line.ok_or("it prints nothing")?;
    let said = short(line, COLUMNS);
    match Version::in_line(line) {
        Some(version) => Ok((said, version)),
        None => Err(format!("it prints '{said}'")),
    }
}

/// The programs that passed, so that each is judged once.
#[derive(Debug, Default)]
pub struct VersionChecks(BTreeSet<PathBuf>);

impl VersionChecks {
    pub fn has_passed(&self, candidate: &ProgramToCheck) -> bool {
        self.0.contains(&candidate.path)
    }

    pub fn pass(&mut self, candidate: ProgramToCheck) {
        self.0.insert(candidate.path);
    }

    /// A worker failed: perhaps its program is another one than we think.
    pub fn distrust(&mut self, state: &State) {
        self.0.clear();
        version_cache::forget(state);
    }
}

/// What the program said before, where that still counts. A program that was too old may have been replaced: only
/// an answer of today refuses it.
pub fn remembered(state: &State, candidate: &ProgramToCheck) -> Option<UsableProgram> {
    let said = version_cache::known(state, &candidate.path, clock::now())?;
    let version = Version::in_line(&said)?;
    judge(candidate.program, &candidate.path, said, version).ok()
}

/// Asks the program, which may take seconds. Nothing if the flag was set meanwhile.
pub fn ask(
    state: &State,
    candidate: &ProgramToCheck,
    stop: &AtomicBool,
) -> Result<Option<UsableProgram>, Failure> {
    match check_unless(candidate, stop) {
        Ok(usable) => {
            version_cache::keep(state, &candidate.path, &usable.said, clock::now());
            Ok(Some(usable))
        }
        Err(_) if stop.load(Ordering::Relaxed) => Ok(None),
        Err(unusable) => Err(Failure::environment(unusable.reason).hint(unusable.remedy)),
    }
}
