//! An order: all that a worker is started with, made ready before its work is admitted.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::{Seconds, Source};
use evidence::check::{self, CheckEnvironment, SearchPath};
use hosts::agent_process::{FileAccess, GuardSetup};
use runtime::claim::Claim;
use runtime::current_exe::is_executable;
use runtime::failure::Failure;
use runtime::saved_env;
use runtime::workspace::{OpenRun, Workspace};
use store::{Backend as _, Files};

use super::choice::{Choice, Runner};
use super::guard;

/// How long a worker may take where its stage does not say.
const DEFAULT_TIME: Seconds = Seconds(30 * 60);

/// A longer limit is none, and too long a one cannot be added to a clock.
const LONGEST_TIME: Seconds = Seconds(7 * 24 * 60 * 60);

/// The way to the network is that of whoever asks: it leads to the same service.
pub const NETWORK: [&str; 8] = [
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
];

pub struct SpawnSpec {
    pub runner: Runner,
    pub program: PathBuf,
    pub variables: BTreeMap<OsString, OsString>,
    pub folder: PathBuf,
    /// The definition's own words for the worker.
    pub prompt: Option<String>,
    pub model: Option<String>,
    /// What the worker leaves are files.
    pub leaves_files: bool,
    pub time: Duration,
    /// How long it may say nothing.
    pub silence: Option<Duration>,
    /// What makes the hooks of its program call us.
    pub guard_setup: GuardSetup,
    /// Tools that the stage forbids.
    pub denied: Vec<String>,
    /// What its program makes it know besides.
    pub advice: Option<&'static str>,
}

impl SpawnSpec {
    pub fn file_access(&self, reach: engine::TreeAccess) -> FileAccess {
        match (reach, self.leaves_files) {
            (engine::TreeAccess::MayWrite, _) => FileAccess::ReadWrite,
            (engine::TreeAccess::ReadsOnly, true) => FileAccess::ArtifactsOnly,
            (engine::TreeAccess::ReadsOnly, false) => FileAccess::ReadOnly,
        }
    }
}

/// What differs from the project's own way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Special<'a> {
    /// The program that stands in for every agent.
    pub stand_in: Option<&'a Path>,
    /// The folder of its own in which the worker works.
    pub step_folder: Option<&'a Path>,
}

pub fn prepare(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    choice: &Choice,
    (claim, special): (&Claim, Special<'_>),
) -> Result<SpawnSpec, Failure> {
    can_be_held_to(opened, choice)?;
    let project = workspace.project_of(opened)?;
    let search = workspace
        .state
        .search_path(&opened.run().id)
        .unwrap_or_default();
    let search: Vec<PathBuf> = std::env::split_paths(&search).collect();
    let search = check::search(&search, &project.root);
    let folder = special.step_folder.unwrap_or(&project.root).to_owned();
    let (program, prompt) = match choice.runner {
        Runner::Program(program) => {
            let found = check::find(program.word(), &search);
            (
                found.map_err(Failure::outside)?,
                words(workspace, opened, choice)?,
            )
        }
        Runner::Command => {
            let file = trusted_file(workspace, opened, choice)?;
            (script(choice, file, &claim.script())?, None)
        }
        Runner::StandIn => (stand_in(special)?, words(workspace, opened, choice)?),
    };
    let (time, silence) = limits(opened, choice);
    let mut variables = variables(workspace, opened, choice, &search)?;
    let guard_setup = match choice.runner {
        Runner::Program(program) => {
            let place = guard::Place {
                project: &project,
                folder: &folder,
            };
            guard::prepare(workspace, &opened.run().id, program, (&variables, &place))?
        }
        Runner::Command | Runner::StandIn => GuardSetup::default(),
    };
    let guards = guard_setup.variables.iter().cloned();
    variables.extend(guards.map(|(name, value)| (name.into(), value.into())));
    Ok(SpawnSpec {
        runner: choice.runner,
        program,
        variables,
        guard_setup,
        denied: denied(opened, choice),
        advice: advice(opened, choice),
        folder,
        prompt,
        model: choice.settings.model.clone(),
        leaves_files: leaves_files(opened, choice),
        time,
        silence,
    })
}

/// A program may keep shells out of its own folder, and ask us about the files that are written there.
fn advice(opened: &OpenRun, choice: &Choice) -> Option<&'static str> {
    let artifacts = &opened.pipeline.definition().artifacts;
    let Runner::Program(program) = choice.runner else {
        return None;
    };
    let mut left = choice.leaves.iter().filter_map(|name| artifacts.get(name));
    left.find_map(|artifact| match &artifact.source {
        Source::File(path) => program.writing_advice(path),
        Source::Reply | Source::Answers => None,
    })
}

fn denied(opened: &OpenRun, choice: &Choice) -> Vec<String> {
    let stage = opened.pipeline.stage(&choice.stage);
    let denied = stage.into_iter().flat_map(|stage| &stage.tools_deny);
    denied.map(|tool| tool.as_str().to_owned()).collect()
}

/// A promise that we cannot keep is not made: the tools of a script do not ask us. A rehearsal is
/// none of the promised work.
fn can_be_held_to(opened: &OpenRun, choice: &Choice) -> Result<(), Failure> {
    let denies = !denied(opened, choice).is_empty();
    if denies && choice.runner == Runner::Command {
        Err(Failure::settings(format!(
            "{} forbids tools, and {} cannot be held to that",
            choice.stage,
            choice.runner.word()
        ))
        .hint("take `tools.deny` from the stage, or let an agent of the session do it"))
    } else {
        Ok(())
    }
}

