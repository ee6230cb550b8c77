//! One tree from a definition and those that it extends or uses.
//!
//! Whatever comes from another file is placed where this one names that file, so that every problem
//! of the whole can be shown in the text that the reader has before them.

mod declared_names;
mod overlay;
mod part;
mod selection;

use std::collections::BTreeMap;

use engine::{Severity, nearest};

use crate::builtin;
use crate::diagnostic::{Diagnostic, Problems, quote};
use crate::read::{self, UsedPart, Uses, Word, uses};
use crate::rule::LanguageRule;
use crate::source::{SourceFile, Sources, parse};
use crate::tree::{Entry, Node, Value};

/// How many definitions may stand behind one another.
const MOST_LEVELS: usize = 8;

/// The keys that are about other definitions. The whole has none of them.
const ABOUT_OTHERS: [&str; 3] = ["extends", "without", "use"];

const BREAK_CIRCLE: &str = "remove `extends` or `use` from one of them";

/// Under this prefix a definition's files hold the built-in pipelines that it uses. No definition can
/// refer to a name with a colon.
const BUILTIN: &str = "built-in:";

/// Reads the definition with all that it takes over; what is wrong goes to `problems`.
pub(crate) fn assemble(sources: &Sources, problems: &mut Problems) -> Option<Node> {
    let mut assembly = Assembly {
        files: &sources.files,
        open: Vec::new(),
        done: BTreeMap::new(),
    };
    assembly.whole(&sources.main, problems)
}

/// Where a used definition is among the files of a definition.
pub(crate) fn path_of(used: &str) -> String {
    if is_file(used) {
        used.to_owned()
    } else {
        format!("{BUILTIN}{used}")
    }
}

/// Is this the name of a file, rather than of a built-in pipeline?
pub(crate) fn is_file(used: &str) -> bool {
    used.ends_with(".toml") || used.ends_with(".json")
}

struct Assembly<'s> {
    files: &'s BTreeMap<String, Vec<u8>>,
    /// The used definitions that are being assembled, the innermost last.
    open: Vec<String>,
    /// Those that are assembled and have no problem.
    done: BTreeMap<String, Node>,
}

impl Assembly<'_> {
    fn whole(&mut self, main: &SourceFile, problems: &mut Problems) -> Option<Node> {
        let root = parse(main, problems)?;
        let Uses {
            extends,
            without,
            parts,
        } = uses(&main.name, &root, problems);
        if extends.is_none() && parts.is_empty() && without.is_empty() {
            return Some(root);
        }
        let mut report = Report {
            file: &main.name,
            problems,
        };
        let mut base = match &extends {
            Some(extends) => self.extended(extends, &without, &mut report)?,
            None => {
                report.surplus(&without);
                Node::empty(root.span.clone())
            }
        };
        for part in &parts {
            overlay::lay(&mut base, self.brought(part, &mut report)?);
        }
        overlay::lay(&mut base, root.without_keys(&ABOUT_OTHERS));
        Some(base)
    }

    /// The whole of another definition, without its name.
    fn extended(
        &mut self,
        extends: &Word,
        without: &[Word],
        report: &mut Report<'_, '_>,
    ) -> Option<Node> {
        let mut base = self.used(extends, report)?.without_keys(&["name"]);
        for word in without {
            let keys: Vec<&str> = word.text.split('.').collect();
            if let ["commands", name] = keys[..] {
                // Its file would tell people of a command that does nothing.
                base.remove_given(&format!("commands/{name}.md"));
            }
            if !base.remove(&keys) {
                let message = format!("{} has no {}", quote(&extends.text), quote(&word.text));
                let hint = "write the table and the name in it, such as `commands.multi-ai`";
                report.add(LanguageRule::UnknownPart, word, message, hint);
            }
        }
        base.place_at(&extends.span);
        Some(base)
    }

    fn brought(&mut self, used: &UsedPart, report: &mut Report<'_, '_>) -> Option<Node> {
        let whole = self.used(&used.from, report)?;
        let mut part = part::bring(used, &whole, report)?;
        part.place_at(&used.prefix.span);
        Some(part)
    }

    /// Another definition, assembled and checked on its own.
    fn used(&mut self, used: &Word, report: &mut Report<'_, '_>) -> Option<Node> {
        let name = &used.text;
        if let Some(done) = self.done.get(name) {
            return Some(done.clone());
        }
        if self.open.contains(name) || self.open.len() >= MOST_LEVELS {
            report.circular(used, &self.open);
            return None;
        }
        let Some(bytes) = self.files.get(&path_of(name)) else {
            report.unknown(used);
            return None;
        };
        let main = SourceFile {
            name: name.clone(),
            bytes: bytes.clone(),
        };
        self.open.push(name.clone());
        let mut own = Problems::default();
        let whole = self.whole(&main, &mut own);
        self.open.pop();
        let whole = whole.filter(|whole| is_sound(name, whole, self.files, &mut own));
        match &whole {
            Some(whole) => {
                self.done.insert(name.clone(), whole.clone());
            }
            None => report.unsound(used, own),
        }
        whole
    }
}

