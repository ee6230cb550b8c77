//! A project, a scripted model and the real agent programs, and runs that are driven in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use testkit::model::{Actor, Model};
use testkit::{Agents, PATIENCE, Project, Ran, within};

/// The run of every story.
pub(crate) const RUN: &str = "r-test";

pub(crate) struct World {
    pub project: Project,
    pub model: Model,
    agents: Agents,
}

impl World {
    pub(crate) fn new(script: impl IntoIterator<Item = Actor>) -> Self {
        Self::knowing(|_| script.into_iter().collect())
    }

    /// The same with a script that knows where the project lies.
    fn knowing(script: impl FnOnce(&Project) -> Vec<Actor>) -> Self {
        let project = Project::with_git(env!("CARGO_BIN_EXE_gatewright"));
        let model = Model::start(script(&project));
        let agents = Agents::new(&project, &model);
        Self {
            project,
            model,
            agents,
        }
    }

    /// The same with a pipeline of the project's own, which is trusted.
    pub(crate) fn with(pipeline: &str, script: impl IntoIterator<Item = Actor>) -> Self {
        Self::planned(pipeline, |_| script.into_iter().collect())
    }

    /// The same with a script that knows where the project lies.
    pub(crate) fn planned(pipeline: &str, script: impl FnOnce(&Project) -> Vec<Actor>) -> Self {
        let world = Self::knowing(script);
        world.project.write("pipeline.toml", pipeline);
        world.project.trust_by_hash("pipeline.toml");
        world
    }

    /// The program on the search path of the agents.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        self.agents.settle(self.project.command(words))
    }

    /// An unattended script runs the program.
    pub(crate) fn type_in(&self, words: &[&str]) -> Ran {
        Ran::from(self.command(words).output().unwrap())
    }

    /// Takes a task through this pipeline.
    pub(crate) fn run(&self, pipeline: &str, words: &[&str]) -> Ran {
        let begin = ["run", pipeline, "--task", "Greet people", "--id", RUN];
        self.type_in(&[&begin, words].concat())
    }

    pub(crate) fn resume(&self) -> Ran {
        self.type_in(&["resume", RUN])
    }

    /// Goes on with it in a shell that does not know where the programs have their settings.
    pub(crate) fn resume_elsewhere(&self) -> Ran {
        let mut command = self.command(&["resume", RUN]);
        for name in [
            "CLAUDE_CONFIG_DIR",
            "ANTHROPIC_BASE_URL",
            "GOOGLE_GEMINI_BASE_URL",
        ] {
            command.env_remove(name);
        }
        Ran::from(command.output().unwrap())
    }

    /// Every entry of the history, as JSON.
    pub(crate) fn history(&self) -> Vec<Value> {
        let ran = self.type_in(&["history", RUN, "--json"]).succeeds();
        let told: Value = serde_json::from_str(&ran.stdout).unwrap();
        told["entries"].as_array().unwrap().clone()
    }

    /// The facts of this kind in the history.
    pub(crate) fn facts(&self, kind: &str) -> Vec<Value> {
        let entries = self.history().into_iter();
        let facts = entries.map(|entry| entry["fact"].clone());
        facts.filter(|fact| fact["kind"] == kind).collect()
    }

    /// The conversations that this actor had, each with the number of answers with which it began.
    pub(crate) fn conversations(&self, actor: &str) -> Vec<usize> {
        let mut found: BTreeMap<Option<String>, usize> = BTreeMap::new();
        for request in self.model.requests_of(actor) {
            let taken = request.turns_taken(actor);
            found.entry(request.session).or_insert(taken);
        }
        found.into_values().collect()
    }

    /// The workers that began, by the program's id of their conversation.
    pub(crate) fn began(&self) -> Vec<String> {
        let facts = self.facts("began").into_iter();
        facts
            .map(|fact| fact["worker"].as_str().unwrap().to_owned())
            .collect()
    }

    /// How every piece of work ended, in the engine's words.
    pub(crate) fn results(&self) -> Vec<String> {
        let facts = self.facts("ended").into_iter();
        facts.map(|fact| fact["result"].to_string()).collect()
    }

    /// A program on the search path of the run, before anything of the same name.
    pub(crate) fn put_program(&self, name: &str, script: &str) {
        let path = self.agents.folder().join(name);
        // What stands there may be a link to something that is not ours.
        let _ = fs::remove_file(&path);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        testkit::make_executable(&path);
    }

    /// The real linters of Ansible on the search path of the run.
    pub(crate) fn put_ansible(&self) {
        testkit::ansible::link_into(self.agents.folder());
    }

    /// Where the program of this name really lies.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        let path = self.agents.folder().join(name);
        path.canonicalize().unwrap()
    }

    /// Begins a run, and leaves it to itself.
    pub(crate) fn begin(&self, words: &[&str]) -> Child {
        let begin = [
            "run",
            "pipeline.toml",
            "--task",
            "Greet people",
            "--id",
            RUN,
        ];
        let mut command = self.command(&[&begin, words].concat());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    }

    /// Kills the orchestrator as nothing can prevent it, and waits for its end.
    pub(crate) fn kill(&self, mut child: Child) {
        let ours = |line: &String| line.contains("gatewright run pipeline.toml");
        let mut found = self.left_over();
        found.retain(|line| ours(line) && !line.contains("/bin/sh"));
        let [only] = found.as_slice() else {
            panic!("one orchestrator is expected, not {found:?}");
        };
        let (process, _) = only.split_once(' ').unwrap();
        let process = Pid::from_raw(process.parse().unwrap()).unwrap();
        kill_process(process, Signal::KILL).unwrap();
        child.wait().unwrap();
    }

    #[track_caller]
    pub(crate) fn wait_until_nobody_is_left(&self) {
        let is_over = within(PATIENCE, || self.left_over().is_empty().then_some(()));
        assert!(is_over.is_some(), "{:?}", self.left_over());
    }

    /// The processes that have this project's home: nobody else has it.
    pub(crate) fn left_over(&self) -> Vec<String> {
        let wanted = format!("HOME={}", self.project.home().display());
        let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        let lines = processes.filter_map(|process| {
            let environment = fs::read(process.path().join("environ")).ok()?;
            let mut variables = environment.split(|byte| *byte == 0);
            variables.find(|variable| *variable == wanted.as_bytes())?;
            let line = fs::read(process.path().join("cmdline")).ok()?;
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            let id = process.file_name().into_string().ok()?;
            Some(format!("{id} {line}"))
        });
        lines.collect()
    }
}

/// How the prompt of this agent begins.
pub(crate) fn you_are(agent: &str) -> String {
    format!("You are '{agent}'")
}
