//! Templates: small pipelines from which people start their own.

use std::collections::BTreeMap;

use engine::PipelineName;

use crate::source::{SourceFile, Sources};

/// A pipeline to start from. `NAME` in its text, its files and their paths is replaced by the new
/// pipeline's name.
#[derive(Clone, Copy, Debug)]
pub struct Template {
    pub name: &'static str,
    pub about: &'static str,
    text: &'static str,
    files: &'static [(&'static str, &'static str)],
}

const PLACEHOLDER: &str = "NAME";

impl Template {
    /// The definition of this name, with what it refers to.
    pub fn sources(&self, name: &PipelineName) -> Sources {
        let filled = |text: &str| text.replace(PLACEHOLDER, name.as_str());
        let files = self.files.iter();
        let files: BTreeMap<String, Vec<u8>> = files
            .map(|(path, text)| (filled(path), filled(text).into_bytes()))
            .collect();
        let main = SourceFile {
            name: format!("{name}.toml"),
            bytes: filled(self.text).into_bytes(),
        };
        Sources { main, files }
    }
}

/// All of them, the smallest first.
pub fn all() -> &'static [Template] {
    ALL
}

pub fn find(name: &str) -> Option<&'static Template> {
    ALL.iter().find(|template| template.name == name)
}

/// A file of a template: its path in the new pipeline, and its text.
macro_rules! file {
    ($path:literal, $text:literal) => {
        ($path, include_str!(concat!("../templates/", $text)))
    };
}

const WORKER: (&str, &str) = file!("agents/NAME-worker.md", "agents/worker.md");
const ANSWER: (&str, &str) = file!("commands/NAME-answer.md", "commands/answer.md");
const START: (&str, &str) = file!("commands/NAME.md", "commands/start.md");

const ALL: &[Template] = &[
    Template {
        name: "minimal",
        about: "One agent works, and a person agrees.",
        text: include_str!("../templates/minimal.toml"),
        files: &[WORKER, ANSWER, START],
    },
    Template {
        name: "checked-work",
        about: "One agent works until the project's own tests pass.",
        text: include_str!("../templates/checked-work.toml"),
        files: &[WORKER, ANSWER, START],
    },
    Template {
        name: "review-loop",
        about: "An agent works, a reviewer finds problems, and the agent fixes them until the work is approved.",
        text: include_str!("../templates/review-loop.toml"),
        files: &[
            file!("agents/NAME-reviewer.md", "agents/reviewer.md"),
            WORKER,
            ANSWER,
            START,
        ],
    },
    Template {
        name: "task-graph",
        about: "Plan a task as a graph, approve it, work through it in waves, and check the result.",
        text: include_str!("../templates/task-graph.toml"),
        files: &[
            file!("agents/NAME-planner.md", "agents/planner.md"),
            WORKER,
            ANSWER,
            START,
        ],
    },
];
