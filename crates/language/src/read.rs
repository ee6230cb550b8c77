//! The reader: the tree in, an `engine::Definition` out, and every problem on the way collected.

mod artifact;
mod check;
mod definition;
mod edge;
mod host;
mod placement;
mod proof;
mod route;
mod schema_text;
mod stage;
mod steps;
mod uses;
mod value;
mod view;
pub(crate) mod words;
mod work;

use std::collections::BTreeMap;

use engine::{CheckRule, Definition, NameError, Severity, nearest};

use crate::diagnostic::{Diagnostic, Problems, listed, quote};
use crate::limits::MOST_MEMBERS;
use crate::rule::LanguageRule;
use crate::tree::{Entry, Node, Span, Value};
use crate::vocabulary::Table;
use schema_text::Schemas;
pub(crate) use uses::{UsedPart, Uses, Word, uses};

/// Reads the whole tree. There is a definition only if no problem was found.
pub(crate) fn read(
    file: &str,
    root: &Node,
    files: &BTreeMap<String, Vec<u8>>,
    problems: &mut Problems,
) -> Option<Definition> {
    let mut reader = Reader::new(file, files, problems);
    let definition = reader.definition(root);
    definition.filter(|_| problems.is_empty())
}

/// Its methods take a node and return its value, or report why there is none.
///
/// After a problem, reading continues with the next key, so that people see all problems at once.
struct Reader<'a> {
    file: &'a str,
    files: &'a BTreeMap<String, Vec<u8>>,
    problems: &'a mut Problems,
    schemas: Schemas,
}

/// A table whose keys are all known.
#[derive(Clone, Copy)]
struct Fields<'t> {
    node: &'t Node,
    table: &'static Table,
}

impl<'t> Fields<'t> {
    fn get(&self, key: &'static str) -> Option<&'t Node> {
        debug_assert!(
            self.table.has(key),
            "{key} is not in the vocabulary of {}",
            self.table.name
        );
        #[cfg(test)]
        asked::note(self.table.name, key);
        self.node.get(key)
    }

    /// Is this key misspelt? Then that has been reported already.
    fn is_mistyped(&self, key: &'static str) -> bool {
        let unknown = self
            .node
            .entries()
            .iter()
            .filter(|entry| !self.table.has(&entry.key));
        let known = || self.table.keys().map(|known| known.name);
        unknown
            .map(|entry| nearest(&entry.key, known()))
            .any(|meant| meant == Some(key))
    }
}

impl<'a> Reader<'a> {
    fn new(
        file: &'a str,
        files: &'a BTreeMap<String, Vec<u8>>,
        problems: &'a mut Problems,
    ) -> Self {
        Self {
            file,
            files,
            problems,
            schemas: Schemas::default(),
        }
    }
}

impl Reader<'_> {
    fn report(
        &mut self,
        rule: LanguageRule,
        span: &Span,
        message: String,
        hint: impl Into<String>,
    ) {
        self.problems
            .push(Diagnostic::new(rule, self.file, message, hint.into()).at(span));
    }

    /// Opens a table and reports the keys that it should not have.
    fn fields<'t>(&mut self, node: &'t Node, table: &'static Table) -> Option<Fields<'t>> {
        for entry in self.entries(node)? {
            if !table.has(&entry.key) {
                self.unknown_key(entry, table);
            }
        }
        Some(Fields { node, table })
    }

    fn unknown_key(&mut self, entry: &Entry, table: &Table) {
        const SHORT: usize = 12;
        let known: Vec<&str> = table.keys().map(|key| key.name).collect();
        let hint = match nearest(&entry.key, known.iter().copied()) {
            Some(meant) => format!("did you mean {}?", quote(meant)),
            None if known.len() <= SHORT => format!("{} has {}", table.name, listed(known, "and")),
            None => String::from("remove it; `gatewright schema` prints all keys"),
        };
        let message = format!("{} has no key {}", table.name, quote(&entry.key));
        self.report(LanguageRule::UnknownKey, &entry.key_span, message, hint);
    }

