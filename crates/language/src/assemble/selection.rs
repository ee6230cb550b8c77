//! What comes along when stages of another definition are used.

use std::collections::BTreeSet;

use super::Report;
use super::declared_names::{Named, each};
use crate::diagnostic::quote;
use crate::read::UsedPart;
use crate::rule::LanguageRule;
use crate::tree::{Node, Value};
use crate::vocabulary::{Declared, PIPELINE, Shape};

/// Tables of which a member may be replaced by one of the definition that uses the part.
const REPLACEABLE: [&str; 4] = ["stages", "artifacts", "counters", "params"];

/// What comes along, by the names of the other definition.
pub(super) struct Selection<'u> {
    pub(super) used: &'u UsedPart,
    pub(super) whole: &'u Node,
    pub(super) stages: BTreeSet<String>,
    pub(super) artifacts: BTreeSet<String>,
    pub(super) counters: BTreeSet<String>,
    pub(super) groups: BTreeSet<String>,
    pub(super) agents: BTreeSet<String>,
    /// Parameters that are used at all, and those whose value is a stage.
    pub(super) params: BTreeSet<String>,
    pub(super) target_params: BTreeSet<String>,
}

impl<'u> Selection<'u> {
    pub(super) fn new(
        used: &'u UsedPart,
        whole: &'u Node,
        report: &mut Report<'_, '_>,
    ) -> Option<Self> {
        let known = names(whole, "stages");
        let mut is_known = true;
        for stage in used.stages.iter().flatten() {
            if !known.contains(&stage.text) {
                let message = format!(
                    "{} has no stage {}",
                    quote(&used.from.text),
                    quote(&stage.text)
                );
                let hint = nearest_hint(&stage.text, &known);
                report.add(LanguageRule::UnknownPart, stage, message, hint);
                is_known = false;
            }
        }
        let replaceable: BTreeSet<String> = REPLACEABLE
            .iter()
            .flat_map(|table| names(whole, table))
            .collect();
        for (name, word) in &used.with {
            if !replaceable.contains(name) {
                let message = format!(
                    "{} has no stage, artifact, counter or parameter {}",
                    quote(&used.from.text),
                    quote(name)
                );
                let hint = nearest_hint(name, &replaceable);
                report.add(LanguageRule::UnknownPart, word, message, hint);
                is_known = false;
            }
        }
        let stages = match &used.stages {
            Some(stages) => stages.iter().map(|stage| stage.text.clone()).collect(),
            None => known
                .into_iter()
                .filter(|name| !used.with.contains_key(name))
                .collect(),
        };
        is_known.then_some(Self {
            used,
            whole,
            stages,
            artifacts: BTreeSet::new(),
            counters: BTreeSet::new(),
            groups: BTreeSet::new(),
            agents: BTreeSet::new(),
            params: BTreeSet::new(),
            target_params: BTreeSet::new(),
        })
    }

    /// Collects what the stages name, and what that names.
    pub(super) fn follow(&mut self) {
        let (groups, params) = (names(self.whole, "groups"), names(self.whole, "params"));
        let mut open: Vec<(&str, String)> = self
            .stages
            .iter()
            .map(|name| ("stages", name.clone()))
            .collect();
        while let Some((table, name)) = open.pop() {
            let Some(mut node) = member(self.whole, table, &name).cloned() else {
                continue;
            };
            self.params
                .extend(params_in(&node).intersection(&params).cloned());
            each(
                &mut node,
                &shape_of(table),
                &mut |named, name| match named {
                    Named::Declared(Declared::Param) => {
                        self.params.insert(name.clone());
                    }
                    Named::Declared(declared) => {
                        if let Some((table, wanted)) = self.wanted(declared, name)
                            && wanted.insert(name.clone())
                        {
                            open.push((table, name.clone()));
                        }
                    }
                    Named::TargetParam => {
                        self.params.insert(name.clone());
                        self.target_params.insert(name.clone());
                    }
                    Named::AgentOrGroup if groups.contains(name) => {
                        if self.groups.insert(name.clone()) {
                            open.push(("groups", name.clone()));
                        }
                    }
                    Named::AgentOrGroup | Named::Agent => {
                        self.agents.insert(name.clone());
                    }
                },
            );
        }
    }

