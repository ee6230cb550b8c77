//! Stages of another definition, with all that they need, under a prefix.

use std::collections::BTreeSet;

use super::Report;
use super::declared_names::{Named, each};
use super::selection::{Selection, shape_of};
use crate::diagnostic::quote;
use crate::read::UsedPart;
use crate::rule::LanguageRule;
use crate::tree::{Entry, Node, Value};
use crate::vocabulary::{Declared, Shape};

/// Tables whose members come along where a brought stage names them, under the prefix.
const PREFIXED: [(&str, Declared); 2] = [
    ("artifacts", Declared::Artifact),
    ("counters", Declared::Counter),
];

/// Lists that come along whole: they are about files that the stages leave behind.
const WHOLE_LISTS: [&str; 4] = ["ignores", "litter", "carry", "carry_back"];

/// The part as a definition of its own, which has only what the stages need.
pub(super) fn bring(used: &UsedPart, whole: &Node, report: &mut Report<'_, '_>) -> Option<Node> {
    let mut part = Selection::new(used, whole, report)?;
    part.follow();
    if let Some((stage, target)) = part.loose_end() {
        let message = format!(
            "{} leads to {}, which is neither brought nor replaced",
            quote(&stage),
            quote(&target)
        );
        let hint =
            format!("add it to `stages`, or write with.{target} = \"…\", a stage of this pipeline");
        report.add(LanguageRule::LooseEnd, &used.prefix, message, hint);
        return None;
    }
    Some(part.renamed())
}

