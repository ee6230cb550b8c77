//! What the tests share: a project with a pipeline, and programs of our own on its search path.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;
pub(super) use testkit::pipelines::REVIEW;
use testkit::{Project, Ran};

pub(super) const PROGRAM: &str = env!("CARGO_BIN_EXE_gatewright");

/// The ids of conversations, as Codex makes them.
pub(super) const ONE: &str = "01a1e0b0-54e3-7200-8e56-8dc64c4ddfd4";
pub(super) const OTHER: &str = "01a1e0b2-b1c3-7850-be44-a5d7e19253b6";

/// A project and a folder of programs, which go when this goes.
pub(super) struct World {
    pub project: Project,
    programs: TempDir,
}

impl World {
    /// A project with this pipeline, trusted and started.
    pub(super) fn with(pipeline: &str) -> Self {
        let world = Self::unstarted(pipeline);
        world.start().succeeds();
        world
    }

    pub(super) fn unstarted(pipeline: &str) -> Self {
        let world = Self {
            project: Project::with_git(PROGRAM),
            programs: programs(),
        };
        world.project.write("pipeline.toml", pipeline);
        world.project.write("prompts/review.md", "Be strict.\n");
        world
    }

    /// A person trusts the pipeline and starts it.
    pub(super) fn start(&self) -> Ran {
        self.trust("pipeline.toml", "");
        let words = "start pipeline.toml --task try --by-hand --id r-test";
        self.run(words)
    }

    /// A person trusts this pipeline at a terminal with the search path of this world, and with these
    /// variables.
    pub(super) fn trust(&self, pipeline: &str, variables: &str) {
        let path = self.search_path();
        let line = format!("PATH='{path}' {variables} '{PROGRAM}' trust {pipeline}");
        let ran = self.project.person_at(&line, "yes\n");
        assert_eq!(ran.code, Some(0), "{ran}");
    }

    fn search_path(&self) -> String {
        let system = std::env::var("PATH").unwrap_or_default();
        format!("{}:{system}", self.programs().display())
    }

    /// Where the programs lie, and what they have noted.
    pub(super) fn programs(&self) -> &Path {
        self.programs.path()
    }

    /// Puts a shell script on the search path. Its `$here` is the folder of the programs, `$count`
    /// says how often it was started, and what it was given lies in `NAME.prompt.COUNT`.
    pub(super) fn program(&self, name: &str, script: &str) -> &Self {
        let path = self.programs().join(name);
        let version = testkit::tells_version(name);
        let script = format!(
            r#"#!/bin/sh
{version}
here=$(dirname "$0")
count=$(($(cat "$here/{name}.count" 2>/dev/null || echo 0) + 1))
echo "$count" > "$here/{name}.count"
printf '%s\n' "$*" >> "$here/{name}.calls"
echo '{{}}' | "{PROGRAM}" hook {name} SessionStart >/dev/null 2>&1
cat > "$here/{name}.prompt.$count"
{script}
"#
        );
        fs::write(&path, script).unwrap();
        testkit::make_executable(&path);
        self
    }

    pub(super) fn codex(&self, script: &str) -> &Self {
        self.program("codex", script)
    }

    /// What a program was started with, a line each time.
    pub(super) fn calls(&self, name: &str) -> Vec<String> {
        let lines = fs::read_to_string(self.programs().join(format!("{name}.calls")));
        let lines = lines.unwrap_or_default();
        lines.lines().map(str::to_owned).collect()
    }

    pub(super) fn noted(&self, name: &str) -> String {
        fs::read_to_string(self.programs().join(name)).unwrap_or_default()
    }

    /// The program with the search path of this world.
    pub(super) fn command(&self, line: &str) -> Command {
        self.on_path(self.project.command(line.split_whitespace()))
    }

    /// The same as a child that can be sent signals.
    pub(super) fn child(&self, line: &str) -> Command {
        self.on_path(self.project.child(line.split_whitespace()))
    }

    fn on_path(&self, mut command: Command) -> Command {
        command.env("PATH", self.search_path());
        command
    }

    pub(super) fn run(&self, line: &str) -> Ran {
        Ran::from(self.command(line).output().unwrap())
    }

    pub(super) fn step(&self) -> Ran {
        self.run("step")
    }

    pub(super) fn facts(&self, line: &str) -> Value {
        let ran = self.run(&format!("{line} --json"));
        serde_json::from_str(&ran.stdout).unwrap_or_else(|problem| panic!("{problem}\n{ran}"))
    }

    /// The facts of the history of this kind.
    pub(super) fn history(&self, kind: &str) -> Vec<Value> {
        let facts = self.facts("history r-test");
        let entries = facts["entries"].as_array().expect("a history has entries");
        let entries = entries.iter().filter(|entry| entry["fact"]["kind"] == kind);
        entries.cloned().collect()
    }

    pub(super) fn stage(&self) -> String {
        let facts = self.facts("status r-test");
        let stage = facts["stage"]["name"].as_str().or(facts["stage"].as_str());
        stage.expect("a run is in a stage").to_owned()
    }
}

/// A folder in which programs are looked for: nobody else can write to it, nor put something in its
/// place.
fn programs() -> TempDir {
    let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let open = |folder: &Path| {
        let mode = fs::metadata(folder).unwrap().permissions().mode();
        mode & 0o002 != 0 && mode & 0o1000 == 0
    };
    let open: Vec<PathBuf> = folder
        .path()
        .ancestors()
        .filter(|above| open(above))
        .map(Path::to_owned)
        .collect();
    assert_eq!(
        open,
        Vec::<PathBuf>::new(),
        "programs are not looked for where anybody can write: choose another target folder"
    );
    folder
}

/// Lines of shell that print what Codex prints.
pub(super) fn began(id: &str) -> String {
    format!(r#"echo '{{"type":"thread.started","thread_id":"{id}"}}'"#)
}

pub(super) const WORKED: &str = r#"echo '{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"ls","aggregated_output":"","exit_code":0,"status":"completed"}}'"#;

pub(super) fn says(text: &str) -> String {
    let line = serde_json::json!({
        "type": "item.completed",
        "item": { "id": "item_2", "type": "agent_message", "text": text },
    });
    format!("echo '{line}'")
}

pub(super) fn done(tokens: u64) -> String {
    format!(
        r#"echo '{{"type":"turn.completed","usage":{{"input_tokens":{tokens},"cached_input_tokens":5,"output_tokens":0}}}}'"#
    )
}

pub(super) const APPROVES: &str =
    r#"mkdir -p .task; echo '{"status": "approved"}' > .task/review.json"#;

/// A worker that does this and ends well.
pub(super) fn well(does: &str) -> String {
    [began(ONE).as_str(), WORKED, does, &says("done"), &done(100)].join("\n")
}