    /// The value of a key that may be absent.
    fn optional<T>(
        &mut self,
        fields: &Fields<'_>,
        key: &'static str,
        read: impl FnOnce(&mut Self, &Node) -> Option<T>,
    ) -> Option<T> {
        fields.get(key).and_then(|node| read(self, node))
    }

    /// The value of a required key.
    fn required<T>(
        &mut self,
        fields: &Fields<'_>,
        key: &'static str,
        read: impl FnOnce(&mut Self, &Node) -> Option<T>,
    ) -> Option<T> {
        match fields.get(key) {
            Some(node) => read(self, node),
            None => self.missing(fields, key),
        }
    }

    fn missing<T>(&mut self, fields: &Fields<'_>, key: &'static str) -> Option<T> {
        if !fields.is_mistyped(key) {
            let about = fields
                .table
                .keys()
                .find(|known| known.name == key)
                .map(|known| known.about);
            let message = format!("{} has no `{key}`", fields.table.name);
            let hint = format!("add `{key}`: {}", about.unwrap_or_default());
            self.report(LanguageRule::MissingKey, &fields.node.span, message, hint);
        }
        None
    }

    /// A list's members, without those that could not be read; empty when the key is absent.
    fn list<T>(
        &mut self,
        fields: &Fields<'_>,
        key: &'static str,
        read: impl FnMut(&mut Self, &Node) -> Option<T>,
    ) -> Vec<T> {
        fields
            .get(key)
            .and_then(|node| self.items(node, read))
            .unwrap_or_default()
    }

    fn items<T>(
        &mut self,
        node: &Node,
        mut read: impl FnMut(&mut Self, &Node) -> Option<T>,
    ) -> Option<Vec<T>> {
        match &node.value {
            Value::List(items) => {
                self.within_limits(node, items.len())?;
                Some(items.iter().filter_map(|item| read(self, item)).collect())
            }
            _ => self.wrong_type(node, "a list", "write it in brackets, such as [\"…\"]"),
        }
    }

    /// The members of a table whose keys are the user's own, in the order of the file.
    fn map<T>(
        &mut self,
        fields: &Fields<'_>,
        key: &'static str,
        mut read: impl FnMut(&mut Self, &Entry) -> Option<T>,
    ) -> Vec<T> {
        let entries = fields
            .get(key)
            .and_then(|node| self.entries(node))
            .unwrap_or_default();
        entries
            .iter()
            .filter_map(|entry| read(self, entry))
            .collect()
    }

    fn entries<'t>(&mut self, node: &'t Node) -> Option<&'t [Entry]> {
        match &node.value {
            Value::Table(entries) => {
                self.within_limits(node, entries.len())?;
                Some(entries)
            }
            _ => self.wrong_type(node, "a table", "write it in braces, or under a header"),
        }
    }

    /// Refuses what would be slow to check, before it is checked.
    fn within_limits(&mut self, node: &Node, members: usize) -> Option<()> {
        if members <= MOST_MEMBERS {
            return Some(());
        }
        self.problems.push(Diagnostic {
            code: CheckRule::TooMany.code(),
            severity: Severity::Error,
            file: String::from(self.file),
            span: Some(node.span.clone()),
            message: format!("this has {members} members, but only {MOST_MEMBERS} are allowed"),
            hint: String::from("split it into several pipelines"),
        });
        None
    }

    fn wrong_type<T>(&mut self, node: &Node, wanted: &str, hint: impl Into<String>) -> Option<T> {
        if matches!(node.value, Value::Unreadable) {
            return None;
        }
        let message = format!("expected {wanted}, found {}", node.kind());
        self.report(LanguageRule::WrongType, &node.span, message, hint);
        None
    }

    /// A text as a name of some type.
    fn name<T>(
        &mut self,
        node: &Node,
        parse: impl FnOnce(&str) -> Result<T, NameError>,
    ) -> Option<T> {
        let text = self.text(node)?;
        self.parse_name(text, &node.span, parse)
    }

    /// A key as a name of some type.
    fn key<T>(
        &mut self,
        entry: &Entry,
        parse: impl FnOnce(&str) -> Result<T, NameError>,
    ) -> Option<T> {
        self.parse_name(&entry.key, &entry.key_span, parse)
    }

    fn parse_name<T>(
        &mut self,
        text: &str,
        span: &Span,
        parse: impl FnOnce(&str) -> Result<T, NameError>,
    ) -> Option<T> {
        match parse(text) {
            Ok(name) => Some(name),
            Err(error) => {
                let message = format!("{} is not a name: {error}", quote(text));
                let hint = "use letters, digits, `-` and `_`, and begin with a letter or a digit";
                self.report(LanguageRule::BadName, span, message, hint);
                None
            }
        }
    }
}

