//! Edges: where an outcome, or the end of an agent, leads.

use std::collections::BTreeMap;

use engine::{
    After, ArtifactName, CounterName, Edge, Outcome, ParamName, StageName, Target, WordsRule,
    nearest,
};

use super::value::braced;
use super::{Fields, Reader};
use crate::diagnostic::quote;
use crate::rule::LanguageRule;
use crate::tree::{Node, Value};
use crate::vocabulary;

const INTERRUPTED: &str = "@interrupted";

impl Reader<'_> {
    pub(super) fn on(&mut self, fields: &Fields<'_>) -> BTreeMap<Outcome, Edge> {
        let edges = self.map(fields, "on", |reader, entry| {
            let (outcome, edge) = (reader.key(entry, Outcome::parse), reader.edge(&entry.node));
            Some((outcome?, edge?))
        });
        edges.into_iter().collect()
    }

    pub(super) fn after(&mut self, fields: &Fields<'_>) -> Vec<After> {
        self.map(fields, "after", |reader, entry| {
            let (agent, edge) = (reader.key_pattern(entry), reader.edge(&entry.node));
            Some(After {
                agent: agent?,
                edge: edge?,
            })
        })
    }

    fn edge(&mut self, node: &Node) -> Option<Edge> {
        match &node.value {
            Value::Text(_) => {
                let to = self.target(node)?;
                Some(Edge {
                    to,
                    count: None,
                    reset: Vec::new(),
                    approves: Vec::new(),
                    words: WordsRule::default(),
                })
            }
            Value::Table(_) => self.long_edge(node),
            _ => self.wrong_type(
                node,
                "a stage or a table",
                "write \"stage\" or { to = \"stage\" }",
            ),
        }
    }

    fn long_edge(&mut self, node: &Node) -> Option<Edge> {
        let fields = &self.fields(node, &vocabulary::EDGE)?;
        let to = self.required(fields, "to", Self::target);
        let count = self.optional(fields, "count", |reader, node| {
            reader.name(node, CounterName::parse)
        });
        let reset = self.list(fields, "reset", |reader, node| {
            reader.name(node, CounterName::parse)
        });
        let approves = self.list(fields, "approves", |reader, node| {
            reader.name(node, ArtifactName::parse)
        });
        let words = self.words_rule(fields);
        Some(Edge {
            to: to?,
            count,
            reset,
            approves,
            words: words.unwrap_or_default(),
        })
    }

    /// Must a person say something? An edge and a whole question write it in the same way.
    pub(super) fn words_rule(&mut self, fields: &Fields<'_>) -> Option<WordsRule> {
        self.optional(fields, "text", |reader, node| {
            let rules = [WordsRule::Optional, WordsRule::Required];
            reader.word(node, vocabulary::WORDS_RULES, &rules)
        })
    }

    fn target(&mut self, node: &Node) -> Option<Target> {
        let text = self.text(node)?;
        if text == INTERRUPTED {
            return Some(Target::Interrupted);
        }
        if let Some(param) = braced(text) {
            return self
                .parse_name(param, &node.span, ParamName::parse)
                .map(Target::Param);
        }
        if text.starts_with(['@', '{']) {
            let message = format!("{} is not a target", quote(text));
            let hint = match nearest(text, [INTERRUPTED]) {
                Some(_) => "did you mean `@interrupted`?",
                None => "write a stage, \"@interrupted\", or a parameter as \"{name}\"",
            };
            self.report(LanguageRule::BadTarget, &node.span, message, hint);
            return None;
        }
        self.parse_name(text, &node.span, StageName::parse)
            .map(Target::Stage)
    }
}
