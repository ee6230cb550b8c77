//! TOML text to the tree.

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::diagnostic::{Diagnostic, Problems, quote};
use crate::rule::LanguageRule;
use crate::tree::{Entry, Node, Value};

/// Later syntax errors are mostly echoes of the first ones.
const MOST_SYNTAX_ERRORS: usize = 5;
/// In a longer text only the first syntax error is reported: collecting half a million is slow.
const SHORT: usize = 64 * 1024;

/// Reads the text; what is wrong goes to `problems`.
pub(crate) fn parse(file: &str, text: &str, problems: &mut Problems) -> Option<Node> {
    let (document, errors) = match text.len() {
        0..SHORT => DeTable::parse_recoverable(text),
        _ => match DeTable::parse(text) {
            Ok(document) => (document, Vec::new()),
            Err(error) => (Spanned::new(0..0, DeTable::new()), vec![error]),
        },
    };
    for error in errors.iter().take(MOST_SYNTAX_ERRORS) {
        problems.push(syntax_error(file, text, error));
    }
    if !errors.is_empty() {
        return None;
    }
    let entries = table(file, document.into_inner(), problems);
    Some(Node {
        span: 0..0,
        value: Value::Table(entries),
    })
}

fn syntax_error(file: &str, text: &str, error: &toml::de::Error) -> Diagnostic {
    let key = error
        .span()
        .and_then(|span| text.get(span))
        .unwrap_or_default();
    // The parser has no other sign of a doubled key than its message.
    let (rule, message, hint) = match error.message() {
        "duplicate key" => {
            let message = format!("the key {} is here twice", quote(key));
            (LanguageRule::DuplicateKey, message, "keep one of the two")
        }
        message => {
            let hint = "write it as TOML 1.1: texts in quotes, one key per line";
            (LanguageRule::Syntax, String::from(message), hint)
        }
    };
    let problem = Diagnostic::new(rule, file, message, hint.into());
    match error.span() {
        Some(span) => problem.at(&span),
        None => problem,
    }
}

fn table(file: &str, table: DeTable<'_>, problems: &mut Problems) -> Vec<Entry> {
    let entry = |(key, value): (Spanned<DeString<'_>>, Spanned<DeValue<'_>>)| {
        let (key_span, key) = (key.span(), key.into_inner().into_owned());
        Entry {
            key,
            key_span,
            node: node(file, value, problems),
        }
    };
    let mut entries: Vec<Entry> = table.into_iter().map(entry).collect();
    // The parser sorts by key; people wrote them in another order.
    entries.sort_by_key(|entry| entry.key_span.start);
    entries
}

fn node(file: &str, value: Spanned<DeValue<'_>>, problems: &mut Problems) -> Node {
    let span = value.span();
    let value = match value.into_inner() {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Value::Integer(number),
            Err(_) => {
                problems.push(too_large(file).at(&span));
                Value::Unreadable
            }
        },
        DeValue::Float(number) => Value::Float(number.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(flag) => Value::Flag(flag),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(items) => Value::List(
            items
                .into_iter()
                .map(|item| node(file, item, problems))
                .collect(),
        ),
        DeValue::Table(inner) => Value::Table(table(file, inner, problems)),
    };
    Node { span, value }
}

/// A number that no key accepts.
pub(crate) fn too_large(file: &str) -> Diagnostic {
    let (message, hint) = (
        "this number is too large".into(),
        "write a smaller number".into(),
    );
    Diagnostic::new(LanguageRule::OutOfRange, file, message, hint)
}
