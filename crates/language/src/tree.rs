//! The file as a tree in which everything knows its place, whether it was TOML or JSON.

use std::ops::Range;

use serde_json::{Map, Number, Value as Json};

/// Bytes of the file.
pub(crate) type Span = Range<usize>;

#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// A table that has a header of its own is where its header is.
    pub span: Span,
    pub value: Value,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// In the order of the file. No key occurs twice.
    Table(Vec<Entry>),
    List(Vec<Node>),
    Text(String),
    Integer(i64),
    Float(f64),
    Flag(bool),
    /// A TOML date or time, which nothing in the language uses.
    Date,
    /// JSON's `null`, which nothing in the language uses.
    Null,
    /// What has been reported already.
    Unreadable,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub key: String,
    pub key_span: Span,
    pub node: Node,
}

/// Which part of an entry a problem is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Key,
    Value,
}

impl Node {
    /// What this is, in words, for a message about a wrong type.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.value {
            Value::Table(_) => "a table",
            Value::List(_) => "a list",
            Value::Text(_) => "a text",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a number with decimals",
            Value::Flag(_) => "true or false",
            Value::Date => "a date",
            Value::Null => "null",
            Value::Unreadable => "something unreadable",
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Table(entries) => entries,
            _ => &[],
        }
    }

    pub(crate) fn items(&self) -> &[Node] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.node)
    }

    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// The same as JSON, without places. What JSON cannot express becomes `null`.
    pub(crate) fn to_json(&self) -> Json {
        match &self.value {
            Value::Table(entries) => {
                let members = entries
                    .iter()
                    .map(|entry| (entry.key.clone(), entry.node.to_json()));
                Json::Object(members.collect::<Map<_, _>>())
            }
            Value::List(items) => Json::Array(items.iter().map(Self::to_json).collect()),
            Value::Text(text) => Json::String(text.clone()),
            Value::Integer(number) => Json::Number(Number::from(*number)),
            Value::Float(number) => Number::from_f64(*number).map_or(Json::Null, Json::Number),
            Value::Flag(flag) => Json::Bool(*flag),
            Value::Date | Value::Null | Value::Unreadable => Json::Null,
        }
    }

    /// Where these keys lead, or where the last of them that exists does.
    pub(crate) fn locate(&self, keys: &[String], part: Part) -> Span {
        let (mut node, mut key_span) = (self, None);
        for (index, key) in keys.iter().enumerate() {
            let Some(child) = node.child(key) else { break };
            let last = index + 1 == keys.len();
            key_span = node
                .entry(key)
                .filter(|_| last)
                .map(|entry| &entry.key_span);
            node = child;
        }
        match (part, key_span) {
            (Part::Key, Some(span)) => span.clone(),
            (Part::Key, None) | (Part::Value, _) => node.span.clone(),
        }
    }

    /// A member of a list goes by its number, from 0, or by the name that it gives itself.
    fn child(&self, key: &str) -> Option<&Node> {
        let items = self.items();
        let numbered = || key.parse().ok().and_then(|index: usize| items.get(index));
        let named = || items.iter().find(|item| item.is_called(key));
        self.get(key).or_else(numbered).or_else(named)
    }

    fn is_called(&self, name: &str) -> bool {
        let own = |key| self.get(key).and_then(Node::text);
        self.text() == Some(name) || [own("name"), own("id"), own("agent")].contains(&Some(name))
    }
}