fn stand_in(special: Special<'_>) -> Result<PathBuf, Failure> {
    let program = special.stand_in.ok_or_else(|| {
        Failure::store("the run has lost the program that stands in for its agents")
            .hint("start a new run")
    })?;
    if is_executable(program) {
        Ok(program.to_owned())
    } else {
        Err(Failure::outside(format!(
            "{}, which stands in for the agents, is gone or cannot be executed",
            program.display()
        ))
        .hint("put it back, and go on with `gatewright resume`"))
    }
}

/// What the definition itself tells an agent: the file that `prompt` names, else the text of the agent
/// that the definition gives to sessions.
fn words(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    choice: &Choice,
) -> Result<Option<String>, Failure> {
    if choice.settings.prompt.is_some() {
        return trusted_file(workspace, opened, choice);
    }
    let files = workspace.store.definition(opened.run().definition)?;
    let name = format!("agents/{}.md", choice.agent);
    let gives = &opened.pipeline.definition().gives;
    let given = gives.iter().find(|path| **path == name);
    let bytes = given.and_then(|path| files.as_ref()?.get(path));
    Ok(bytes.map(|bytes| without_front_matter(&String::from_utf8_lossy(bytes))))
}

/// The settings at the head of an agent's file are for its host.
fn without_front_matter(text: &str) -> String {
    let body = text
        .strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n"))
        .map_or(text, |(_, body)| body);
    body.trim().to_owned()
}

/// The file that `prompt` names, with the bytes to which the run is pinned.
fn trusted_file(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    choice: &Choice,
) -> Result<Option<String>, Failure> {
    let Some(name) = &choice.settings.prompt else {
        return Ok(None);
    };
    let files = workspace.store.definition(opened.run().definition)?;
    let bytes = files.as_ref().and_then(|files| pinned(files, name));
    match bytes.map(<[u8]>::to_vec).map(String::from_utf8) {
        Some(Ok(text)) => Ok(Some(text)),
        Some(Err(_)) => Err(Failure::settings(format!("{name} is not text"))
            .hint("write it as UTF-8 and start a new run")),
        None => {
            Err(Failure::store(format!("the run has lost its file {name}")).hint("start a new run"))
        }
    }
}

fn pinned<'a>(files: &'a Files, name: &str) -> Option<&'a [u8]> {
    files.get(name)
}

/// Writes the script where nobody else can change it before it runs.
fn script(choice: &Choice, text: Option<String>, path: &Path) -> Result<PathBuf, Failure> {
    let agent = &choice.agent;
    let Some(text) = text else {
        return Err(
            Failure::settings(format!("'{agent}' has the runner `command` and no script"))
                .hint("name it with `prompt`"),
        );
    };
    if !text.starts_with("#!") {
        return Err(Failure::settings(format!(
            "the script of '{agent}' does not say what runs it"
        ))
        .hint("begin it with `#!/bin/sh`, or with another program"));
    }
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o700)
        .open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(Failure::file("write to", path))?;
    Ok(path.to_owned())
}

/// A short list, as for checks; the program's own settings from the start of the run; and what it
/// logs in with.
fn variables(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    choice: &Choice,
    search: &SearchPath,
) -> Result<BTreeMap<OsString, OsString>, Failure> {
    let now: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    let run = &opened.run().id;
    let kept = saved_env::settings(&workspace.state, run, &now);
    let surroundings = CheckEnvironment {
        variables: now.clone(),
        ..CheckEnvironment::default()
    };
    let mut variables = check::variables(&surroundings, search)?;
    let secrets = match choice.runner {
        Runner::Program(program) => program.login_variables(),
        Runner::Command | Runner::StandIn => &[],
    };
    let passed = NETWORK.iter().chain(secrets);
    let passed = passed.filter_map(|name| now.get_key_value(OsString::from(name).as_os_str()));
    variables.extend(passed.map(|(name, value)| (name.clone(), value.clone())));
    variables.remove(OsString::from("HOME").as_os_str());
    variables.extend(kept);
    variables.extend(state_home(workspace));
    variables.extend(own(opened, choice));
    Ok(variables)
}

/// Its hooks look for their work where ours lies, whatever home it has.
fn state_home(workspace: &Workspace<'_>) -> Option<(OsString, OsString)> {
    let home = workspace.state.folder().parent()?;
    Some(("XDG_STATE_HOME".into(), home.into()))
}

/// What a worker is told of its work. The first one marks all that it starts as an agent's.
fn own(opened: &OpenRun, choice: &Choice) -> Vec<(OsString, OsString)> {
    let told = [
        ("AI_AGENT", Some("gatewright".to_owned())),
        ("GATEWRIGHT_RUN", Some(opened.run().id.to_string())),
        ("GATEWRIGHT_STAGE", Some(choice.stage.to_string())),
        ("GATEWRIGHT_AGENT", Some(choice.agent.to_string())),
        ("GATEWRIGHT_MODEL", choice.settings.model.clone()),
    ];
    let told = told.into_iter();
    told.filter_map(|(name, value)| Some((name.into(), value?.into())))
        .collect()
}

fn leaves_files(opened: &OpenRun, choice: &Choice) -> bool {
    let artifacts = &opened.pipeline.definition().artifacts;
    let mut left = choice.leaves.iter().filter_map(|name| artifacts.get(name));
    left.any(|artifact| matches!(artifact.source, Source::File(_)))
}

fn limits(opened: &OpenRun, choice: &Choice) -> (Duration, Option<Duration>) {
    let stage = opened.pipeline.stage(&choice.stage);
    let time = stage
        .and_then(|stage| stage.timeout)
        .unwrap_or(DEFAULT_TIME);
    let silence = stage.and_then(|stage| stage.heartbeat);
    let duration = |seconds: Seconds| Duration::from_secs(seconds.min(LONGEST_TIME).0);
    (duration(time), silence.map(duration))
}
