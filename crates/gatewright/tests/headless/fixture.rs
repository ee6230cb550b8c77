//! What the tests share: a project with a pipeline, and a script that plays its agents.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;
pub(crate) use testkit::pipelines::ONE;
pub(crate) use testkit::until;
use testkit::{Project, Ran};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_gatewright");

/// What the agent of `ONE` does when all is well. It leaves something new each time.
pub(crate) const WRITES: &str = r#"echo "note $count" > note.txt"#;

/// A project and a folder of programs, which go when this goes.
pub(crate) struct World {
    pub project: Project,
    programs: TempDir,
}

impl World {
    /// A git project with this pipeline, trusted, and this script for its agents.
    pub(crate) fn with(pipeline: &str, script: &str) -> Self {
        let world = Self::new(Project::with_git(PROGRAM), script);
        world.pipeline(pipeline);
        world
    }

    pub(crate) fn new(project: Project, script: &str) -> Self {
        let world = Self {
            project,
            programs: programs(),
        };
        world.agent(script);
        world
    }

    /// The pipeline of the project, which is trusted.
    pub(crate) fn pipeline(&self, text: &str) {
        self.project.write("pipeline.toml", text);
        self.project.trust_by_hash("pipeline.toml");
    }

    /// The agents of this project are played by this script. Its `$here` is the folder of the programs,
    /// `$count` says how often it was started, and `$at` where it is. Each start is noted in `starts`,
    /// and what it was told in `prompt.COUNT`.
    pub(crate) fn agent(&self, script: &str) -> &Self {
        self.program("agent", script)
    }

    pub(crate) fn program(&self, name: &str, script: &str) -> &Self {
        let path = self.programs().join(name);
        // Several may start at once: who could make the folder has the number.
        let version = testkit::tells_version(name);
        let text = format!(
            r#"#!/bin/sh
{version}
here=$(dirname "$0")
count=1
while ! mkdir "$here/{name}.$count" 2>/dev/null; do count=$((count + 1)); done
at=$GATEWRIGHT_STAGE${{GATEWRIGHT_STEP:+/$GATEWRIGHT_STEP}}
echo "$at $GATEWRIGHT_AGENT" >> "$here/starts"
cat > "$here/prompt.$count"
{script}
"#
        );
        // A script that is changed while it is read would be another one.
        let new = self.programs().join(format!("{name}.new"));
        fs::write(&new, text).unwrap();
        testkit::make_executable(&new);
        fs::rename(&new, &path).unwrap();
        self
    }

    pub(crate) fn programs(&self) -> &Path {
        self.programs.path()
    }

    /// Runs the pipeline as `r-test`.
    pub(crate) fn run(&self, more: &str) -> Ran {
        self.gatewright(&self.line(more))
    }

    /// Asks what such a run would do and need.
    pub(crate) fn dry_run(&self, more: &str) -> Ran {
        let agent = self.programs().join("agent");
        let agent = agent.display();
        self.gatewright(&format!(
            "dry-run pipeline.toml --task try --stand-in {agent} {more}"
        ))
    }

    /// What `run` types.
    pub(crate) fn line(&self, more: &str) -> String {
        let agent = self.programs().join("agent");
        format!(
            "run pipeline.toml --task try --id r-test --stand-in {} {more}",
            agent.display()
        )
    }

    /// Runs the program with these words, as a script would that nobody watches.
    pub(crate) fn gatewright(&self, line: &str) -> Ran {
        Ran::from(self.command(line).output().unwrap())
    }

    pub(crate) fn command(&self, line: &str) -> Command {
        self.on_path(self.project.command(line.split_whitespace()))
    }

    /// A person types this at a terminal, and then these words.
    pub(crate) fn person(&self, line: &str, typed: &str) -> Ran {
        self.project.person(line.split_whitespace(), typed)
    }

    fn on_path(&self, mut command: Command) -> Command {
        let system = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{system}", self.programs().display()));
        command
    }

    /// The program at work in the background.
    pub(crate) fn begin(&self, line: &str) -> super::under_way::UnderWay {
        let file = self.programs().join(format!("under-way-{}.pid", unique()));
        let mut command = self.on_path(self.project.at_home("sh"));
        command.args(["-c", r#"echo $$ > "$0.new"; mv "$0.new" "$0"; exec "$@""#]);
        command
            .arg(&file)
            .arg(PROGRAM)
            .args(line.split_whitespace());
        super::under_way::UnderWay::begin(command, &file)
    }

    /// What the programs noted under this name, a line each.
    pub(crate) fn noted(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.programs().join(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Where agents were started, in the order of their starts.
    pub(crate) fn starts(&self) -> Vec<String> {
        let starts = self.noted("starts");
        let places = starts.iter().map(|line| line.split(' ').next().unwrap());
        places.map(str::to_owned).collect()
    }

    /// What the agent was told that was started as this one.
    pub(crate) fn prompt(&self, count: usize) -> String {
        fs::read_to_string(self.programs().join(format!("prompt.{count}"))).unwrap()
    }

    pub(crate) fn facts(&self, line: &str) -> Value {
        let ran = self.gatewright(&format!("{line} --json"));
        serde_json::from_str(&ran.stdout).unwrap_or_else(|problem| panic!("{problem}\n{ran}"))
    }

    /// The facts of a run's history of this kind.
    pub(crate) fn history_of(&self, run: &str, kind: &str) -> Vec<Value> {
        let facts = self.facts(&format!("history {run}"));
        let entries = facts["entries"].as_array().expect("a history has entries");
        let entries = entries.iter().filter(|entry| entry["fact"]["kind"] == kind);
        entries.cloned().collect()
    }

    pub(crate) fn history(&self, kind: &str) -> Vec<Value> {
        self.history_of("r-test", kind)
    }

    pub(crate) fn status(&self, run: &str) -> String {
        let facts = self.facts(&format!("status {run}"));
        facts["status"]
            .as_str()
            .expect("a run has a status")
            .to_owned()
    }

    pub(crate) fn is_there(&self, name: &str) -> bool {
        self.project.path().join(name).exists()
    }
}

/// Contains, said so that a failure shows both.
#[track_caller]
pub(crate) fn says(text: &str, part: &str) {
    assert!(text.contains(part), "{part:?} is not in\n{text}");
}

fn unique() -> usize {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Outside of every project, where nobody else can write.
fn programs() -> TempDir {
    TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}
