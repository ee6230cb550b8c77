//! Checks: the commands that we run ourselves, because an agent's word about them is not evidence.
//!
//! A command is a program and its words, never a shell line. It gets a short list of variables, no
//! input, a time limit and its own process group, which is ended whole (`group` says how far).

mod approved;
mod command;
mod environment;
mod process;
mod tail;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use engine::{
    CheckEnd, CheckResult, CheckWork, Commands, FailsOn, Hash, Seconds, Stage, StageName,
    TreeAround, Work,
};

use crate::content::captured_bytes;
use crate::error::Error;
use crate::looking::Looking;
pub use crate::system_path::SYSTEM_PATH;
use crate::{document, questions, text, tree};
use command::Prepared;
pub use command::find;
pub use environment::{SearchPath, search, variables};
use process::{Limits, MOST_PROCESSES};
pub use tail::Tail;

/// How long a check stage without a time limit may take.
const DEFAULT_TIME: Seconds = Seconds(30 * 60);

/// A longer limit is none, and too long a one cannot be added to a clock.
const LONGEST_TIME: Seconds = Seconds(7 * 24 * 60 * 60);

/// What commands run in, apart from the project itself.
#[derive(Clone, Debug, Default)]
pub struct CheckEnvironment {
    /// The variables of our own process, of which few are passed on.
    pub variables: BTreeMap<OsString, OsString>,
    /// Names of further variables to pass on, from a person's settings.
    pub pass: Vec<String>,
    /// Variables of ours, by which a command and all that it starts are known.
    pub own: BTreeMap<OsString, OsString>,
    /// Folders to search for programs before `SYSTEM_PATH`, from a person's settings or the PATH
    /// with which a person started the run. Not the PATH of whoever asks for the check: an agent
    /// that asks could put its own `cargo` first. Unsafe folders are dropped.
    pub search: Vec<PathBuf>,
    /// Scripts of the project that were trusted by their content: others are not run under that path.
    pub scripts: BTreeMap<String, Hash>,
    /// Set from outside to end the check.
    pub stop: Option<Arc<AtomicBool>>,
}

/// What the commands did, and to which tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    pub results: Vec<CheckResult>,
    pub tree: TreeAround,
    /// The paths in which the tree after the commands differs from the one before.
    pub changed: Vec<String>,
}

/// Runs the commands of a check stage, one after another, up to the first that fails.
pub fn run(
    stage: &StageName,
    looking: &Looking<'_>,
    surroundings: &CheckEnvironment,
) -> Result<Ran, Error> {
    let found = looking.pipeline.stage(stage);
    let Some((found, Work::Check(work))) = found.map(|found| (found, &found.work)) else {
        return Err(Error::NotACheck {
            stage: stage.clone(),
        });
    };
    let search = environment::search(&surroundings.search, &looking.project.root);
    let variables = environment::variables(surroundings, &search)?;
    let prepared = prepare(stage, work, looking, &search, surroundings)?;
    let before = tree::read(looking)?;
    let fails_on = fails_on(work, looking)?;
    let limits = Limits {
        deadline: Instant::now() + time_limit(found),
        processes: MOST_PROCESSES,
        fails_on: &fails_on,
        stop: surroundings.stop.as_deref(),
    };
    let results = match prepared {
        Ok(commands) => run_all(&commands, looking, &variables, &limits)?,
        Err(refused) => vec![redacted(refused, looking.secrets)],
    };
    let after = tree::read(looking)?;
    Ok(Ran {
        results,
        changed: tree::changed(&before.manifest, &after.manifest).unwrap_or_default(),
        tree: TreeAround {
            before: before.hash,
            after: after.hash,
        },
    })
}

/// May a command that comes from an artifact be run at all, once a person has approved it?
pub fn is_acceptable(words: &[String]) -> bool {
    approved::acceptable(words).is_ok()
}

/// The commands in a field of what a worker has just left, or why one of them would not be run.
pub(crate) use approved::commands_in;

/// The texts that fail a command. They may come from what an agent wrote: they can only fail.
fn fails_on(work: &CheckWork, looking: &Looking<'_>) -> Result<Vec<String>, Error> {
    let fields = match &work.fails_on {
        None => return Ok(Vec::new()),
        Some(FailsOn::Text(text)) => return Ok(vec![text.clone()]),
        Some(FailsOn::From(fields)) => fields,
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

/// All commands are made ready before any is run: a list with a bad one does nothing by half.
fn prepare(
    stage: &StageName,
    work: &CheckWork,
    looking: &Looking<'_>,
    search: &SearchPath,
    surroundings: &CheckEnvironment,
) -> Result<Result<Vec<Prepared>, CheckResult>, Error> {
    let ready = |argv: Result<Vec<String>, String>| {
        argv.and_then(|argv| {
            command::prepare(argv, &looking.project.root, search, &surroundings.scripts)
        })
    };
    match &work.commands {
        // No commands are no test, and no test never passes.
        Commands::Fixed(commands) if commands.is_empty() => Ok(Err(refusal(
            &[],
            String::from("the stage has no commands; correct the pipeline"),
        ))),
        Commands::Fixed(commands) => {
            let one = |words: &Vec<String>| {
                ready(command::fill(words, looking)).map_err(|reason| refusal(words, reason))
            };
            Ok(commands.iter().map(one).collect())
        }
        Commands::Approved(fields) => {
            let one = |words: Vec<String>| {
                let accepted = approved::acceptable(&words).map(|()| words.clone());
                ready(accepted).map_err(|reason| refusal(&words, reason))
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

fn refusal(words: &[String], reason: String) -> CheckResult {
    CheckResult {
        argv: words.to_vec(),
        ended: CheckEnd::CouldNotStart(reason),
        duration_ms: 0,
        tail: String::new(),
        matched_failure: false,
    }
}

fn run_all(
    commands: &[Prepared],
    looking: &Looking<'_>,
    variables: &BTreeMap<OsString, OsString>,
    limits: &Limits<'_>,
) -> Result<Vec<CheckResult>, Error> {
    let mut results = Vec::new();
    for command in commands {
        let finished = process::run(command, &looking.project.root, variables, limits)?;
        let result = CheckResult {
            argv: command.argv.clone(),
            ended: finished.ended,
            duration_ms: u64::try_from(finished.duration.as_millis()).unwrap_or(u64::MAX),
            matched_failure: finished.tail.matched(),
            tail: finished.tail.text(looking.secrets),
        };
        let has_passed = result.ended == CheckEnd::Exit(0) && !result.matched_failure;
        results.push(redacted(result, looking.secrets));
        if !has_passed {
            break;
        }
    }
    Ok(results)
}

/// The result with nothing in it that must not be stored. Its tail has been through this already.
fn redacted(result: CheckResult, secrets: &[String]) -> CheckResult {
    let clean = |word: &String| engine::redact(&text::safe(word), secrets).into_owned();
    let ended = match &result.ended {
        CheckEnd::CouldNotStart(reason) => CheckEnd::CouldNotStart(clean(reason)),
        CheckEnd::Exit(_) | CheckEnd::Signal(_) | CheckEnd::TimedOut => result.ended,
    };
    CheckResult {
        argv: result.argv.iter().map(clean).collect(),
        ended,
        ..result
    }
}
