//! Agent, open, ask, review and end stages: who works there and what they leave.

use std::collections::BTreeMap;

use engine::{
    AgentName, AgentPattern, AgentWork, ArtifactName, AskWork, Conversation, End, EndWork,
    Fallback, Leaves, OpenWork, Outcome, Questions, Reads, ReviewWork, Reviewer, RunnerName,
    SESSION, Worker, WorkerSettings,
};

use super::{Fields, Reader};
use crate::rule::LanguageRule;
use crate::tree::{Entry, Node, Value};
use crate::vocabulary::{self, CONVERSATIONS, ENDS};

/// Must an artifact that is read exist?
enum ReadNeed {
    Needed,
    IfThere,
}

impl Reader<'_> {
    pub(super) fn agent_work(&mut self, fields: &Fields<'_>) -> Option<AgentWork> {
        let worker = self.required(fields, "agent", Self::worker);
        let settings = self.worker_settings(fields);
        let reads = self.reads(fields);
        let leaves = self
            .optional(fields, "leaves", Self::leaves)
            .unwrap_or_default();
        Some(AgentWork {
            worker: worker?,
            settings,
            reads,
            leaves,
        })
    }

    fn worker(&mut self, node: &Node) -> Option<Worker> {
        match self.text(node)? {
            SESSION => Some(Worker::Session),
            _ => self.name(node, AgentName::parse).map(Worker::Agent),
        }
    }

    pub(super) fn worker_settings(&mut self, fields: &Fields<'_>) -> WorkerSettings {
        let conversation = self.optional(fields, "conversation", |reader, node| {
            reader.word(
                node,
                CONVERSATIONS,
                &[Conversation::Fresh, Conversation::Same],
            )
        });
        let models = self.optional(fields, "model", Self::models);
        let mut models = models.unwrap_or_default().into_iter();
        let model = models.next();
        let of_models = models.map(|model| Fallback {
            runner: None,
            model: Some(model),
        });
        let others = self.optional(fields, "fallback", |reader, node| {
            reader.filled_items(node, Self::fallback)
        });
        let others = others.unwrap_or_default();
        WorkerSettings {
            runner: self.optional(fields, "runner", |reader, node| {
                reader.name(node, RunnerName::parse)
            }),
            model,
            prompt: self.optional(fields, "prompt", Self::existing_file),
            conversation: conversation.unwrap_or_default(),
            fallbacks: of_models.chain(others).collect(),
        }
    }

    /// One model, or several in their order.
    fn models(&mut self, node: &Node) -> Option<Vec<String>> {
        match &node.value {
            Value::List(_) => self.filled_items(node, Self::filled),
            _ => self.filled(node).map(|model| vec![model]),
        }
    }

    /// A list with at least one member.
    fn filled_items<T>(
        &mut self,
        node: &Node,
        read: impl FnMut(&mut Self, &Node) -> Option<T>,
    ) -> Option<Vec<T>> {
        if let Value::List(members) = &node.value
            && members.is_empty()
        {
            let (message, hint) = ("this list is empty", "name at least one, or remove the key");
            self.report(LanguageRule::Empty, &node.span, message.to_owned(), hint);
            return None;
        }
        self.items(node, read)
    }

    fn fallback(&mut self, node: &Node) -> Option<Fallback> {
        let fields = &self.fields(node, &vocabulary::FALLBACK)?;
        let runner = self.optional(fields, "runner", |reader, node| {
            reader.name(node, RunnerName::parse)
        });
        let model = self.optional(fields, "model", Self::filled);
        Some(Fallback { runner, model })
    }

    pub(super) fn artifact_name(&mut self, node: &Node) -> Option<ArtifactName> {
        self.name(node, ArtifactName::parse)
    }

    /// Artifacts to hand over; a question mark makes one optional, as `"fixed?"`.
    pub(super) fn reads(&mut self, fields: &Fields<'_>) -> Reads {
        let mut reads = Reads::default();
        let names = self.list(fields, "reads", |reader, node| {
            let text = reader.text(node)?;
            let (name, kept) = match text.strip_suffix('?') {
                Some(name) => (name, ReadNeed::IfThere),
                None => (text, ReadNeed::Needed),
            };
            Some((
                reader.parse_name(name, &node.span, ArtifactName::parse)?,
                kept,
            ))
        });
        for (name, kept) in names {
            match kept {
                ReadNeed::Needed => reads.needed.push(name),
                ReadNeed::IfThere => reads.if_there.push(name),
            }
        }
        reads
    }

    /// A list, or a list for each outcome.
    fn leaves(&mut self, node: &Node) -> Option<Leaves> {
        match &node.value {
            Value::List(_) => {
                let always = self.items(node, Self::artifact_name)?;
                Some(Leaves {
                    always,
                    by_outcome: BTreeMap::new(),
                })
            }
            Value::Table(_) => {
                let entries = self.entries(node)?.iter();
                let lists = entries
                    .filter_map(|entry| self.leaves_of_outcome(entry))
                    .collect();
                Some(left_with_every_outcome(lists))
            }
            _ => {
                let hint = "write [\"artifact\"], or { outcome = [\"artifact\"] }";
                self.wrong_type(node, "a list of artifacts, or one for each outcome", hint)
            }
        }
    }

    fn leaves_of_outcome(&mut self, entry: &Entry) -> Option<(Outcome, Vec<ArtifactName>)> {
        let outcome = self.key(entry, Outcome::parse);
        let artifacts = self.items(&entry.node, Self::artifact_name);
        Some((outcome?, artifacts?))
    }

    pub(super) fn open_work(&mut self, fields: &Fields<'_>) -> Option<OpenWork> {
        let allow = self.list(fields, "allow", Self::pattern);
        let (after, leaves) = (self.after(fields), self.leaves_by_agent(fields));
        Some(OpenWork {
            allow,
            after,
            leaves,
        })
    }

    fn leaves_by_agent(&mut self, fields: &Fields<'_>) -> Vec<(AgentPattern, Vec<ArtifactName>)> {
        self.map(fields, "leaves", |reader, entry| {
            let agent = reader.key_pattern(entry);
            let artifacts = reader.items(&entry.node, Self::artifact_name);
            Some((agent?, artifacts?))
        })
    }

    pub(super) fn ask_work(&mut self, fields: &Fields<'_>) -> Option<AskWork> {
        let question = self.required(fields, "ask", Self::filled);
        let questions = match (fields.get("from"), fields.get("leaves")) {
            (None, None) => Some(Questions::Choice { leaves: None }),
            (Some(from), Some(leaves)) => {
                let (field, leaves) = (self.field_of(from), self.artifact_name(leaves));
                field
                    .zip(leaves)
                    .map(|(field, leaves)| Questions::From { field, leaves })
            }
            (Some(_), None) => self.missing(fields, "leaves"),
            (None, Some(leaves)) => self.artifact_name(leaves).map(|leaves| Questions::Choice {
                leaves: Some(leaves),
            }),
        };
        Some(AskWork {
            question: question?,
            questions: questions?,
        })
    }

    pub(super) fn review_work(&mut self, fields: &Fields<'_>) -> Option<ReviewWork> {
        let owner = self.required(fields, "review", |reader, node| {
            reader.name(node, AgentName::parse)
        });
        let owner_settings = self.worker_settings(fields);
        let panel = self.required(fields, "panel", |reader, node| {
            reader.items(node, Self::reviewer)
        });
        let rounds = self.required(fields, "rounds", Self::amount);
        let reads = self.reads(fields);
        let of = self.optional(fields, "of", Self::artifact_name);
        let fixes = self.list(fields, "fixes", Self::artifact_name);
        let (owner, panel, rounds) = (owner?, panel?, rounds?);
        Some(ReviewWork {
            owner,
            owner_settings,
            panel,
            rounds,
            of,
            reads,
            fixes,
        })
    }

    fn reviewer(&mut self, node: &Node) -> Option<Reviewer> {
        let fields = &self.fields(node, &vocabulary::REVIEWER)?;
        let agent = self.required(fields, "agent", |reader, node| {
            reader.name(node, AgentName::parse)
        });
        let leaves = self.required(fields, "leaves", Self::artifact_name);
        let settings = self.worker_settings(fields);
        let last_word = self
            .optional(fields, "final", Self::flag)
            .unwrap_or_default();
        Some(Reviewer {
            agent: agent?,
            settings,
            leaves: leaves?,
            last_word,
        })
    }

    pub(super) fn end_work(&mut self, fields: &Fields<'_>) -> Option<EndWork> {
        let end = self.required(fields, "end", |reader, node| {
            reader.word(node, ENDS, &[End::Completed, End::Failed, End::Cancelled])
        });
        let (after, leaves) = (self.after(fields), self.leaves_by_agent(fields));
        Some(EndWork {
            end: end?,
            after,
            leaves,
        })
    }
}

/// What every listed outcome needs is always needed.
fn left_with_every_outcome(mut lists: BTreeMap<Outcome, Vec<ArtifactName>>) -> Leaves {
    let first = lists.values().next().cloned().unwrap_or_default();
    let everywhere = |name: &ArtifactName| lists.values().all(|list| list.contains(name));
    let always: Vec<ArtifactName> = first.into_iter().filter(everywhere).collect();
    for list in lists.values_mut() {
        list.retain(|name| !always.contains(name));
    }
    lists.retain(|_, list| !list.is_empty());
    Leaves {
        always,
        by_outcome: lists,
    }
}
