//! JSON: writes objects field by field in the listed order, and reads them without ignoring
//! anything.

use serde_json::{Map, Value};

use super::{Record, Unreadable};

/// Writes one object.
pub(super) struct Object<'a> {
    out: &'a mut String,
    first: bool,
}

impl<'a> Object<'a> {
    pub(super) fn open(out: &'a mut String) -> Self {
        out.push('{');
        Self { out, first: true }
    }

    /// Writes the field, unless it has its default value.
    pub(super) fn field(&mut self, name: &str, value: &impl Record) {
        if !value.is_left_out() {
            self.entry(name, value);
        }
    }

    pub(super) fn entry(&mut self, name: &str, value: &impl Record) {
        self.name(name);
        value.to_json(self.out);
    }

    /// Writes the variant of an enum.
    pub(super) fn kind(&mut self, word: &str) {
        self.name("kind");
        text(self.out, word);
    }

    pub(super) fn close(self) {
        self.out.push('}');
    }

    fn name(&mut self, name: &str) {
        if !self.first {
            self.out.push(',');
        }
        self.first = false;
        text(self.out, name);
        self.out.push(':');
    }
}

/// Writes a quoted string. Most texts need only the quotes.
pub(super) fn text(out: &mut String, text: &str) {
    let is_plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    if text.bytes().all(is_plain) {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        out.push_str(&Value::from(text).to_string())
    }
}

/// Writes a list.
pub(super) fn list<'a, T: Record + 'a>(out: &mut String, items: impl Iterator<Item = &'a T>) {
    out.push('[');
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push(',');
        }
        item.to_json(out);
    }
    out.push(']');
}

/// The remaining fields of an object.
pub(super) struct Fields(Map<String, Value>);

impl Fields {
    pub(super) fn of(value: Value) -> Result<Self, Unreadable> {
        match value {
            Value::Object(map) => Ok(Self(map)),
            other => Err(unexpected("an object", &other)),
        }
    }

    pub(super) fn kind(&mut self) -> Result<String, Unreadable> {
        self.take("kind")
    }

    pub(super) fn take<T: Record>(&mut self, name: &str) -> Result<T, Unreadable> {
        match self.0.remove(name) {
            Some(value) => T::from_json(value).map_err(|fault| fault.inside(name)),
            None => T::left_out().ok_or_else(|| Unreadable::new(format!("`{name}` is missing"))),
        }
    }

    /// Invariant: unknown fields are an error, never ignored.
    pub(super) fn end(self) -> Result<(), Unreadable> {
        match self.0.keys().next() {
            Some(unknown) => Err(Unreadable::new(format!("`{unknown}` is not known here"))),
            None => Ok(()),
        }
    }

    pub(super) fn rest(self) -> impl Iterator<Item = (String, Value)> {
        self.0.into_iter()
    }
}

pub(super) fn unexpected(wanted: &str, found: &Value) -> Unreadable {
    let found = match found {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    Unreadable::new(format!("expected {wanted}, found {found}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_written_as_json_writes_it() {
        let all: String = (0..=0x2ff).filter_map(char::from_u32).collect();
        let one_by_one = all.chars().map(String::from);
        let texts = [
            "",
            "plain",
            "it's \u{7f} ü «»",
            "a\"b",
            "a\\b",
            "\u{2028}",
            &all,
        ];
        for expected in texts.map(str::to_owned).into_iter().chain(one_by_one) {
            let mut out = String::new();
            text(&mut out, &expected);
            assert_eq!(out, Value::from(expected.as_str()).to_string());
            let read: String = serde_json::from_str(&out).unwrap();
            assert_eq!(read, expected);
        }
    }
}