/// The keys that the reader has asked for, so that a test can compare them with the vocabulary.
#[cfg(test)]
pub(crate) mod asked {
    use std::cell::RefCell;
    use std::collections::BTreeSet;

    /// A table's name and one of its keys.
    type AskedKey = (&'static str, &'static str);

    thread_local! {
        static ASKED: RefCell<BTreeSet<AskedKey>> = const { RefCell::new(BTreeSet::new()) };
    }

    pub(super) fn note(table: &'static str, key: &'static str) {
        ASKED.with_borrow_mut(|asked| asked.insert((table, key)));
    }

    pub(crate) fn all() -> BTreeSet<AskedKey> {
        ASKED.with_borrow(Clone::clone)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use expect_test::expect_file;

    use super::*;
    use crate::builtin;
    use crate::source::{SourceFile, parse};

    fn definition(name: &str, text: &str, files: &BTreeMap<String, Vec<u8>>) -> Definition {
        let main = SourceFile {
            name: name.into(),
            bytes: text.into(),
        };
        let mut problems = Problems::default();
        let root = parse(&main, &mut problems);
        let definition = root.and_then(|root| read(name, &root, files, &mut problems));
        definition.unwrap_or_else(|| panic!("{name}: {problems:?}"))
    }

    /// What `every-key.toml` refers to.
    pub(crate) fn every_file() -> BTreeMap<String, Vec<u8>> {
        let paths = [
            "agents/work.md",
            "boards/board.md.j2",
            "commands/go.md",
            "graph.json",
            "prompts/work.md",
            "protocol.md",
            "skills/look/SKILL.md",
            "skills/look/look.sh",
        ];
        paths.map(|path| (path.into(), b"{}".to_vec())).into()
    }

    #[test]
    fn every_key_arrives_where_it_belongs() {
        let text = include_str!("../tests/every-key.toml");
        let definition = definition("every-key.toml", text, &every_file());
        expect_file!["../tests/every-key.txt"].assert_eq(&told(definition));
    }

    /// One line for each thing that the definition says.
    fn told(definition: Definition) -> String {
        let Definition {
            artifacts, stages, ..
        } = definition;
        let rest = Definition {
            artifacts: BTreeMap::new(),
            stages: Vec::new(),
            ..definition
        };
        let mut lines = vec![format!("{rest:?}")];
        lines.extend(artifacts.iter().map(|artifact| format!("{artifact:?}")));
        lines.extend(stages.iter().map(|stage| format!("{stage:?}")));
        lines.join("\n\n") + "\n"
    }

    #[test]
    fn json_of_the_same_model_means_the_same() {
        for builtin in builtin::all() {
            let sources = builtin.sources();
            let toml = definition(builtin.name, builtin.text, &sources.files);
            let root = parse(&sources.main, &mut Problems::default()).expect("it can be parsed");
            let text = format!("{:#}", root.to_json());
            let mut json = definition("builtin.json", &text, &sources.files);
            // JSON written by a map has lost the order of the stages.
            json.stages.sort_by_key(|stage| {
                toml.stages
                    .iter()
                    .position(|other| other.name == stage.name)
            });
            assert_eq!(json, toml, "{}", builtin.name);
        }
    }
}
