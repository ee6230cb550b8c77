//! A project with one agent and a recorder, for every test of its own.

use testkit::claude::Claude;
use testkit::model::{Actor, Model};
use testkit::recorder::Recorder;
use testkit::{Project, wait_for};

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
        wait_for(&format!("{name} has a line"), || {
            let text = std::fs::read_to_string(&path).ok()?;
            text.ends_with('\n').then_some(text)
        })
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
