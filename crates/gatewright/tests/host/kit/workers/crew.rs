//! A project with all programs, hooks that note and refuse, and workers that are started in it.

use std::fmt;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hosts::Program;
use hosts::agent_process::{
    AgentOutput, Conversation, FileAccess, GuardInputs, GuardSetup, PersonalSettings, StartOptions,
    Workplace,
};
use serde_json::Value;
use tempfile::TempDir;
use testkit::model::{Actor, Model};
use testkit::{Agents, Project};

/// Notes what it was called for, and refuses tools where a reason lies beside it.
const HOOK: &str = r#"#!/bin/sh
here=$(dirname "$0")
name="$(date +%s%N)-$3"
cat > "$here/notes/.$name" && mv "$here/notes/.$name" "$here/notes/$name"
case $3 in PreToolUse | BeforeTool)
    if [ -f "$here/reason" ]; then cat "$here/reason" >&2; exit 2; fi ;;
esac
"#;

pub(super) struct Crew {
    pub project: Project,
    pub model: Model,
    agents: Agents,
    /// What stands for our program, and the folder that is private to a run.
    ours: TempDir,
}

/// A process that has ended, and what its output told.
pub(super) struct Ended {
    pub agent_output: AgentOutput,
    pub code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Crew {
    pub(super) fn new(script: impl IntoIterator<Item = Actor>) -> Self {
        let project = Project::with_git("true");
        let model = Model::start(script);
        let agents = Agents::new(&project, &model);
        let ours = TempDir::new().unwrap();
        let crew = Self {
            project,
            model,
            agents,
            ours,
        };
        fs::create_dir_all(crew.our_folder().join("notes")).unwrap();
        fs::write(crew.our_program(), HOOK).unwrap();
        testkit::make_executable(&crew.our_program());
        crew
    }

    /// Its name must be one word to every shell.
    fn our_folder(&self) -> PathBuf {
        self.ours.path().join("it's here")
    }

    fn our_program(&self) -> PathBuf {
        self.our_folder().join("gatewright")
    }

    /// From now on every tool is refused.
    pub(super) fn refuse(&self, reason: &str) {
        fs::write(self.our_folder().join("reason"), reason).unwrap();
    }

    /// The events for which our hooks were called, in order, with their payloads.
    pub(super) fn notes(&self) -> Vec<(String, Value)> {
        let folder = self.our_folder().join("notes");
        let mut names = names(&folder);
        names.retain(|name| !name.starts_with('.'));
        let note = |name: String| {
            let payload = fs::read(folder.join(&name)).unwrap();
            let (_, event) = name.split_once('-').unwrap();
            (event.to_owned(), serde_json::from_slice(&payload).unwrap())
        };
        names.into_iter().map(note).collect()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.project.path().join(name).exists()
    }

    pub(super) fn read(&self, name: &str) -> String {
        self.project.read(name)
    }

    /// What the settings of all programs say. Codex notes there by itself that it was let write to a
    /// project.
    pub(super) fn settings(&self) -> Vec<Option<String>> {
        let files = [
            ".codex/config.toml",
            ".codex/hooks.json",
            ".gemini/settings.json",
            ".claude/settings.json",
            ".claude/settings.local.json",
        ];
        let read = |file: &str| {
            let text = fs::read_to_string(self.project.home().join(file)).ok()?;
            let own = text.split("[projects.").next().unwrap_or_default();
            Some(own.trim_end().to_owned())
        };
        files.into_iter().map(read).collect()
    }

    pub(super) fn project_files(&self) -> Vec<String> {
        let mut names = names(&self.project.path());
        names.retain(|name| name != ".git");
        names
    }

    /// Starts a worker with our hooks, and waits for its end.
    pub(super) fn work(
        &self,
        program: Program,
        conversation: Conversation<'_>,
        file_access: FileAccess,
        prompt: &str,
    ) -> Ended {
        let guard_setup = self.guard_setup(program);
        let start = StartOptions {
            conversation,
            model: None,
            file_access,
            denied: &[],
            most_cents: None,
        };
        let command = self
            .project
            .at_home(self.agents.folder().join(program.word()));
        let mut command = self.agents.settle(command);
        command
            .args(&guard_setup.arguments)
            .args(program.arguments(&start))
            .envs(guard_setup.variables)
            .stdin(self.input(prompt));
        ended(program, command)
    }

    fn guard_setup(&self, program: Program) -> GuardSetup {
        let (ours, folder) = (self.our_program(), self.ours.path().join("run"));
        let own = program
            .personal_settings()
            .map(|own| (self.project.home().join(own.below_home), own.file));
        let settings = own.as_ref().map(|(folder, file)| folder.join(file));
        let settings = settings.and_then(|file| fs::read_to_string(file).ok());
        let own = own.as_ref().map(|(folder, _)| PersonalSettings {
            folder,
            settings: settings.as_deref(),
        });
        let guard = GuardInputs {
            program: ours.to_str().unwrap(),
            folder: &folder,
            personal: own,
            workplace: Workplace::default(),
        };
        let guard_setup = program.guard_setup(&guard).unwrap();
        make(&guard_setup);
        guard_setup
    }

    fn input(&self, prompt: &str) -> Stdio {
        let path = self.ours.path().join("prompt");
        let mut file = File::create(&path).unwrap();
        file.write_all(prompt.as_bytes()).unwrap();
        File::open(&path).unwrap().into()
    }
}

/// Writes and links what the guard_setup of a process asks for.
fn make(guard_setup: &GuardSetup) {
    for (path, text) in &guard_setup.files {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    for (place, target) in &guard_setup.links {
        if target.exists() && !place.exists() {
            symlink(target, place).unwrap();
        }
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

fn ended(program: Program, mut command: Command) -> Ended {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    let mut agent_output = AgentOutput::default();
    for line in stdout.lines() {
        program.read_line(line.as_bytes(), &mut agent_output);
    }
    let code = output.status.code();
    let last_words = stderr.lines().next_back().unwrap_or_default();
    program.exited(code.unwrap_or(-1), last_words, &mut agent_output);
    Ended {
        agent_output,
        code,
        stdout,
        stderr,
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "exit: {:?}\n{:?}", self.code, self.agent_output)?;
        for line in self.stdout.lines().chain(self.stderr.lines()) {
            writeln!(f, "{}", line.chars().take(400).collect::<String>())?;
        }
        Ok(())
    }
}
