//! The layout of a JSON file, so that the lines we add look like the file's own.

use std::borrow::Cow;

use super::tree::Node;

/// A value that we write. Objects keep the order of their members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Json {
    Text(String),
    Number(u64),
    False,
    List(Vec<Json>),
    Object(Vec<(&'static str, Json)>),
    /// Written on one line, whatever surrounds it.
    OneLine(Box<Json>),
}

impl Json {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }
}

/// The layout of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    unit: Cow<'static, str>,
    newline: &'static str,
    /// No space after a colon.
    tight: bool,
    /// The whole file is on one line.
    one_line: bool,
}

/// The layout of a new file.
const PLAIN: Layout = Layout {
    unit: Cow::Borrowed("  "),
    newline: "\n",
    tight: false,
    one_line: false,
};

/// How to write a value at its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    OneLine,
    /// Over several lines, with this indentation.
    Lines(String),
}

impl Layout {
    pub(super) fn of(text: &str, root: &Node) -> Self {
        let newline = match text.find('\n') {
            Some(at) if text[..at].ends_with('\r') => "\r\n",
            Some(_) | None => "\n",
        };
        let indented = text.lines().map(indentation).find(|unit| !unit.is_empty());
        let items = root.items();
        let last = items.last();
        Self {
            unit: Cow::Owned(indented.unwrap_or("  ").to_owned()),
            newline,
            tight: !text.contains(": ") && !text.contains(":\t") && text.contains(':'),
            one_line: last.is_some_and(|last| !begins_line(text, last.start)),
        }
    }

    pub(super) fn newline(&self) -> &'static str {
        self.newline
    }

    /// The shape of an item after the item at this position.
    pub(super) fn shape_behind(&self, text: &str, item: usize) -> Shape {
        if begins_line(text, item) {
            Shape::Lines(indentation_at(text, item).to_owned())
        } else {
            Shape::OneLine
        }
    }

    /// The shape of the first item of the empty container at this position.
    pub(super) fn shape_inside(&self, text: &str, container: usize) -> Shape {
        if self.one_line {
            Shape::OneLine
        } else {
            let around = indentation_at(text, container);
            Shape::Lines(format!("{around}{}", self.unit))
        }
    }

    pub(super) fn colon(&self) -> &'static str {
        if self.tight { ":" } else { ": " }
    }

    pub(super) fn comma(&self) -> &'static str {
        if self.tight { "," } else { ", " }
    }

    pub(super) fn write(&self, json: &Json, shape: &Shape) -> String {
        match json {
            Json::Text(text) => quoted(text),
            Json::Number(number) => number.to_string(),
            Json::False => "false".to_owned(),
            Json::OneLine(json) => self.write(json, &Shape::OneLine),
            Json::List(elements) => {
                let items = elements.iter().map(|element| (String::new(), element));
                self.bracketed(['[', ']'], items, shape)
            }
            Json::Object(members) => {
                let items = members.iter();
                let named = |name: &str| format!("{}{}", quoted(name), self.colon());
                self.bracketed(
                    ['{', '}'],
                    items.map(|(name, value)| (named(name), value)),
                    shape,
                )
            }
        }
    }

    fn bracketed<'a>(
        &self,
        [open, close]: [char; 2],
        items: impl Iterator<Item = (String, &'a Json)>,
        shape: &Shape,
    ) -> String {
        // A list of words reads best on one line.
        let items: Vec<(String, &Json)> = items.collect();
        let is_plain = |json: &Json| matches!(json, Json::Text(_) | Json::Number(_));
        let flat = open == '[' && items.iter().all(|(_, json)| is_plain(json));
        let (inner, before, between, after) = match shape {
            Shape::Lines(indent) if !flat => {
                let inner = format!("{indent}{}", self.unit);
                let before = format!("{}{inner}", self.newline);
                let after = format!("{}{indent}", self.newline);
                (
                    Shape::Lines(inner),
                    before.clone(),
                    format!(",{before}"),
                    after,
                )
            }
            Shape::Lines(_) | Shape::OneLine => {
                let none = String::new();
                (Shape::OneLine, none.clone(), self.comma().to_owned(), none)
            }
        };
        let written = items.iter();
        let written = written.map(|(name, json)| format!("{name}{}", self.write(json, &inner)));
        let written = written.collect::<Vec<_>>().join(&between);
        format!("{open}{before}{written}{after}{close}")
    }
}

/// A whole new file.
pub(crate) fn document(json: &Json) -> String {
    let written = PLAIN.write(json, &Shape::Lines(String::new()));
    format!("{written}\n")
}

/// The value on one line, for a command line.
pub(super) fn line(json: &Json) -> String {
    PLAIN.write(json, &Shape::OneLine)
}

pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn indentation(line: &str) -> &str {
    let blank = line.trim_end_matches(['\r', '\n']);
    let inner = blank.trim_start_matches([' ', '\t']);
    if inner.is_empty() {
        ""
    } else {
        &blank[..blank.len() - inner.len()]
    }
}

/// The indentation of the line at this position.
pub(super) fn indentation_at(text: &str, place: usize) -> &str {
    let start = text[..place].rfind('\n').map_or(0, |at| at + 1);
    let line = &text[start..];
    let inner = line.trim_start_matches([' ', '\t']);
    &line[..line.len() - inner.len()]
}

/// Is there only whitespace before this position on its line?
fn begins_line(text: &str, place: usize) -> bool {
    match text[..place].rfind('\n') {
        Some(at) => text[at..place].trim().is_empty(),
        None => false,
    }
}
