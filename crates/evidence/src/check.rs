//! Checks: commands that we run ourselves, because an agent's claim about them is not evidence.
//!
//! A command is a program and its arguments, never a shell line. It gets a short list of variables,
//! no input, a time limit and its own process group, which is killed as a whole (`group` says how
//! far).

mod approved;
mod command;
mod environment;
mod process;
pub mod program;
mod tail;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use engine::{
    CheckEnd, CheckResult, CheckText, CheckWork, CheckedProgram, Commands, Hash, Seconds, Stage,
    StageName, TreeAround, Work,
};

use crate::content::captured_bytes;
use crate::error::Error;
use crate::hold::Hold;
use crate::look_context::LookContext;
pub use crate::system_path::SYSTEM_PATH;
use crate::tree::{self, Snapshot};
use crate::{document, questions, text};
pub use command::find;
use command::{Prepared, Unready};
use environment::PrivateFolders;
pub use environment::{SearchPath, is_captured, search, search_for_checks, variables};
use process::{CheckLimits, MOST_PROCESSES};
pub use program::AcceptedPrograms;
pub use tail::Tail;

/// The time limit of a check stage without one.
const DEFAULT_TIME: Seconds = Seconds(30 * 60);

/// A longer limit has no use and would overflow the clock.
const LONGEST_TIME: Seconds = Seconds(7 * 24 * 60 * 60);

/// The environment of commands, apart from the project itself.
#[derive(Clone, Debug, Default)]
pub struct CheckEnvironment {
    /// The variables of the run's environment, of which few are passed on. Never those of the process that
    /// asks for the check.
    pub variables: BTreeMap<OsString, OsString>,
    /// Names of further variables to pass on, from a person's settings.
    pub pass: Vec<String>,
    /// Our own variables, which mark a command and everything that it starts.
    pub own: BTreeMap<OsString, OsString>,
    /// Folders to search for programs before `SYSTEM_PATH`, from the run's environment. Not the PATH of
    /// the caller: an agent could put its own `cargo` first. Unsafe folders are dropped.
    pub search: Vec<PathBuf>,
    /// The programs that lay in those of the folders that the project has, when a person gave them.
    pub known: BTreeSet<PathBuf>,
    /// What a person accepted of the programs that the account can change. Nothing is asked for where no person has
    /// given the environment.
    pub accepted: Option<AcceptedPrograms>,
    /// Why the run's environment cannot be had: then nothing is run.
    pub lost: Option<String>,
    /// Scripts of the project that were trusted by content: other content does not run under these
    /// paths.
    pub scripts: BTreeMap<String, Hash>,
    /// Our own program, which holds what a command starts. Without it only groups and marks do.
    pub holder: Option<PathBuf>,
    /// Set from outside to end the check.
    pub stop: Option<Arc<AtomicBool>>,
}

/// The results of the commands, and the tree that they ran on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    pub results: Vec<CheckResult>,
    pub tree: TreeAround,
    /// The paths of sources that changed while the commands ran.
    pub changed: Vec<String>,
}

/// Runs the commands of a check stage, one after another, up to the first that fails.
pub fn run(
    stage: &StageName,
    looking: &LookContext<'_>,
    surroundings: &CheckEnvironment,
) -> Result<Ran, Error> {
    let found = looking.pipeline.stage(stage);
    let Some((found, Work::Check(work))) = found.map(|found| (found, &found.work)) else {
        return Err(Error::NotACheck {
            stage: stage.clone(),
        });
    };
    let root = &looking.project.root;
    let search = environment::search_for_checks(&surroundings.search, &surroundings.known, root);
    let private = PrivateFolders::make(work.home)?;
    let variables = environment::of_check(surroundings, &search, &private)?;
    let prepared = prepare(stage, work, looking, &search, surroundings)?;
    let before = Snapshot::take(looking)?;
    let fails_on = texts(work.fails_on.as_ref(), looking)?;
    let expects = texts(work.expects.as_ref(), looking)?;
    let hold = surroundings.holder.clone().map(|holder| Hold {
        holder,
        report: private.report(),
    });
    let limits = CheckLimits {
        deadline: Instant::now() + time_limit(found),
        processes: MOST_PROCESSES,
        fails_on: &fails_on,
        expects: &expects,
        stop: surroundings.stop.as_deref(),
        hold: hold.as_ref(),
    };
    let results = match prepared {
        Ok(commands) => run_all(&commands, looking, &variables, &limits)?,
        Err(refused) => vec![redacted(*refused, looking.secrets)],
    };
    let after = Snapshot::take(looking)?;
    let (tree, changed) = tree::around(before, after, looking.run);
    Ok(Ran {
        results,
        tree,
        changed,
    })
}

/// May a command from an artifact run at all, after a person has approved it?
pub fn is_acceptable(words: &[String]) -> bool {
    approved::acceptable(words).is_ok()
}

/// The commands in a field of a new artifact, or why one of them would not run.
pub(crate) use approved::commands_in;

/// Texts for which the output is searched. They may come from an agent: they can only fail a check.
fn texts(text: Option<&CheckText>, looking: &LookContext<'_>) -> Result<Vec<String>, Error> {
    let fields = match text {
        None => return Ok(Vec::new()),
        Some(CheckText::Text(text)) => return Ok(vec![text.clone()]),
        Some(CheckText::From(fields)) => fields,
    };
    let mut texts = Vec::new();
    for field in fields {
        let artifacts = &looking.pipeline.definition().artifacts;
        let captured = looking.run.artifacts.get(&field.artifact);
        let declared = artifacts.get(&field.artifact);
        let (Some(captured), Some(declared)) = (captured, declared) else {
            continue;
        };
        let content = captured_bytes(looking.contents, &captured.content)?;
        let content = String::from_utf8_lossy(&content);
        let value = questions::fields(&content, &declared.format).ok();
        let text = value.and_then(|value| document::scalar(document::field(&value, &field.field)?));
        texts.extend(text.filter(|text| !text.is_empty()));
    }
    Ok(texts)
}

