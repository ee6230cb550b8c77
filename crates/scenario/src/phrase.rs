//! Parses the words of a line.

use std::ops::Range;

use engine::{Seconds, nearest};

use super::mistake::{Mistake, Rule};
use super::words::{Form, Word};

/// The words of a line, read from left to right.
pub(crate) struct Phrase<'a> {
    words: &'a [Word],
    at: usize,
    /// The whole line, for problems at its end.
    line: Range<usize>,
}

impl<'a> Phrase<'a> {
    pub(crate) fn new(words: &'a [Word], line: Range<usize>) -> Self {
        Self { words, at: 0, line }
    }

    pub(crate) fn peek(&self) -> Option<&'a Word> {
        self.words.get(self.at)
    }

    pub(crate) fn peek_after(&self, ahead: usize) -> Option<&'a Word> {
        self.words.get(self.at + ahead)
    }

    /// The next word; `wanted` describes what is expected here, as in `a stage`.
    pub(crate) fn word(&mut self, wanted: &str) -> Result<&'a Word, Mistake> {
        let word = self.peek().ok_or_else(|| self.missing(wanted))?;
        self.at += 1;
        Ok(word)
    }

    /// Takes these words if they are next.
    pub(crate) fn accept(&mut self, expected: &str) -> bool {
        let count = expected.split(' ').count();
        let comes = expected
            .split(' ')
            .enumerate()
            .all(|(ahead, text)| self.peek_after(ahead).is_some_and(|word| word.is(text)));
        self.at += if comes { count } else { 0 };
        comes
    }

    /// One of these words must be next.
    pub(crate) fn one_of<T: Copy>(
        &mut self,
        wanted: &str,
        known: &[(&str, T)],
    ) -> Result<T, Mistake> {
        let fits = known.iter().find(|(words, _)| self.accept(words));
        if let Some((_, meaning)) = fits {
            return Ok(*meaning);
        }
        let word = self.word(wanted)?;
        let known = known.iter().map(|(words, _)| *words);
        Err(unknown(Rule::UnknownWord, word, wanted, known))
    }

    pub(crate) fn number(&mut self, wanted: &str) -> Result<u32, Mistake> {
        let word = self.word(wanted)?;
        let number = word.text.parse();
        number.map_err(|_| Mistake {
            hint: String::from("write it in digits, as `3`"),
            ..bad(word, format!("`{}` is not {wanted}", word.text))
        })
    }

    /// `90s`, `30m`, `2h`, `7d`.
    pub(crate) fn duration(&mut self) -> Result<Seconds, Mistake> {
        let word = self.word("a time")?;
        Seconds::parse(&word.text).ok_or_else(|| Mistake {
            hint: String::from("write `90s`, `30m`, `2h` or `7d`"),
            ..bad(word, format!("`{}` is not a time", word.text))
        })
    }

    /// A text that a person wrote, in quotes or as one word.
    pub(crate) fn text(&mut self, wanted: &str) -> Result<String, Mistake> {
        self.word(wanted).map(|word| word.text.clone())
    }

    /// Fails if words are left.
    pub(crate) fn end(&self) -> Result<(), Mistake> {
        let Some(word) = self.peek() else {
            return Ok(());
        };
        let last = self
            .words
            .last()
            .map_or(word.span.end, |last| last.span.end);
        Err(Mistake {
            rule: Rule::Incomplete,
            span: word.span.start..last,
            message: format!("`{}` has no meaning here", word.text),
            hint: String::from("remove it, or put a `#` before it"),
        })
    }

    fn missing(&self, wanted: &str) -> Mistake {
        let end = self
            .words
            .last()
            .map_or(self.line.end, |last| last.span.end);
        Mistake {
            rule: Rule::Incomplete,
            span: end..end,
            message: format!("{wanted} is missing here"),
            hint: format!("add {wanted}"),
        }
    }
}

/// The key of a pair and its value.
pub(crate) fn pair<'a>(word: &'a Word, wanted: &str) -> Result<(&'a str, &'a str), Mistake> {
    match &word.form {
        Form::Pair { key } => Ok((key, &word.text)),
        Form::Bare | Form::Quoted => Err(Mistake {
            hint: format!("write {wanted}"),
            ..bad(word, format!("`{}` is not {wanted}", word.text))
        }),
    }
}

pub(crate) fn bad(word: &Word, message: String) -> Mistake {
    let hint = String::from("write it another way");
    Mistake {
        rule: Rule::BadValue,
        span: word.span.clone(),
        message,
        hint,
    }
}

/// A word that is not one of the known ones.
pub(crate) fn unknown<'k>(
    rule: Rule,
    word: &Word,
    wanted: &str,
    known: impl IntoIterator<Item = &'k str>,
) -> Mistake {
    const MOST_LISTED: usize = 12;
    let known: Vec<&str> = known.into_iter().collect();
    let listed = known
        .iter()
        .take(MOST_LISTED)
        .map(|word| format!("`{word}`"));
    let listed: Vec<String> = listed.collect();
    let more = if known.len() > MOST_LISTED {
        ", …"
    } else {
        ""
    };
    let hint = match nearest(&word.text, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => String::from("there is none here"),
        None => format!("there are: {}{more}", listed.join(", ")),
    };
    let message = format!("`{}` is not {wanted}", word.text);
    Mistake {
        rule,
        span: word.span.clone(),
        message,
        hint,
    }
}
