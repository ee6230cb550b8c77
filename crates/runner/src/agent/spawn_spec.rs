//! Everything that a worker is started with, prepared before its work is admitted.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::{Seconds, Source};
use evidence::Project;
use evidence::check::{self, CheckEnvironment, SearchPath};
use hosts::Program;
use hosts::agent_process::{FileAccess, GuardSetup};
use runtime::claim::Claim;
use runtime::current_exe::is_executable;
use runtime::failure::Failure;
use runtime::worker_environment::{self, Variables, WorkerEnvironment};
use runtime::workspace::{OpenRun, Workspace};
use store::{Backend as _, Files};

use super::choice::{Choice, Runner};
use super::guard;
use super::version::ProgramToCheck;

/// The time limit of a stage without `timeout`.
const DEFAULT_TIME: Seconds = Seconds(30 * 60);

/// A longer limit has no use and would overflow the clock.
const LONGEST_TIME: Seconds = Seconds(7 * 24 * 60 * 60);

/// Proxy settings come from the current environment, not from the start of the run: they lead to
/// the same service.
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
    /// The definition's own text for the worker.
    pub prompt: Option<String>,
    pub model: Option<String>,
    /// The worker leaves files.
    pub leaves_files: bool,
    pub time: Duration,
    /// How long it may print nothing.
    pub silence: Option<Duration>,
    /// What makes the hooks of its program call us.
    pub guard_setup: GuardSetup,
    /// Tools that the stage denies.
    pub denied: Vec<String>,
    /// Advice of its program on how to write files.
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

/// Deviations from a normal start.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpawnOverrides<'a> {
    /// The program that replaces every agent.
    pub stand_in: Option<&'a Path>,
    /// The worktree in which the worker works, if it has one of its own.
    pub step_folder: Option<&'a Path>,
}

/// The agent program that this choice starts, if it starts one: its version is judged before anything is prepared.
pub fn candidate(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    choice: &Choice,
) -> Result<Option<ProgramToCheck>, Failure> {
    let Runner::Program(program) = choice.runner else {
        return Ok(None);
    };
    let base = BaseEnvironment::of(workspace, opened, choice)?;
    Ok(Some(ProgramToCheck {
        program,
        path: base.find(program)?,
        variables: base.variables,
    }))
}

/// The environment in which the version of an agent program is judged, and which its worker gets. What makes its hooks
/// call us is added later.
struct BaseEnvironment {
    project: Project,
    search: SearchPath,
    variables: BTreeMap<OsString, OsString>,
}

impl BaseEnvironment {
    fn of(workspace: &Workspace<'_>, opened: &OpenRun, choice: &Choice) -> Result<Self, Failure> {
        let project = workspace.project_of(opened)?;
        let now: Variables = std::env::vars_os().collect();
        let given = worker_environment::of_run(&workspace.state, opened.run(), &now)?;
        let search = check::search(&given.folders, &project.root);
        let mut variables = variables(&now, choice, &search, given)?;
        variables.extend(state_home(workspace));
        variables.extend(worker_variables(opened, choice));
        Ok(Self {
            project,
            search,
            variables,
        })
    }

    fn find(&self, program: Program) -> Result<PathBuf, Failure> {
        check::find(program.word(), &self.search).map_err(Failure::environment)
    }
}

