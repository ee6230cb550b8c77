//! Steps stages: a task graph, written down, given at the start, or left by an agent.

use engine::{AgentName, Step, StepId, StepsSource, StepsWork};

use super::{Fields, Reader};
use crate::tree::{Node, Value};
use crate::vocabulary;

impl Reader<'_> {
    pub(super) fn steps_work(&mut self, fields: &Fields<'_>) -> Option<StepsWork> {
        let source = self.required(fields, "steps", Self::steps_source);
        let max_parallel = self.optional(fields, "max_parallel", Self::amount);
        let agents = self.list(fields, "agents", Self::pattern);
        let settings = self.worker_settings(fields);
        let reads = self.reads(fields);
        let leaves = self.list(fields, "leaves", Self::artifact_name);
        Some(StepsWork {
            source: source?,
            max_parallel,
            agents,
            settings,
            reads,
            leaves,
        })
    }

    fn steps_source(&mut self, node: &Node) -> Option<StepsSource> {
        match &node.value {
            Value::List(_) => self.items(node, Self::step).map(StepsSource::Fixed),
            Value::Text(_) => self
                .word(node, vocabulary::STEPS_OR, &[()])
                .map(|()| StepsSource::Start),
            Value::Table(_) => {
                let fields = self.fields(node, &vocabulary::STEPS_FROM)?;
                let field = self.required(&fields, "from", Self::field_of);
                let or = self.optional(&fields, "or", |reader, node| {
                    reader.word(node, vocabulary::STEPS_OR, &[()])
                });
                Some(match or {
                    Some(()) => StepsSource::ArtifactOrStart(field?),
                    None => StepsSource::Artifact(field?),
                })
            }
            _ => {
                let hint = "write [{ id = \"…\", agent = \"…\" }], \"start\" or { from = \"artifact.field\" }";
                self.wrong_type(node, "a list of steps", hint)
            }
        }
    }

    fn step(&mut self, node: &Node) -> Option<Step> {
        let fields = &self.fields(node, &vocabulary::STEP)?;
        let id = self.required(fields, "id", |reader, node| {
            reader.name(node, StepId::parse)
        });
        let title = self.optional(fields, "title", Self::owned_text);
        let agent = self.required(fields, "agent", |reader, node| {
            reader.name(node, AgentName::parse)
        });
        let needs = self.list(fields, "needs", |reader, node| {
            reader.name(node, StepId::parse)
        });
        let id = id?;
        let title = title.unwrap_or_else(|| String::from(id.as_str()));
        Some(Step {
            id,
            title,
            agent: agent?,
            needs,
        })
    }
}