    /// The set in which a needed name is noted, unless it comes from elsewhere.
    fn wanted(
        &mut self,
        declared: Declared,
        name: &str,
    ) -> Option<(&'static str, &mut BTreeSet<String>)> {
        if self.used.with.contains_key(name) {
            return None;
        }
        match declared {
            Declared::Artifact => Some(("artifacts", &mut self.artifacts)),
            Declared::Counter => Some(("counters", &mut self.counters)),
            Declared::CounterOrStage if names(self.whole, "counters").contains(name) => {
                Some(("counters", &mut self.counters))
            }
            Declared::Stage | Declared::CounterOrStage | Declared::Param => None,
        }
    }

    /// A brought thing and the stage to which it leads, if that stage is not here.
    pub(super) fn loose_end(&self) -> Option<(String, String)> {
        let sets = [
            ("stages", &self.stages),
            ("artifacts", &self.artifacts),
            ("counters", &self.counters),
        ];
        for (table, names) in sets {
            for name in names {
                let mut found = None;
                let mut node = member(self.whole, table, name).cloned()?;
                each(&mut node, &shape_of(table), &mut |named, target| {
                    if named == Named::Declared(Declared::Stage)
                        && self.renaming(Declared::Stage, target).is_none()
                    {
                        found.get_or_insert_with(|| target.clone());
                    }
                });
                if let Some(target) = found {
                    return Some((name.clone(), target));
                }
            }
        }
        let brought = |param: &&String| !self.used.with.contains_key(*param);
        let mut params = self.target_params.iter().filter(brought);
        params.find_map(|param| {
            let node = member(self.whole, "params", param)?;
            let choices = node.get("choices").map(Node::items).unwrap_or_default();
            let mut stages = choices.iter().filter_map(Node::text);
            let loose = stages.find(|stage| self.renaming(Declared::Stage, stage).is_none())?;
            Some((param.clone(), loose.to_owned()))
        })
    }

    /// What a name is called in the definition that uses the part.
    pub(super) fn renaming(&self, declared: Declared, name: &str) -> Option<String> {
        if let Some(word) = self.used.with.get(name) {
            return Some(word.text.clone());
        }
        let is_brought = match declared {
            Declared::Stage => self.stages.contains(name),
            Declared::Artifact => self.artifacts.contains(name),
            Declared::Counter => self.counters.contains(name),
            Declared::CounterOrStage => self.counters.contains(name) || self.stages.contains(name),
            Declared::Param => self.params.contains(name),
        };
        is_brought.then(|| self.prefixed(name))
    }

    pub(super) fn prefixed(&self, name: &str) -> String {
        format!("{}-{name}", self.used.prefix.text)
    }
}

fn names(whole: &Node, table: &str) -> BTreeSet<String> {
    let entries = whole.get(table).map(Node::entries).unwrap_or_default();
    entries.iter().map(|entry| entry.key.clone()).collect()
}

fn member<'n>(whole: &'n Node, table: &str, name: &str) -> Option<&'n Node> {
    whole.get(table)?.get(name)
}

/// What one member of a table or list at the top of a file looks like.
pub(super) fn shape_of(key: &str) -> Shape {
    let shape = PIPELINE
        .keys()
        .find(|known| known.name == key)
        .map(|known| known.shape);
    match shape {
        Some(Shape::Map { values, .. }) => *values,
        Some(Shape::List(item)) => *item,
        other => other.unwrap_or(Shape::Text),
    }
}

/// Every name in braces in the texts of this tree.
fn params_in(node: &Node) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    match &node.value {
        Value::Text(text) => {
            let inner = text
                .split('{')
                .skip(1)
                .filter_map(|rest| rest.split_once('}'));
            found.extend(inner.map(|(name, _)| name.to_owned()));
        }
        Value::List(items) => found.extend(items.iter().flat_map(params_in)),
        Value::Table(entries) => {
            found.extend(entries.iter().flat_map(|entry| params_in(&entry.node)));
        }
        _ => {}
    }
    found
}

fn nearest_hint(word: &str, known: &BTreeSet<String>) -> String {
    match engine::nearest(word, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean {}?", quote(near)),
        None => {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            format!("there are {}", known.join(", "))
        }
    }
}