/// Could this definition stand alone?
fn is_sound(
    name: &str,
    whole: &Node,
    files: &BTreeMap<String, Vec<u8>>,
    problems: &mut Problems,
) -> bool {
    let Some(definition) = read::read(name, whole, files, problems) else {
        return false;
    };
    match engine::Pipeline::new(definition) {
        Ok(_) => true,
        Err(found) => {
            let errors = found
                .into_iter()
                .filter(|it| it.rule.severity() == Severity::Error);
            for engine::Problem {
                rule,
                message,
                hint,
                ..
            } in errors
            {
                problems.push(Diagnostic {
                    code: rule.code(),
                    severity: Severity::Error,
                    file: name.to_owned(),
                    span: None,
                    message,
                    hint,
                });
            }
            false
        }
    }
}

/// Where problems with other definitions go.
struct Report<'f, 'p> {
    file: &'f str,
    problems: &'p mut Problems,
}

impl Report<'_, '_> {
    fn add(&mut self, rule: LanguageRule, at: &Word, message: String, hint: impl Into<String>) {
        let problem = Diagnostic::new(rule, self.file, message, hint.into());
        self.problems.push(problem.at(&at.span));
    }

    fn unknown(&mut self, used: &Word) {
        let names = builtin::all().iter().map(|builtin| builtin.name);
        let hint = match nearest(&used.text, names.clone()) {
            Some(near) => format!("did you mean {}?", quote(near)),
            None if is_file(&used.text) => String::from(
                "put the file next to this definition, and write its name without a folder",
            ),
            None => {
                let names: Vec<&str> = names.collect();
                format!(
                    "write a file, such as `base.toml`, or one of {}",
                    names.join(", ")
                )
            }
        };
        let message = format!("there is no pipeline {} to use", quote(&used.text));
        self.add(LanguageRule::UnknownUse, used, message, hint);
    }

    fn circular(&mut self, used: &Word, open: &[String]) {
        let names = open.iter().chain([&used.text]).map(String::as_str);
        let chain = names.collect::<Vec<_>>().join(" uses ");
        let message = if open.contains(&used.text) {
            format!("{} uses itself: {chain}", quote(&used.text))
        } else {
            format!("more than {MOST_LEVELS} pipelines use one another: {chain}")
        };
        self.add(LanguageRule::CircularUse, used, message, BREAK_CIRCLE);
    }

    /// One line for the other definition: its own problems are shown where it is linted.
    fn unsound(&mut self, used: &Word, own: Problems) {
        let first = own.into_sorted(&used.text).into_iter().next();
        let (code, message) = first.map(|problem| (problem.code, problem.message)).unzip();
        let (code, message) = (code.unwrap_or_default(), message.unwrap_or_default());
        if code == LanguageRule::CircularUse.code() {
            self.add(LanguageRule::CircularUse, used, message, BREAK_CIRCLE);
            return;
        }
        let name = quote(&used.text);
        let path = match self.file.rsplit_once('/') {
            Some((folder, _)) if is_file(&used.text) => format!("{folder}/{}", used.text),
            _ => used.text.clone(),
        };
        let hint = format!("`gatewright lint {path}` shows where");
        let message = format!("{name} has problems: {message} [{code}]");
        self.add(LanguageRule::BadUse, used, message, hint);
    }

    fn surplus(&mut self, without: &[Word]) {
        if let Some(first) = without.first() {
            let message = String::from("`without` is for a pipeline that extends another one");
            self.add(
                LanguageRule::UnknownPart,
                first,
                message,
                "add `extends`, or remove it",
            );
        }
    }
}

impl Node {
    fn empty(span: crate::tree::Span) -> Self {
        Self {
            span,
            value: Value::Table(Vec::new()),
        }
    }

    fn without_keys(mut self, keys: &[&str]) -> Self {
        if let Value::Table(entries) = &mut self.value {
            entries.retain(|entry| !keys.contains(&entry.key.as_str()));
        }
        self
    }

    /// Removes what these keys lead to; false if there is no such thing.
    fn remove(&mut self, keys: &[&str]) -> bool {
        let Value::Table(entries) = &mut self.value else {
            return false;
        };
        match keys {
            [] => false,
            [last] => {
                let before = entries.len();
                entries.retain(|entry| entry.key != *last);
                entries.len() < before
            }
            [first, rest @ ..] => {
                let inner = entries.iter_mut().find(|entry| entry.key == *first);
                inner.is_some_and(|entry| entry.node.remove(rest))
            }
        }
    }

    /// Removes a file for the host from the list.
    fn remove_given(&mut self, path: &str) {
        let Value::Table(entries) = &mut self.value else {
            return;
        };
        let gives = entries.iter_mut().find(|entry| entry.key == "gives");
        if let Some(Value::List(items)) = gives.map(|entry| &mut entry.node.value) {
            items.retain(|item| item.text() != Some(path));
        }
    }

    /// Gives everything in it one place.
    fn place_at(&mut self, span: &crate::tree::Span) {
        self.span = span.clone();
        match &mut self.value {
            Value::Table(entries) => {
                for Entry { key_span, node, .. } in entries {
                    *key_span = span.clone();
                    node.place_at(span);
                }
            }
            Value::List(items) => items.iter_mut().for_each(|item| item.place_at(span)),
            _ => {}
        }
    }
}
