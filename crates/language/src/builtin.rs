//! The pipelines that come with the program. Each is also an example for your own.

mod view_template;

use std::collections::BTreeMap;

use crate::source::{SourceFile, Sources};
pub use view_template::{BuiltinTemplate, view_template, workflow_schema};

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
    /// Everything that `compile` needs.
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

/// A file next to the definition. Files for a host are in a folder for each pipeline here, so that
/// two pipelines may have agents of one name.
macro_rules! file {
    ($path:literal) => {
        ($path, include_str!(concat!("../builtin/", $path)))
    };
    ($pipeline:literal, $path:literal) => {
        (
            $path,
            include_str!(concat!("../builtin/", $pipeline, "/", $path)),
        )
    };
}

const ALL: &[Builtin] = &[
    Builtin {
        name: "ansible",
        about: "Write, validate, fix and review one Ansible playbook or role.",
        text: include_str!("../builtin/ansible.toml"),
        files: &[
            file!("ansible", "agents/ansible-debugger.md"),
            file!("ansible", "agents/ansible-generator.md"),
            file!("ansible", "agents/ansible-orchestrator.md"),
            file!("ansible", "agents/ansible-reviewer.md"),
            file!("ansible", "agents/ansible-validator.md"),
            file!("ansible", "commands/analyze.md"),
            file!("ansible", "commands/ansible-answer.md"),
            file!("ansible", "commands/ansible-cancel.md"),
            file!("ansible", "commands/create-playbook.md"),
            file!("ansible", "commands/create-role.md"),
            file!("ansible", "commands/lint.md"),
            file!("ansible", "skills/ansible-error-handling/SKILL.md"),
            file!("ansible", "skills/ansible-fundamentals/SKILL.md"),
            file!("ansible", "skills/ansible-idempotency/SKILL.md"),
            file!("ansible", "skills/ansible-playbook-design/SKILL.md"),
            file!("ansible", "skills/ansible-proxmox/SKILL.md"),
            file!("ansible", "skills/ansible-role-design/SKILL.md"),
            file!("ansible", "skills/ansible-secrets/SKILL.md"),
            file!("ansible", "skills/ansible-testing/SKILL.md"),
        ],
    },
    Builtin {
        name: "context-first",
        about: "Gather and refine context and plan the work before agents for code may start.",
        text: include_str!("../builtin/context-first.toml"),
        files: &[
            file!("context-first", "agents/context-gatherer.md"),
            file!("context-first", "agents/context-refiner.md"),
            file!("context-first", "agents/strategic-orchestrator.md"),
            file!("context-first", "commands/reset-pipeline.md"),
            file!("context-first", "commands/task-done.md"),
        ],
    },
    Builtin {
        name: "multi-ai",
        about: "Take a feature from requirements to reviewed and tested code, with several models.",
        text: include_str!("../builtin/multi-ai.toml"),
        files: &[
            file!("multi-ai", "agents/code-reviewer.md"),
            file!("multi-ai", "agents/implementer.md"),
            file!("multi-ai", "agents/plan-reviewer.md"),
            file!("multi-ai", "agents/planner.md"),
            file!("multi-ai", "agents/requirements-gatherer.md"),
            file!("multi-ai", "commands/cancel-loop.md"),
            file!("multi-ai", "commands/multi-ai-answer.md"),
            file!("multi-ai", "commands/multi-ai.md"),
            file!("multi-ai/impl-result.json"),
            file!("multi-ai/plan.json"),
            file!("multi-ai/review-codex.md"),
            file!("multi-ai/review.json"),
            file!("multi-ai/user-story.json"),
            file!("multi-ai/worker-signal.json"),
            file!("multi-ai", "skills/review-codex/SKILL.md"),
        ],
    },
    Builtin {
        name: "phases",
        about: "Plan a task as a graph of phases, work through it in parallel waves, and verify the result.",
        text: include_str!("../builtin/phases.toml"),
        files: &[
            file!("phases", "agents/delegation-orchestrator.md"),
            file!("phases", "agents/task-completion-verifier.md"),
            file!("phases", "commands/delegate-answer.md"),
            file!("phases", "commands/delegate-cancel.md"),
            file!("phases", "commands/delegate.md"),
            file!("phases/protocol.md"),
            file!("phases/report.json"),
            file!("phases/task-graph.json"),
        ],
    },
];
