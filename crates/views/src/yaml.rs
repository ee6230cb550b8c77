//! YAML scalars that always mean their text, whatever it contains.

use crate::safe::is_forbidden;

/// Bare where it can be, else in double quotes.
pub(crate) fn scalar(text: &str) -> String {
    if is_plain(text) {
        text.to_owned()
    } else {
        quoted(text)
    }
}

/// In double quotes. Terminal control characters are escaped, so nothing is lost.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for found in text.chars() {
        match found {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            found if is_forbidden(found) || is_break(found) => {
                quoted.push_str(&format!("\\U{:08X}", u32::from(found)));
            }
            found => quoted.push(found),
        }
    }
    quoted.push('"');
    quoted
}

/// Other breaks of a line than `\n`, and a mark that only a file may begin with.
fn is_break(found: char) -> bool {
    matches!(
        found,
        '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}'
    )
}

/// A word or a path that no YAML parser reads as a number, a boolean or null.
fn is_plain(text: &str) -> bool {
    const WORDS: [&str; 10] = [
        "true", "false", "yes", "no", "on", "off", "null", "y", "n", "nan",
    ];
    let kept = |found: char| found.is_ascii_alphanumeric() || "-_./".contains(found);
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(kept)
        && !WORDS.contains(&text.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_random::TestRandom;

    fn read(yaml: &str) -> String {
        let text = format!("field: {yaml}\nafter: 1\n");
        let value: serde_json::Value = serde_saphyr::from_str(&text)
            .unwrap_or_else(|error| panic!("{yaml:?} is no YAML: {error}"));
        assert_eq!(value["after"], 1, "{yaml:?}");
        value["field"].as_str().unwrap_or_default().to_owned()
    }

    #[test]
    fn hostile_text_is_one_scalar_and_survives_exactly() {
        let mut random = TestRandom::new(23);
        for _ in 0..2_000 {
            let text = random.hostile_text(30);
            let yaml = scalar(&text);
            assert!(!yaml.chars().any(is_forbidden), "{yaml:?}");
            assert_eq!(yaml.lines().count(), 1, "{yaml:?}");
            assert_eq!(read(&yaml), text);
        }
    }

    #[test]
    fn what_would_mean_something_else_is_quoted() {
        for (text, expected) in [
            ("validating", "validating"),
            ("ansible/playbooks/site.yml", "ansible/playbooks/site.yml"),
            ("null", "\"null\""),
            ("No", "\"No\""),
            ("1.10", "\"1.10\""),
            ("", "\"\""),
            ("a: b", "\"a: b\""),
            ("---\nactive: false", "\"---\\nactive: false\""),
            ("# x", "\"# x\""),
            ("&a *b !c", "\"&a *b !c\""),
        ] {
            assert_eq!(scalar(text), expected);
            assert_eq!(read(expected), text);
        }
    }
}
