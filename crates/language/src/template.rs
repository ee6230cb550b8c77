//! Templates: small pipelines from which people start their own, and the recipes of `examples`.

mod recipes;

use std::collections::BTreeMap;

use engine::PipelineName;

use crate::source::{SourceFile, Sources};

/// A pipeline to start from.
#[derive(Clone, Copy, Debug)]
pub struct Template {
    pub name: &'static str,
    pub about: &'static str,
    /// The name of the file with the definition.
    main: &'static str,
    text: &'static str,
    files: &'static [(&'static str, &'static str)],
    naming: Naming,
}

/// How a new pipeline gets its name.
#[derive(Clone, Copy, Debug)]
enum Naming {
    /// It replaces `NAME` in the text, the files and their paths.
    Placeholder,
    /// It replaces the name of a whole pipeline. Its agents and commands keep theirs.
    Whole,
}

const PLACEHOLDER: &str = "NAME";

impl Template {
    /// The definition of this name, with what it refers to.
    pub fn sources(&self, name: &PipelineName) -> Sources {
        match self.naming {
            Naming::Placeholder => self.filled(|text| text.replace(PLACEHOLDER, name.as_str())),
            Naming::Whole => {
                let recipe = self.filled(str::to_owned);
                crate::renamed(&recipe, name).unwrap_or(recipe)
            }
        }
    }

    fn filled(&self, filled: impl Fn(&str) -> String) -> Sources {
        let files = self.files.iter();
        let files: BTreeMap<String, Vec<u8>> = files
            .map(|(path, text)| (filled(path), filled(text).into_bytes()))
            .collect();
        let main = SourceFile {
            name: filled(self.main),
            bytes: filled(self.text).into_bytes(),
        };
        Sources { main, files }
    }
}

/// All of them: the smallest first, then the recipes.
pub fn all() -> impl Iterator<Item = &'static Template> {
    PLAIN.iter().chain(recipes::ALL)
}

pub fn find(name: &str) -> Option<&'static Template> {
    all().find(|template| template.name == name)
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

const PLAIN: &[Template] = &[
    Template {
        name: "minimal",
        about: "One agent works, and a person agrees.",
        main: "NAME.toml",
        text: include_str!("../templates/minimal.toml"),
        files: &[WORKER, ANSWER, START],
        naming: Naming::Placeholder,
    },
    Template {
        name: "checked-work",
        about: "One agent works until the project's own tests pass.",
        main: "NAME.toml",
        text: include_str!("../templates/checked-work.toml"),
        files: &[WORKER, ANSWER, START],
        naming: Naming::Placeholder,
    },
    Template {
        name: "review-loop",
        about: "An agent works, a reviewer finds problems, and the agent fixes them until the work is approved.",
        main: "NAME.toml",
        text: include_str!("../templates/review-loop.toml"),
        files: &[
            file!("agents/NAME-reviewer.md", "agents/reviewer.md"),
            WORKER,
            ANSWER,
            START,
        ],
        naming: Naming::Placeholder,
    },
    Template {
        name: "task-graph",
        about: "Plan a task as a graph, approve it, work through it in waves, and check the result.",
        main: "NAME.toml",
        text: include_str!("../templates/task-graph.toml"),
        files: &[
            file!("agents/NAME-planner.md", "agents/planner.md"),
            WORKER,
            ANSWER,
            START,
        ],
        naming: Naming::Placeholder,
    },
];
