//! The words of one line: bare ones, quoted ones, and pairs as `target=site.yml`.

use std::ops::Range;

use super::mistake::{Mistake, Rule};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// Without quotes; of a pair, the part after the equals sign.
    pub text: String,
    pub form: Form,
    pub span: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Bare,
    /// Taken literally: the pipeline need not know it.
    Quoted,
    Pair {
        key: String,
    },
}

impl Word {
    pub(crate) fn is(&self, text: &str) -> bool {
        self.form == Form::Bare && self.text == text
    }
}

/// Splits a line that starts at this byte of the file. A comment ends it.
pub(crate) fn words(line: &str, start: usize) -> Result<Vec<Word>, Mistake> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(rest) = line.get(at..) {
        let trimmed = rest.trim_start();
        at += rest.len() - trimmed.len();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            break;
        }
        let (word, length) = word(trimmed, start + at)?;
        words.push(word);
        at += length;
    }
    Ok(words)
}

/// The first word of this text, and its length in bytes.
fn word(text: &str, start: usize) -> Result<(Word, usize), Mistake> {
    if let Some((inner, length)) = quoted(text, start)? {
        let word = Word {
            text: inner,
            form: Form::Quoted,
            span: start..start + length,
        };
        return Ok((word, length + comma(&text[length..])));
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let Some(equals) = text[..end].find('=') else {
        let bare = text[..end].strip_suffix(',').unwrap_or(&text[..end]);
        let span = start..start + bare.len();
        return Ok((
            Word {
                text: String::from(bare),
                form: Form::Bare,
                span,
            },
            end,
        ));
    };
    let (key, value) = (&text[..equals], &text[equals + 1..]);
    let form = Form::Pair {
        key: String::from(key),
    };
    if let Some((inner, length)) = quoted(value, start + equals + 1)? {
        let end = equals + 1 + length;
        let word = Word {
            text: inner,
            form,
            span: start..start + end,
        };
        return Ok((word, end + comma(&text[end..])));
    }
    let value = text[equals + 1..end].trim_end_matches(',');
    let span = start..start + equals + 1 + value.len();
    Ok((
        Word {
            text: String::from(value),
            form,
            span,
        },
        end,
    ))
}

fn comma(rest: &str) -> usize {
    usize::from(rest.starts_with(','))
}

/// The quoted text, and its length in bytes with the quotes. `«…»` may contain `"`.
fn quoted(text: &str, start: usize) -> Result<Option<(String, usize)>, Mistake> {
    let pairs = [('"', '"'), ('«', '»')];
    let Some((open, close)) = pairs.into_iter().find(|(open, _)| text.starts_with(*open)) else {
        return Ok(None);
    };
    let inner = &text[open.len_utf8()..];
    match inner.find(close) {
        Some(end) => {
            let length = open.len_utf8() + end + close.len_utf8();
            Ok(Some((String::from(&inner[..end]), length)))
        }
        None => Err(Mistake {
            rule: Rule::Incomplete,
            span: start..start + text.trim_end().len(),
            message: String::from("this quotation does not end"),
            hint: format!("close it with `{close}`"),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each word as `form text@span`.
    fn check(line: &str, expected: &[&str]) {
        let found: Vec<String> = words(line, 10)
            .unwrap()
            .into_iter()
            .map(|word| {
                let form = match &word.form {
                    Form::Bare => String::from("bare"),
                    Form::Quoted => String::from("quoted"),
                    Form::Pair { key } => format!("{key}="),
                };
                format!("{form} {}@{:?}", word.text, word.span)
            })
            .collect();
        assert_eq!(found, expected, "{line}");
    }

    #[test]
    fn a_line_is_split_into_words() {
        check("start a=b  # no", &["bare start@10..15", "a= b@16..19"]);
        check("a=\"b c\", d", &["a= b c@10..17", "bare d@19..20"]);
        check("one, two", &["bare one@10..13", "bare two@15..18"]);
        check(
            "says «a \"b\" #»",
            &["bare says@10..14", "quoted a \"b\" #@15..26"],
        );
        check("\"x\", y", &["quoted x@10..13", "bare y@15..16"]);
        check("   # all of it", &[]);
        check("a#b", &["bare a#b@10..13"]);
    }

    #[test]
    fn a_quotation_must_end() {
        for line in ["says \"NOT", "a=\"b", "«x"] {
            assert_eq!(words(line, 0).unwrap_err().rule, Rule::Incomplete, "{line}");
        }
    }
}
