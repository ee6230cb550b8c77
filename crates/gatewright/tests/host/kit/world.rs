//! A project with one agent and a recorder, for every test of its own.

use std::time::{Duration, Instant};

use testkit::Project;
use testkit::claude::Claude;
use testkit::model::{Actor, Model};
use testkit::recorder::Recorder;

pub(super) struct World {
    pub project: Project,
    pub model: Model,
    pub recorder: Recorder,
}

impl World {
    /// A project with an agent `writer`, and a model that plays this script.
    pub(super) fn new(script: impl IntoIterator<Item = Actor>) -> Self {
        let project = Project::new("true");
        let writer = "---\nname: writer\ndescription: Writes a file.\n---\nYou write a file.\n";
        project.write(".claude/agents/writer.md", writer);
        Self {
            recorder: Recorder::install(&project),
            model: Model::start(script),
            project,
        }
    }

    pub(super) fn claude(&self) -> Claude {
        self.bare_claude().allow(["Agent", "Bash"])
    }

    /// The same with no tool allowed.
    pub(super) fn bare_claude(&self) -> Claude {
        Claude::new(&self.project, &self.model)
    }

    /// The file, when it has a whole line.
    pub(super) fn wait_for_file(&self, name: &str) -> String {
        let path = self.project.path().join(name);
        let read = || std::fs::read_to_string(&path).unwrap_or_default();
        self.wait_until(|| read().ends_with('\n'));
        read()
    }

    pub(super) fn wait_until(&self, holds: impl Fn() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !holds() {
            assert!(Instant::now() < deadline, "waited in vain");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// The names that are wanted, in the order in which they first came.
pub(super) fn order<'a>(names: &'a [String], wanted: &[&str]) -> Vec<&'a str> {
    let mut order: Vec<&str> = Vec::new();
    for name in names {
        if wanted.contains(&name.as_str()) && !order.contains(&name.as_str()) {
            order.push(name);
        }
    }
    order
}
