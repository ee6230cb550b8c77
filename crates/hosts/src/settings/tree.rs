//! A JSON tree with the position of every value, so that edits can keep the text around it.

use std::ops::Range;

/// A value with its position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub span: Range<usize>,
    pub kind: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Object(Vec<Member>),
    List(Vec<Node>),
    Text(String),
    Number(f64),
    Flag(bool),
    Nothing,
}

/// A name and its value. The span covers both.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    pub span: Range<usize>,
    pub name: String,
    pub value: Node,
}

/// Why a text is not JSON, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    pub line: usize,
    pub column: usize,
    pub reason: String,
}

/// Parses a text as strictly as the hosts do: no comments, no trailing comma.
pub(super) fn parse(text: &str) -> Result<Node, JsonError> {
    serde_json::from_str::<serde_json::Value>(text).map_err(|error| JsonError {
        line: error.line(),
        column: error.column(),
        reason: reason(&error),
    })?;
    scan(text).ok_or_else(|| JsonError {
        line: 1,
        column: 1,
        reason: "it cannot be read".to_owned(),
    })
}

/// The message without the position.
fn reason(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match message.rfind(" at line ") {
        Some(at) => message[..at].to_owned(),
        None => message,
    }
}

/// Parses a text that is known to be JSON.
pub(super) fn scan(text: &str) -> Option<Node> {
    let mut scanner = Scanner { text, at: 0 };
    scanner.value()
}

impl Node {
    /// The value with this name. If there are several, the last one counts, as it does for the hosts.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        self.member(name).map(|(_, member)| &member.value)
    }

    /// The member with this name, and its index.
    pub(crate) fn member(&self, name: &str) -> Option<(usize, &Member)> {
        let members = self.members()?.iter().enumerate();
        members.rev().find(|(_, member)| member.name == name)
    }

    pub(crate) fn members(&self) -> Option<&[Member]> {
        if let Value::Object(members) = &self.kind {
            Some(members)
        } else {
            None
        }
    }

    pub(crate) fn elements(&self) -> Option<&[Self]> {
        if let Value::List(elements) = &self.kind {
            Some(elements)
        } else {
            None
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        if let Value::Text(text) = &self.kind {
            Some(text)
        } else {
            None
        }
    }

    pub(crate) fn number(&self) -> Option<f64> {
        if let Value::Number(number) = self.kind {
            Some(number)
        } else {
            None
        }
    }

    pub(crate) fn is_true(&self) -> bool {
        self.kind == Value::Flag(true)
    }

    /// The positions of the members or elements.
    pub(crate) fn items(&self) -> Vec<Range<usize>> {
        match &self.kind {
            Value::Object(members) => members.iter().map(|item| item.span.clone()).collect(),
            Value::List(elements) => elements.iter().map(|item| item.span.clone()).collect(),
            Value::Text(_) | Value::Number(_) | Value::Flag(_) | Value::Nothing => Vec::new(),
        }
    }
}

/// Invariant: the text is valid JSON.
struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl Scanner<'_> {
    fn value(&mut self) -> Option<Node> {
        self.skip_space();
        let start = self.at;
        let kind = match self.peek()? {
            b'{' => self.object()?,
            b'[' => self.list()?,
            b'"' => Value::Text(self.string()?),
            _ => self.word()?,
        };
        let span = start..self.at;
        Some(Node { span, kind })
    }

    fn object(&mut self) -> Option<Value> {
        let mut members = Vec::new();
        self.at += 1;
        while self.another(b'}')? {
            let start = self.at;
            let name = self.string()?;
            self.skip_space();
            self.at += 1;
            let value = self.value()?;
            let span = start..self.at;
            members.push(Member { span, name, value });
        }
        Some(Value::Object(members))
    }

    fn list(&mut self) -> Option<Value> {
        let mut elements = Vec::new();
        self.at += 1;
        while self.another(b']')? {
            elements.push(self.value()?);
        }
        Some(Value::List(elements))
    }

    /// Moves to the next item, or past the closing bracket.
    fn another(&mut self, close: u8) -> Option<bool> {
        self.skip_space();
        if self.peek()? == b',' {
            self.at += 1;
            self.skip_space();
        }
        let closed = self.peek()? == close;
        self.at += usize::from(closed);
        Some(!closed)
    }

    fn string(&mut self) -> Option<String> {
        let start = self.at;
        self.at += 1;
        while self.peek()? != b'"' {
            self.at += if self.peek()? == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
        serde_json::from_str(&self.text[start..self.at]).ok()
    }

    fn word(&mut self) -> Option<Value> {
        let rest = &self.text[self.at..];
        let end = rest.find([',', ']', '}', ' ', '\t', '\r', '\n']);
        let word = &rest[..end.unwrap_or(rest.len())];
        self.at += word.len();
        match word {
            "true" => Some(Value::Flag(true)),
            "false" => Some(Value::Flag(false)),
            "null" => Some(Value::Nothing),
            number => number.parse().ok().map(Value::Number),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_its_position() {
        let text = r#" { "a" : [1, -2.5e3,true , null,"x\"]" ], "b":{}, "a": "ü" }"#;
        let root = parse(text).unwrap();
        let shown = |node: &Node| text[node.span.clone()].to_owned();
        let members = root.members().unwrap();
        let spans: Vec<_> = root.items().into_iter().map(|span| &text[span]).collect();
        assert_eq!(spans[1..], [r#""b":{}"#, r#""a": "ü""#]);
        let elements: Vec<_> = members[0].value.elements().unwrap().iter().collect();
        let texts: Vec<_> = elements.iter().map(|node| shown(node)).collect();
        assert_eq!(texts, ["1", "-2.5e3", "true", "null", r#""x\"]""#]);
        assert_eq!(elements[4].text(), Some("x\"]"));
        assert_eq!(root.get("a").and_then(Node::text), Some("ü"));
        assert_eq!(root.member("a").unwrap().0, 2);
    }

    #[test]
    fn an_error_has_its_position() {
        for (text, line, reason) in [
            ("", 1, "EOF while parsing a value"),
            ("{\n  // no\n}", 2, "key must be a string"),
            ("{\"a\": 1,}", 1, "trailing comma"),
            ("{}\n{}", 2, "trailing characters"),
            (&"[".repeat(500), 1, "recursion limit exceeded"),
        ] {
            let broken = parse(text).unwrap_err();
            assert_eq!(
                (broken.line, broken.reason.as_str()),
                (line, reason),
                "{text}"
            );
        }
    }
}
