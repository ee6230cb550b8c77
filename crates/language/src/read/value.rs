//! Single values: texts, numbers, times, words of a closed list, patterns and references to fields.

use engine::{
    AgentPattern, Amount, ArtifactName, FieldOf, NameError, ParamName, PathGlob, Seconds, nearest,
};

use super::Reader;
use crate::diagnostic::{listed, quote};
use crate::rule::LanguageRule;
use crate::tree::{Entry, Node, Span, Value};

const DURATION_HINT: &str = "write a number and a unit, such as \"90s\", \"30m\", \"2h\" or \"7d\"";

impl Reader<'_> {
    pub(super) fn text<'t>(&mut self, node: &'t Node) -> Option<&'t str> {
        match &node.value {
            Value::Text(text) => Some(text),
            _ => self.wrong_type(node, "a text", "write it in quotes"),
        }
    }

    pub(super) fn owned_text(&mut self, node: &Node) -> Option<String> {
        self.text(node).map(String::from)
    }

    /// A text that is not empty.
    pub(super) fn filled(&mut self, node: &Node) -> Option<String> {
        let text = self.text(node)?;
        if text.trim().is_empty() {
            let message = String::from("this text is empty");
            self.report(
                LanguageRule::Empty,
                &node.span,
                message,
                "write a text, or remove the key",
            );
            return None;
        }
        Some(String::from(text))
    }

    pub(super) fn flag(&mut self, node: &Node) -> Option<bool> {
        match node.value {
            Value::Flag(flag) => Some(flag),
            _ => self.wrong_type(
                node,
                "true or false",
                "write `true` or `false`, without quotes",
            ),
        }
    }

    /// A text, a whole number or a flag, kept as text.
    pub(super) fn scalar(&mut self, node: &Node) -> Option<String> {
        match &node.value {
            Value::Text(text) => Some(text.clone()),
            Value::Integer(number) => Some(number.to_string()),
            Value::Flag(flag) => Some(flag.to_string()),
            _ => self.wrong_type(
                node,
                "a text, a whole number or a flag",
                "write it in quotes",
            ),
        }
    }

    pub(super) fn whole(&mut self, node: &Node, least: u32, most: u32) -> Option<u32> {
        let Value::Integer(number) = node.value else {
            return self.wrong_type(node, "a whole number", "write the number without quotes");
        };
        let fits = u32::try_from(number)
            .ok()
            .filter(|number| (least..=most).contains(number));
        if fits.is_none() {
            let message = format!("{number} is out of range");
            let hint = format!("write a number from {least} to {most}");
            self.report(LanguageRule::OutOfRange, &node.span, message, hint);
        }
        fits
    }

    /// A whole number, or a parameter in braces.
    pub(super) fn amount(&mut self, node: &Node) -> Option<Amount> {
        match &node.value {
            Value::Integer(_) => self.whole(node, 0, u32::MAX).map(Amount::Fixed),
            Value::Text(text) => match braced(text) {
                Some(name) => self
                    .parse_name(name, &node.span, ParamName::parse)
                    .map(Amount::Param),
                None => self.no_amount(node),
            },
            _ => self.no_amount(node),
        }
    }

    fn no_amount(&mut self, node: &Node) -> Option<Amount> {
        let hint = "write a number without quotes, or a parameter as \"{name}\"";
        self.wrong_type(node, "a whole number or a parameter in braces", hint)
    }

    pub(super) fn duration(&mut self, node: &Node) -> Option<Seconds> {
        match &node.value {
            Value::Text(text) => {
                let seconds = seconds(text);
                if seconds.is_none() {
                    let message = format!("{} is not a time", quote(text));
                    self.report(
                        LanguageRule::BadDuration,
                        &node.span,
                        message,
                        DURATION_HINT,
                    );
                }
                seconds
            }
            Value::Integer(number) => {
                let message = format!("the time {number} has no unit");
                self.report(
                    LanguageRule::BadDuration,
                    &node.span,
                    message,
                    DURATION_HINT,
                );
                None
            }
            _ => self.wrong_type(node, "a time", DURATION_HINT),
        }
    }

    /// Dollars, as text or number; cents come out.
    pub(super) fn cost(&mut self, node: &Node) -> Option<Amount> {
        let text = match &node.value {
            Value::Text(text) => text.clone(),
            Value::Integer(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            _ => return self.wrong_type(node, "dollars", "write it as \"5.00\" or 5"),
        };
        let cents = cents(&text);
        if cents.is_none() {
            let message = format!("{} is not a cost", quote(&text));
            self.report(
                LanguageRule::BadCost,
                &node.span,
                message,
                "write dollars, such as \"5.00\" or 5",
            );
        }
        cents.map(Amount::Fixed)
    }

    /// A word of a closed list, as its place in that list.
    pub(super) fn word<T: Copy>(
        &mut self,
        node: &Node,
        words: &'static [&'static str],
        meanings: &[T],
    ) -> Option<T> {
        debug_assert_eq!(words.len(), meanings.len());
        let text = self.text(node)?;
        let found = words.iter().position(|word| *word == text);
        if found.is_none() {
            let message = format!("{} is not known here", quote(text));
            let hint = match nearest(text, words.iter().copied()) {
                Some(meant) => format!("did you mean {}?", quote(meant)),
                None => format!("write {}", listed(words.iter().copied(), "or")),
            };
            self.report(LanguageRule::UnknownWord, &node.span, message, hint);
        }
        meanings.get(found?).copied()
    }

    /// An agent's name, a glob over names, or a group.
    pub(super) fn pattern(&mut self, node: &Node) -> Option<AgentPattern> {
        let text = self.text(node)?;
        self.parse_pattern(text, &node.span)
    }

    pub(super) fn key_pattern(&mut self, entry: &Entry) -> Option<AgentPattern> {
        self.parse_pattern(&entry.key, &entry.key_span)
    }

    pub(super) fn parse_pattern(&mut self, text: &str, span: &Span) -> Option<AgentPattern> {
        self.parse_name(text, span, |text| {
            // A pattern is a name in which a star stands for any part, also for all of it.
            let starless = text.replace('*', "x");
            engine::AgentName::parse(&starless)?;
            Ok::<_, NameError>(AgentPattern::new(text))
        })
    }

    pub(super) fn glob(&mut self, node: &Node) -> Option<PathGlob> {
        self.filled(node).map(|text| PathGlob::new(&text))
    }

    /// A dotted field of an artifact, as `story.test_criteria.commands`.
    pub(super) fn field_of(&mut self, node: &Node) -> Option<FieldOf> {
        let text = self.text(node)?;
        let parts = text.split_once('.').filter(|(_, field)| is_field(field));
        let Some((artifact, field)) = parts else {
            let message = format!("{} is not a field of an artifact", quote(text));
            let hint = "write the artifact and its field, such as \"story.test_criteria.commands\"";
            self.report(LanguageRule::BadField, &node.span, message, hint);
            return None;
        };
        let artifact = self.parse_name(artifact, &node.span, ArtifactName::parse)?;
        Some(FieldOf {
            artifact,
            field: String::from(field),
        })
    }

    /// A dotted field without its artifact.
    pub(super) fn field(&mut self, node: &Node) -> Option<String> {
        let text = self.text(node)?;
        self.parse_field(text, &node.span)
    }

    pub(super) fn key_field(&mut self, entry: &Entry) -> Option<String> {
        self.parse_field(&entry.key, &entry.key_span)
    }

    fn parse_field(&mut self, text: &str, span: &Span) -> Option<String> {
        if is_field(text) {
            return Some(String::from(text));
        }
        let message = format!("{} is not a field", quote(text));
        let hint = "write names joined by dots";
        self.report(LanguageRule::BadField, span, message, hint);
        None
    }
}