pub fn prepare(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    choice: &Choice,
    claim: &Claim,
    overrides: SpawnOverrides<'_>,
) -> Result<SpawnSpec, Failure> {
    check_denied_tools(opened, choice)?;
    let base = BaseEnvironment::of(workspace, opened, choice)?;
    let root = &base.project.root;
    let folder = overrides.step_folder.unwrap_or(root).to_owned();
    let program = match choice.runner {
        Runner::Program(program) => base.find(program)?,
        Runner::Command => {
            let file = trusted_file(workspace, opened, choice)?;
            script(choice, file, &claim.script())?
        }
        Runner::StandIn => stand_in(overrides)?,
    };
    let prompt = match choice.runner {
        Runner::Program(_) | Runner::StandIn => prompt_text(workspace, opened, choice)?,
        Runner::Command => None,
    };
    let (time, silence) = limits(opened, choice);
    let BaseEnvironment {
        project,
        mut variables,
        ..
    } = base;
    let guard_setup = match choice.runner {
        Runner::Program(program) => {
            let location = guard::WorkLocation {
                project: &project,
                folder: &folder,
            };
            guard::prepare(workspace, &opened.run().id, program, &variables, &location)?
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

/// Some programs keep shells out of their own folder; the advice says how to write artifacts there.
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

/// Refuses a promise that we cannot keep: the tools of a script do not ask us. A rehearsal promises
/// nothing.
fn check_denied_tools(opened: &OpenRun, choice: &Choice) -> Result<(), Failure> {
    let denies = !denied(opened, choice).is_empty();
    if denies && choice.runner == Runner::Command {
        Err(Failure::settings(format!(
            "{} denies tools, and gatewright cannot enforce that for the runner {}",
            choice.stage,
            choice.runner.word()
        ))
        .hint("remove `tools.deny` from the stage, or use an agent of the session"))
    } else {
        Ok(())
    }
}

fn stand_in(overrides: SpawnOverrides<'_>) -> Result<PathBuf, Failure> {
    let program = overrides.stand_in.ok_or_else(|| {
        Failure::store("the stand-in program of this run is not stored").hint("start a new run")
    })?;
    if is_executable(program) {
        Ok(program.to_owned())
    } else {
        Err(Failure::environment(format!(
            "the stand-in program {} is missing or not executable",
            program.display()
        ))
        .hint("restore it, then type `gatewright resume`"))
    }
}

/// The definition's text for an agent: the file that `prompt` names, otherwise the agent file that
/// the definition gives to sessions.
fn prompt_text(
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

/// The front matter of an agent's file is for its host.
fn without_front_matter(text: &str) -> String {
    let body = text
        .strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n"))
        .map_or(text, |(_, body)| body);
    body.trim().to_owned()
}

/// The file that `prompt` names, with the bytes that the run is pinned to.
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
        Some(Err(_)) => Err(Failure::settings(format!("{name} is not valid UTF-8"))
            .hint("save it as UTF-8 and start a new run")),
        None => Err(
            Failure::store(format!("the file {name} of this run is not stored"))
                .hint("start a new run"),
        ),
    }
}

fn pinned<'a>(files: &'a Files, name: &str) -> Option<&'a [u8]> {
    files.get(name)
}

/// Writes the script to a place where nobody else can change it before it runs.
fn script(choice: &Choice, text: Option<String>, path: &Path) -> Result<PathBuf, Failure> {
    let agent = &choice.agent;
    let Some(text) = text else {
        return Err(
            Failure::settings(format!("'{agent}' has the runner `command` and no script"))
                .hint("set `prompt` to its path"),
        );
    };
    if !text.starts_with("#!") {
        return Err(
            Failure::settings(format!("the script of '{agent}' has no `#!` line"))
                .hint("start it with `#!/bin/sh` or another interpreter"),
        );
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

/// A short list of this process, where the run's own environment says what it has of each, and the
/// login variables of the program.
fn variables(
    now: &Variables,
    choice: &Choice,
    search: &SearchPath,
    given: WorkerEnvironment,
) -> Result<BTreeMap<OsString, OsString>, Failure> {
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
    variables.extend(given.settings);
    Ok(variables)
}

/// The hooks must find our state folder, whatever `HOME` they have.
fn state_home(workspace: &Workspace<'_>) -> Option<(OsString, OsString)> {
    let home = workspace.state.folder().parent()?;
    Some(("XDG_STATE_HOME".into(), home.into()))
}

/// Describes the work to the worker. The first variable marks everything that it starts as started
/// by an agent.
fn worker_variables(opened: &OpenRun, choice: &Choice) -> Vec<(OsString, OsString)> {
    let described = [
        ("AI_AGENT", Some("gatewright".to_owned())),
        ("GATEWRIGHT_RUN", Some(opened.run().id.to_string())),
        ("GATEWRIGHT_STAGE", Some(choice.stage.to_string())),
        ("GATEWRIGHT_AGENT", Some(choice.agent.to_string())),
        ("GATEWRIGHT_MODEL", choice.settings.model.clone()),
    ];
    let described = described.into_iter();
    described
        .filter_map(|(name, value)| Some((name.into(), value?.into())))
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
