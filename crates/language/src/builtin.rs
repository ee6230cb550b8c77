//! The pipelines that come with the program. Each is also an example to write one's own from.

use std::collections::BTreeMap;

use crate::source::{SourceFile, Sources};

/// A pipeline file that is part of the program.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    pub name: &'static str,
    pub about: &'static str,
    /// The definition, in TOML.
    pub text: &'static str,
    /// What the definition refers to: path and text.
    pub files: &'static [(&'static str, &'static str)],
}

impl Builtin {
    /// Everything that `compile` wants.
    pub fn sources(&self) -> Sources {
        let main = SourceFile {
            name: format!("{} (built in)", self.name),
            bytes: self.text.into(),
        };
        let files = self.files.iter();
        let files: BTreeMap<String, Vec<u8>> = files
            .map(|(path, text)| (String::from(*path), Vec::from(*text)))
            .collect();
        Sources { main, files }
    }
}

/// All of them, by name.
pub fn all() -> &'static [Builtin] {
    ALL
}

pub fn find(name: &str) -> Option<&'static Builtin> {
    ALL.iter().find(|builtin| builtin.name == name)
}

macro_rules! file {
    ($path:literal) => {
        ($path, include_str!(concat!("../builtin/", $path)))
    };
}

const ALL: &[Builtin] = &[
    Builtin {
        name: "ansible",
        about: "Write, validate, fix and review one Ansible playbook or role.",
        text: include_str!("../builtin/ansible.toml"),
        files: &[],
    },
    Builtin {
        name: "context-first",
        about: "Gather and refine context and plan the work before any agent may execute.",
        text: include_str!("../builtin/context-first.toml"),
        files: &[],
    },
    Builtin {
        name: "multi-ai",
        about: "Take a feature from requirements to reviewed and tested code, with several models.",
        text: include_str!("../builtin/multi-ai.toml"),
        files: &[
            file!("multi-ai/impl-result.json"),
            file!("multi-ai/plan.json"),
            file!("multi-ai/review.json"),
            file!("multi-ai/user-story.json"),
            file!("multi-ai/worker-signal.json"),
        ],
    },
    Builtin {
        name: "phases",
        about: "Plan a task as a graph of phases, work through it in parallel waves, and verify the whole.",
        text: include_str!("../builtin/phases.toml"),
        files: &[file!("phases/task-graph.json")],
    },
];
