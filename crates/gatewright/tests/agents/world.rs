//! A project, a scripted model and the real agent programs, and runs that are driven in it.

use std::fs;
use std::process::Command;

use serde_json::Value;
use testkit::model::{Actor, Model};
use testkit::{Agents, Project, Ran};

/// The run of every story.
pub const RUN: &str = "r-test";

pub struct World {
    pub project: Project,
    pub model: Model,
    agents: Agents,
}

impl World {
    pub fn new(script: impl IntoIterator<Item = Actor>) -> Self {
        let project = Project::with_git(env!("CARGO_BIN_EXE_gatewright"));
        let model = Model::start(script);
        let agents = Agents::new(&project, &model);
        Self {
            project,
            model,
            agents,
        }
    }

    /// The same with a pipeline of the project's own, which a person trusts.
    pub fn with(pipeline: &str, script: impl IntoIterator<Item = Actor>) -> Self {
        let world = Self::new(script);
        world.project.write("pipeline.toml", pipeline);
        world.project.trust("pipeline.toml");
        world
    }

    /// The program on the search path of the agents.
    pub fn command(&self, words: &[&str]) -> Command {
        self.agents.settle(self.project.command(words))
    }

    /// An unattended script runs the program.
    pub fn type_in(&self, words: &[&str]) -> Ran {
        Ran::from(self.command(words).output().unwrap())
    }

    /// Takes a task through this pipeline.
    pub fn run(&self, pipeline: &str, words: &[&str]) -> Ran {
        let begin = ["run", pipeline, "--task", "Greet people", "--id", RUN];
        self.type_in(&[&begin, words].concat())
    }

    pub fn resume(&self) -> Ran {
        self.type_in(&["resume", RUN])
    }

    /// Every entry of the history, as JSON.
    pub fn history(&self) -> Vec<Value> {
        let ran = self.type_in(&["history", RUN, "--json"]).succeeds();
        let told: Value = serde_json::from_str(&ran.stdout).unwrap();
        told["entries"].as_array().unwrap().clone()
    }

    /// The facts of this kind in the history.
    pub fn facts(&self, kind: &str) -> Vec<Value> {
        let entries = self.history().into_iter();
        let facts = entries.map(|entry| entry["fact"].clone());
        facts.filter(|fact| fact["kind"] == kind).collect()
    }

    /// The processes that have this project's home: nobody else has it.
    pub fn left_over(&self) -> Vec<String> {
        let wanted = format!("HOME={}", self.project.home().display());
        let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        let lines = processes.filter_map(|process| {
            let environment = fs::read(process.path().join("environ")).ok()?;
            let mut variables = environment.split(|byte| *byte == 0);
            variables.find(|variable| *variable == wanted.as_bytes())?;
            let line = fs::read(process.path().join("cmdline")).ok()?;
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            Some(format!("{:?} {line}", process.file_name()))
        });
        lines.collect()
    }
}

/// How the prompt of this agent begins.
pub fn you_are(agent: &str) -> String {
    format!("You are '{agent}'")
}