impl Selection<'_> {
    fn rename(&self, node: &mut Node, shape: &Shape) {
        each(node, shape, &mut |named, name| {
            let renamed = match named {
                Named::Declared(declared) => self.renaming(declared, name),
                Named::AgentOrGroup if self.groups.contains(name) => Some(self.prefixed(name)),
                Named::AgentOrGroup | Named::Agent | Named::TargetParam => None,
            };
            if let Some(renamed) = renamed {
                *name = renamed;
            }
        });
    }

    /// The part as a tree.
    fn renamed(&self) -> Node {
        let mut entries = vec![self.table("stages", &self.stages)];
        for (table, declared) in PREFIXED {
            let names = match declared {
                Declared::Artifact => &self.artifacts,
                _ => &self.counters,
            };
            entries.push(self.table(table, names));
        }
        entries.push(self.table("groups", &self.groups));
        entries.push(self.params());
        entries.push(self.list("gives", |item| {
            item.text().is_some_and(|path| self.is_needed(path))
        }));
        for key in WHOLE_LISTS {
            entries.push(self.list(key, |_| true));
        }
        entries.push(self.promises());
        entries.extend(
            self.whole
                .entry("settings")
                .filter(|_| !self.params.is_empty())
                .cloned(),
        );
        Node {
            span: self.whole.span.clone(),
            value: Value::Table(
                entries
                    .into_iter()
                    .filter(|entry| !entry.node.is_empty())
                    .collect(),
            ),
        }
    }

    fn table(&self, table: &str, names: &BTreeSet<String>) -> Entry {
        let all = self.whole.get(table).map(Node::entries).unwrap_or_default();
        let members = all
            .iter()
            .filter(|entry| names.contains(&entry.key))
            .cloned();
        let members = members.map(|mut entry| {
            self.rename(&mut entry.node, &shape_of(table));
            self.rename_params(&mut entry.node);
            Entry {
                key: self.prefixed(&entry.key),
                ..entry
            }
        });
        self.entry(table, Value::Table(members.collect()))
    }

    /// The parameters that the stages use. Their texts hold no names but those of stages.
    fn params(&self) -> Entry {
        let all = self.whole.get("params").map(Node::entries);
        let needed = all.unwrap_or_default().iter().filter(|entry| {
            self.params.contains(&entry.key) && !self.used.with.contains_key(&entry.key)
        });
        let needed = needed.cloned().map(|mut entry| {
            if self.target_params.contains(&entry.key) {
                self.rename_stages(&mut entry.node);
            }
            Entry {
                key: self.prefixed(&entry.key),
                ..entry
            }
        });
        self.entry("params", Value::Table(needed.collect()))
    }

    /// Parameters in braces, wherever a text has them.
    fn rename_params(&self, node: &mut Node) {
        match &mut node.value {
            Value::Text(text) => {
                for param in &self.params {
                    let replaced = self.used.with.get(param).map(|word| word.text.clone());
                    let renamed = replaced.unwrap_or_else(|| self.prefixed(param));
                    *text = text.replace(&format!("{{{param}}}"), &format!("{{{renamed}}}"));
                }
            }
            Value::List(items) => items.iter_mut().for_each(|item| self.rename_params(item)),
            Value::Table(entries) => {
                for entry in entries {
                    self.rename_params(&mut entry.node);
                }
            }
            _ => {}
        }
    }

    /// The values of a parameter that chooses a stage.
    fn rename_stages(&self, node: &mut Node) {
        match &mut node.value {
            Value::Text(text) => {
                if let Some(renamed) = self.renaming(Declared::Stage, text) {
                    *text = renamed;
                }
            }
            Value::List(items) => items.iter_mut().for_each(|item| self.rename_stages(item)),
            Value::Table(entries) => {
                let holds_stages =
                    |entry: &&mut Entry| !matches!(entry.key.as_str(), "about" | "setting" | "is");
                let entries = entries.iter_mut().filter(holds_stages);
                entries.for_each(|entry| self.rename_stages(&mut entry.node));
            }
            _ => {}
        }
    }

    /// Skills, and the files of the agents that work in the stages. Slash commands are the user's own.
    fn is_needed(&self, path: &str) -> bool {
        let agent = path
            .strip_prefix("agents/")
            .and_then(|name| name.strip_suffix(".md"));
        match agent {
            Some(agent) => self.agents.contains(agent),
            None => path.starts_with("skills/"),
        }
    }

    /// The promises about brought stages alone: they hold here too, or `lint` says why not.
    fn promises(&self) -> Entry {
        let Entry { node, .. } = self.list("prove", |proof| self.is_about_brought_stages(proof));
        let mut node = node;
        if let Value::List(proofs) = &mut node.value {
            for proof in proofs {
                self.rename(proof, &shape_of("prove"));
                if let Some(Value::Text(name)) = proof.value_mut("name") {
                    *name = format!("{}: {name}", self.used.prefix.text);
                }
            }
        }
        self.entry("prove", node.value)
    }

    fn is_about_brought_stages(&self, proof: &Node) -> bool {
        let (mut stages, mut strangers) = (0, 0);
        each(
            &mut proof.clone(),
            &shape_of("prove"),
            &mut |named, name| match named {
                Named::Declared(_) if self.stages.contains(name) => stages += 1,
                _ => strangers += 1,
            },
        );
        stages > 0 && strangers == 0
    }

    fn list(&self, key: &str, keep: impl Fn(&Node) -> bool) -> Entry {
        let items = self.whole.get(key).map(Node::items).unwrap_or_default();
        let kept = items.iter().filter(|item| keep(item)).cloned();
        self.entry(key, Value::List(kept.collect()))
    }

    fn entry(&self, key: &str, value: Value) -> Entry {
        let span = self.whole.span.clone();
        Entry {
            key: key.to_owned(),
            key_span: span.clone(),
            node: Node { span, value },
        }
    }
}

impl Node {
    fn is_empty(&self) -> bool {
        match &self.value {
            Value::Table(entries) => entries.is_empty(),
            Value::List(items) => items.is_empty(),
            _ => false,
        }
    }

    fn value_mut(&mut self, key: &str) -> Option<&mut Value> {
        match &mut self.value {
            Value::Table(entries) => {
                let entry = entries.iter_mut().find(|entry| entry.key == key);
                entry.map(|entry| &mut entry.node.value)
            }
            _ => None,
        }
    }
}
