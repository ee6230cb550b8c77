//! The repository of a person, the real agent programs, and a worker that is left alone in it.

use std::fs::File;
use std::process::Child;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use testkit::{Ran, within};

use super::tasks::{self, Task};
use crate::agents::world::World;

/// How long anything is waited for: three real agent programs work at once.
const PATIENCE: Duration = Duration::from_secs(180);

/// What the check of every task runs.
const CHECK: &str = "! grep -rq BROKEN made\n";

pub(super) struct Overnight {
    pub world: World,
}

impl Overnight {
    /// A repository with a history, a branch, a tag and a stash, and work that nobody has committed.
    pub(super) fn new() -> Self {
        let night = Self {
            world: World::new(tasks::script()),
        };
        let project = &night.world.project;
        let files = [
            ("check.sh", CHECK),
            ("heading.txt", "Heading\n"),
            ("staged.txt", "first\n"),
            ("edited.txt", "first\n"),
            (".gitignore", "*.local\n"),
        ];
        for (name, text) in files {
            project.write(name, text);
        }
        for (name, text) in tasks::pipelines() {
            project.write(name, text);
        }
        night.git(&["add", "."]);
        night.git(&["commit", "--quiet", "--message=one"]);
        night.git(&["branch", "topic"]);
        night.git(&["tag", "--annotate", "--message=one", "v1"]);
        project.write("edited.txt", "stashed\n");
        night.git(&["stash", "push", "--quiet"]);
        project.write("staged.txt", "staged\n");
        night.git(&["add", "staged.txt"]);
        project.write("staged.txt", "staged, and edited again\n");
        project.write("edited.txt", "edited\n");
        project.write("new.txt", "new\n");
        project.write("settings.local", "ignored\n");
        for (name, _) in tasks::pipelines() {
            project.trust_by_hash(name);
        }
        night
    }

    pub(super) fn queue(&self, task: &Task) {
        let what = ["start", task.pipeline, "--queue", "--task", task.text];
        let how = ["--id", task.run, "--runner", task.runner];
        self.type_in(&[what.as_slice(), &how].concat());
    }

    /// While the runs work, the person commits a heading of their own, stages, edits and stashes.
    pub(super) fn edit_as_the_person(&self) {
        let project = &self.world.project;
        project.write("heading.txt", "The person's heading\n");
        self.git(&["commit", "--quiet", "--message=two", "heading.txt"]);
        project.write("late.txt", "staged late\n");
        self.git(&["add", "late.txt"]);
        project.write("edited.txt", "edited in the night\n");
        self.git(&["branch", "topic-two"]);
    }

    pub(super) fn begin_worker(&self) -> Child {
        let said = self.world.project.home().join("worker.said");
        let said = File::create(said).unwrap();
        let mut command = self.world.command(&["worker", "--once", "--runs", "6"]);
        command.stdout(said.try_clone().unwrap()).stderr(said);
        command.spawn().unwrap()
    }

    /// Drives what is left to its end, and hands over the summary.
    #[track_caller]
    pub(super) fn worker(&self) -> Value {
        let ran = self.type_in(&["worker", "--once", "--json"]);
        parsed(&ran)
    }

    /// Nothing survives it: neither the worker, nor an agent, nor their watchdogs.
    pub(super) fn crash(&self, mut worker: Child) {
        let mut found = self.world.left_over();
        let is = |name: &'static str| move |line: &String| line.contains(name);
        for program in ["gatewright worker", "claude", "codex"] {
            assert!(found.iter().any(is(program)), "{program}: {found:?}");
        }
        while !found.is_empty() {
            for line in &found {
                let (process, _) = line.split_once(' ').unwrap();
                let process = Pid::from_raw(process.parse().unwrap()).unwrap();
                // One of them may have ended with another.
                let _ = kill_process(process, Signal::KILL);
            }
            found = self.world.left_over();
        }
        worker.wait().unwrap();
    }

    /// A script types this, and it succeeds.
    #[track_caller]
    pub(super) fn type_in(&self, words: &[&str]) -> Ran {
        self.world.type_in(words).succeeds()
    }

    #[track_caller]
    pub(super) fn json(&self, words: &[&str]) -> Value {
        parsed(&self.type_in(&[words, &["--json"]].concat()))
    }

    /// The same for a command that says no.
    #[track_caller]
    pub(super) fn refused(&self, words: &[&str]) -> Value {
        parsed(&self.world.type_in(&[words, &["--json"]].concat()).exits(1))
    }

    pub(super) fn status(&self, run: &str) -> String {
        let shown = self.json(&["status", run]);
        shown["status"].as_str().unwrap().to_owned()
    }

    /// The facts of this kind in the history of a run.
    pub(super) fn facts(&self, run: &str, kind: &str) -> Vec<Value> {
        let told = self.json(&["history", run]);
        let entries = told["entries"].as_array().unwrap().iter();
        let facts = entries.map(|entry| entry["fact"].clone());
        facts.filter(|fact| fact["kind"] == kind).collect()
    }

    /// What git says in the person's tree, without a look that would renew their index.
    pub(super) fn git(&self, words: &[&str]) -> String {
        let words = [&["--no-optional-locks"], words].concat();
        let ran = self.world.project.git(words);
        ran.stdout.trim().to_owned()
    }

    #[track_caller]
    pub(super) fn until(&self, what: &str, holds: impl Fn() -> bool) {
        let came = within(PATIENCE, || holds().then_some(()));
        let said = self.world.project.home().join("worker.said");
        let said = || std::fs::read_to_string(&said).unwrap_or_default();
        assert!(came.is_some(), "waited in vain until {what}\n{}", said());
    }
}

#[track_caller]
fn parsed(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|problem| panic!("{problem}\n{ran}"))
}