/// The text between braces.
pub(super) fn braced(text: &str) -> Option<&str> {
    text.strip_prefix('{')?.strip_suffix('}')
}

fn is_field(text: &str) -> bool {
    text.split('.')
        .all(|part| !part.is_empty() && !part.contains(char::is_whitespace))
}

/// A limit of no time at all would end everything at once.
fn seconds(text: &str) -> Option<Seconds> {
    Seconds::parse(text).filter(|seconds| *seconds > Seconds(0))
}

fn cents(text: &str) -> Option<u32> {
    let (dollars, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let decimals = match decimals.len() {
        1 => whole_digits(decimals)? * 10,
        2 => whole_digits(decimals)?,
        _ => return None,
    };
    u32::try_from(
        whole_digits(dollars)?
            .checked_mul(100)?
            .checked_add(decimals)?,
    )
    .ok()
}

/// Digits alone: `parse` would take a sign as well.
fn whole_digits(text: &str) -> Option<u64> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_number_and_a_unit() {
        for (text, expected) in [
            ("90s", Some(90)),
            ("30m", Some(1_800)),
            ("2h", Some(7_200)),
            ("7d", Some(604_800)),
            ("0s", None),
            ("30", None),
            ("m", None),
            ("", None),
            ("+3m", None),
            ("1.5h", None),
            ("3 m", None),
            ("3M", None),
            ("99999999999999999999d", None),
            ("999999999999999999d", None),
            ("3é", None),
        ] {
            assert_eq!(seconds(text), expected.map(Seconds), "{text}");
        }
    }

    #[test]
    fn costs_are_dollars() {
        for (text, expected) in [
            ("5.00", Some(500)),
            ("5", Some(500)),
            ("5.1", Some(510)),
            ("0.05", Some(5)),
            ("5.001", None),
            ("5.", None),
            (".5", None),
            ("-5", None),
            ("$5", None),
            ("NaN", None),
            ("inf", None),
            ("99999999999", None),
        ] {
            assert_eq!(cents(text), expected, "{text}");
        }
    }
}
