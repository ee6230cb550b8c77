//! JSON text to the tree: strict JSON, without comments or trailing commas.

use std::collections::BTreeSet;

use jsonc_parser::ast::{self, NumberLit, ObjectProp};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::{CollectOptions, ParseOptions};

use crate::diagnostic::{Diagnostic, Problems, quote};
use crate::from_toml::too_large;
use crate::rule::LanguageRule;
use crate::tree::{Entry, Node, Span, Value};

const STRICT: ParseOptions = ParseOptions {
    allow_comments: false,
    allow_loose_object_property_names: false,
    allow_trailing_commas: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Reads the text; what is wrong goes to `problems`.
pub(crate) fn parse(file: &str, text: &str, problems: &mut Problems) -> Option<Node> {
    let parsed = jsonc_parser::parse_to_ast(text, &CollectOptions::default(), &STRICT);
    let (span, message) = match parsed {
        Ok(parsed) => match parsed.value {
            Some(value) => return Some(node(file, value, problems)),
            None => (0..0, String::from("the file is empty")),
        },
        Err(error) => (span(error.range()), error.kind().to_string().to_lowercase()),
    };
    let hint =
        String::from("write it as strict JSON: double quotes, no comments, no trailing comma");
    problems.push(Diagnostic::new(LanguageRule::Syntax, file, message, hint).at(&span));
    None
}

fn span(range: Range) -> Span {
    range.start..range.end
}

fn node(file: &str, value: ast::Value<'_>, problems: &mut Problems) -> Node {
    let span = span(value.range());
    let value = match value {
        ast::Value::StringLit(text) => Value::Text(text.value.into_owned()),
        ast::Value::NumberLit(literal) => number(file, &literal, problems),
        ast::Value::BooleanLit(flag) => Value::Flag(flag.value),
        ast::Value::NullKeyword(_) => Value::Null,
        ast::Value::Array(list) => Value::List(
            list.elements
                .into_iter()
                .map(|item| node(file, item, problems))
                .collect(),
        ),
        ast::Value::Object(object) => Value::Table(entries(file, object.properties, problems)),
    };
    Node { span, value }
}

fn number(file: &str, literal: &NumberLit<'_>, problems: &mut Problems) -> Value {
    if literal.value.contains(['.', 'e', 'E']) {
        return Value::Float(literal.value.parse().unwrap_or(f64::NAN));
    }
    match literal.value.parse() {
        Ok(number) => Value::Integer(number),
        Err(_) => {
            problems.push(too_large(file).at(&span(literal.range)));
            Value::Unreadable
        }
    }
}

/// Two programs may read two equal keys differently, so the second is a problem.
fn entries(file: &str, properties: Vec<ObjectProp<'_>>, problems: &mut Problems) -> Vec<Entry> {
    let mut seen = BTreeSet::new();
    let mut entries = Vec::with_capacity(properties.len());
    for property in properties {
        let key_span = span(property.name.range());
        let key = String::from(property.name.as_str());
        if !seen.insert(key.clone()) {
            let message = format!("the key {} is here twice", quote(&key));
            let hint = String::from("keep one of the two");
            let problem = Diagnostic::new(LanguageRule::DuplicateKey, file, message, hint);
            problems.push(problem.at(&key_span));
            continue;
        }
        entries.push(Entry {
            key,
            key_span,
            node: node(file, property.value, problems),
        });
    }
    entries
}
