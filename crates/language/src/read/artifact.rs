//! Artifacts: what agents leave, and how it is checked.

use std::collections::BTreeMap;

use engine::{
    ApprovedCommands, Artifact, Format, Outcome, OutcomeField, ParamName, Source, StageName,
    Strictness,
};

use super::value::braced;
use super::{Fields, Reader};
use crate::rule::LanguageRule;
use crate::tree::{Node, Value};
use crate::vocabulary::{self, FORMATS, SOURCES};

const DEFAULT_BYTES: u32 = 256 * 1024;
const MOST_BYTES: u32 = 4 * 1024 * 1024;

#[derive(Clone, Copy, PartialEq, Eq)]
enum FormatWord {
    Bundle,
    Json,
    Text,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SourceWord {
    Reply,
    Answers,
}

impl Reader<'_> {
    pub(super) fn artifact(&mut self, node: &Node) -> Option<Artifact> {
        let fields = &self.fields(node, &vocabulary::ARTIFACT)?;
        let source = self.source(fields);
        let format = self.format(fields);
        let require = self.list(fields, "require", Self::filled);
        let equals = self.map(fields, "equals", |reader, entry| {
            let field = reader.key_field(entry)?;
            Some((field, reader.scalar(&entry.node)?))
        });
        let outcome = self.optional(fields, "outcome", Self::outcome_field);
        let approved = self.optional(fields, "approved", Self::approved_commands);
        let strictness = self.optional(fields, "strict", Self::strictness);
        let max_bytes = self.optional(fields, "max_bytes", |reader, node| {
            reader.whole(node, 1, MOST_BYTES)
        });
        let max_bytes = u64::from(max_bytes.unwrap_or(DEFAULT_BYTES));
        Some(Artifact {
            source: source?,
            format: format?,
            require,
            equals: equals.into_iter().collect(),
            outcome,
            approved,
            strictness: strictness.unwrap_or(Strictness::Strict),
            max_bytes,
        })
    }

    /// True or false, or a parameter in braces that says `strict` or `advisory`.
    fn strictness(&mut self, node: &Node) -> Option<Strictness> {
        let param = match &node.value {
            Value::Flag(true) => return Some(Strictness::Strict),
            Value::Flag(false) => return Some(Strictness::Advisory),
            Value::Text(text) => braced(text),
            _ => None,
        };
        match param {
            Some(name) => self
                .parse_name(name, &node.span, ParamName::parse)
                .map(Strictness::Param),
            None => {
                let hint = "write `true`, `false`, or a parameter as \"{name}\"";
                self.wrong_type(node, "true, false or a parameter in braces", hint)
            }
        }
    }

    /// Exactly one of `path` and `from`.
    fn source(&mut self, fields: &Fields<'_>) -> Option<Source> {
        match (fields.get("path"), fields.get("from")) {
            (Some(path), None) => self.filled(path).map(Source::File),
            (None, Some(from)) => self.source_word(from).map(|word| match word {
                SourceWord::Reply => Source::Reply,
                SourceWord::Answers => Source::Answers,
            }),
            (Some(_), Some(from)) => {
                let message = String::from("an artifact has both `path` and `from`");
                self.report(
                    LanguageRule::ExcludedKey,
                    &from.span,
                    message,
                    "keep one of the two",
                );
                None
            }
            (None, None) if fields.is_mistyped("path") || fields.is_mistyped("from") => None,
            (None, None) => {
                let message = String::from("an artifact has neither `path` nor `from`");
                let hint = "add `path`, a file in the project, or `from = \"reply\"`";
                self.report(LanguageRule::MissingKey, &fields.node.span, message, hint);
                None
            }
        }
    }

    fn source_word(&mut self, node: &Node) -> Option<SourceWord> {
        self.word(node, SOURCES, &[SourceWord::Reply, SourceWord::Answers])
    }

    fn format(&mut self, fields: &Fields<'_>) -> Option<Format> {
        let word = match (fields.get("format"), fields.get("from")) {
            (Some(node), _) => self.word(
                node,
                FORMATS,
                &[FormatWord::Bundle, FormatWord::Json, FormatWord::Text],
            ),
            // A reply that is not JSON is wrapped, and Gatewright writes the answers.
            (None, Some(_)) => Some(FormatWord::Json),
            (None, None) => self.missing(fields, "format"),
        };
        let schema = match (fields.get("schema"), word) {
            (Some(node), Some(FormatWord::Bundle | FormatWord::Text)) => {
                let message = String::from("only a json artifact has a schema");
                let hint = "write `format = \"json\"`, or name the fields in `require`";
                self.report(LanguageRule::ExcludedKey, &node.span, message, hint);
                None
            }
            (Some(node), _) => self.schema_text(node),
            (None, _) => None,
        };
        Some(match word? {
            FormatWord::Bundle => Format::Bundle,
            FormatWord::Json => Format::Json { schema },
            FormatWord::Text => Format::Text,
        })
    }

    fn outcome_field(&mut self, node: &Node) -> Option<OutcomeField> {
        let fields = &self.fields(node, &vocabulary::OUTCOME)?;
        let field = self.required(fields, "field", Self::field);
        let values = self.required(fields, "values", Self::outcome_values);
        let reason = self.optional(fields, "reason", Self::field);
        Some(OutcomeField {
            field: field?,
            values: values?,
            reason,
        })
    }

    fn approved_commands(&mut self, node: &Node) -> Option<ApprovedCommands> {
        let fields = &self.fields(node, &vocabulary::APPROVED)?;
        let field = self.required(fields, "field", Self::field);
        let then = self.required(fields, "then", |reader, node| {
            reader.name(node, StageName::parse)
        });
        Some(ApprovedCommands {
            field: field?,
            then: then?,
        })
    }

    /// Word to outcome, or a list of words that are their own outcomes.
    fn outcome_values(&mut self, node: &Node) -> Option<BTreeMap<String, Outcome>> {
        let values: Vec<(String, Outcome)> = match &node.value {
            Value::List(_) => self.items(node, |reader, item| {
                let outcome = reader.name(item, Outcome::parse)?;
                Some((String::from(outcome.as_str()), outcome))
            })?,
            Value::Table(_) => {
                let entries = self.entries(node)?.iter();
                let outcome = |reader: &mut Self, node| reader.name(node, Outcome::parse);
                entries
                    .filter_map(|entry| Some((entry.key.clone(), outcome(self, &entry.node)?)))
                    .collect()
            }
            _ => {
                let hint = "write [\"approved\"] or { PASS = \"passed\" }";
                return self.wrong_type(node, "a list or a table of outcomes", hint);
            }
        };
        if node.entries().is_empty() && node.items().is_empty() {
            let message = String::from("this list of outcomes is empty");
            self.report(
                LanguageRule::Empty,
                &node.span,
                message,
                "name the values that the field may have",
            );
        }
        Some(values.into_iter().collect())
    }
}