fn time_limit(stage: &Stage) -> Duration {
    let seconds = stage.timeout.unwrap_or(DEFAULT_TIME).min(LONGEST_TIME);
    Duration::from_secs(seconds.0)
}

/// All commands are prepared before the first one runs, so that a list with a bad one does nothing.
fn prepare(
    stage: &StageName,
    work: &CheckWork,
    looking: &LookContext<'_>,
    search: &SearchPath,
    surroundings: &CheckEnvironment,
) -> Result<Result<Vec<Prepared>, Box<CheckResult>>, Error> {
    if let Some(reason) = &surroundings.lost {
        let ended = CheckEnd::EnvironmentLost(reason.clone());
        return Ok(Err(not_run(&[], ended, Vec::new())));
    }
    let ready = |argv: Result<Vec<String>, String>| {
        let argv = argv.map_err(Unready::from)?;
        command::prepare(argv, &looking.project.root, search, surroundings)
    };
    match &work.commands {
        // A check without commands never passes.
        Commands::Fixed(commands) if commands.is_empty() => Ok(Err(refusal(
            &[],
            String::from("the stage has no commands; correct the pipeline"),
        ))),
        Commands::Fixed(commands) => {
            let one = |words: &Vec<String>| {
                ready(command::fill(words, looking)).map_err(|why| unready(words, why))
            };
            Ok(commands.iter().map(one).collect())
        }
        Commands::Approved(fields) => {
            let one = |words: Vec<String>| {
                let accepted = approved::acceptable(&words).map(|()| words.clone());
                ready(accepted).map_err(|why| unready(&words, why))
            };
            let commands = approved::commands(stage, fields, looking)?;
            Ok(if commands.is_empty() {
                Err(refusal(
                    &[],
                    String::from("there are no commands; approve some"),
                ))
            } else {
                commands.into_iter().map(one).collect()
            })
        }
    }
}

fn unready(words: &[String], why: Unready) -> Box<CheckResult> {
    match why {
        Unready::Impossible(reason) => refusal(words, reason),
        Unready::Unaccepted(reason, programs) => {
            not_run(words, CheckEnd::ProgramUnaccepted(reason), programs)
        }
    }
}

fn refusal(words: &[String], reason: String) -> Box<CheckResult> {
    not_run(words, CheckEnd::CouldNotStart(reason), Vec::new())
}

fn not_run(words: &[String], ended: CheckEnd, programs: Vec<CheckedProgram>) -> Box<CheckResult> {
    Box::new(CheckResult {
        argv: words.to_vec(),
        ended,
        duration_ms: 0,
        tail: String::new(),
        matched_failure: false,
        lacks: None,
        programs,
    })
}

fn run_all(
    commands: &[Prepared],
    looking: &LookContext<'_>,
    variables: &BTreeMap<OsString, OsString>,
    limits: &CheckLimits<'_>,
) -> Result<Vec<CheckResult>, Error> {
    let mut results = Vec::new();
    let mut lacking: BTreeSet<&String> = limits.expects.iter().collect();
    for command in commands {
        let finished = process::run(command, &looking.project.root, variables, limits)?;
        let result = CheckResult {
            argv: command.argv.clone(),
            ended: void_if_touched(command, finished.ended),
            duration_ms: u64::try_from(finished.duration.as_millis()).unwrap_or(u64::MAX),
            matched_failure: finished.tail.matched(),
            lacks: None,
            tail: finished.tail.text(looking.secrets),
            programs: command.programs.clone(),
        };
        lacking.retain(|text| !finished.tail.has(text));
        let has_passed = result.ended == CheckEnd::Exit(0) && !result.matched_failure;
        results.push(redacted(result, looking.secrets));
        if !has_passed {
            return Ok(results);
        }
    }
    // Each command may print another of them, so only the end tells what is absent.
    if let (Some(text), Some(last)) = (lacking.first(), results.last_mut()) {
        let text = engine::redact(&text::safe(text), looking.secrets).into_owned();
        last.lacks = Some(text);
    }
    Ok(results)
}

/// What was compared before the start may have been another file when the system opened it. Then
/// nobody knows what ran.
fn void_if_touched(command: &Prepared, ended: CheckEnd) -> CheckEnd {
    match command.touched() {
        Some(path) => CheckEnd::CouldNotStart(format!(
            "{} was changed or replaced while the check ran; run it again",
            path.display()
        )),
        None => ended,
    }
}

/// The result without secrets. Its tail is redacted already.
fn redacted(result: CheckResult, secrets: &[String]) -> CheckResult {
    let clean = |word: &String| engine::redact(&text::safe(word), secrets).into_owned();
    let ended = match &result.ended {
        CheckEnd::CouldNotStart(reason) => CheckEnd::CouldNotStart(clean(reason)),
        CheckEnd::EnvironmentLost(reason) => CheckEnd::EnvironmentLost(clean(reason)),
        CheckEnd::ProgramUnaccepted(reason) => CheckEnd::ProgramUnaccepted(clean(reason)),
        CheckEnd::Exit(_) | CheckEnd::Signal(_) | CheckEnd::TimedOut => result.ended,
    };
    let programs = result.programs.iter().map(|program| CheckedProgram {
        path: clean(&program.path),
        ..program.clone()
    });
    CheckResult {
        argv: result.argv.iter().map(clean).collect(),
        ended,
        programs: programs.collect(),
        ..result
    }
}
