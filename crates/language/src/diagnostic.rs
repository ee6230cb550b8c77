//! A diagnostic: one thing wrong with a pipeline file, where it is, and what to write instead.

use std::borrow::Cow;
use std::ops::Range;

use engine::Severity;

use crate::rule::LanguageRule;

/// How many problems of one file are shown. Nobody reads more.
const MOST_SHOWN: usize = 100;

/// Editors do not count it as a column.
pub(crate) const BYTE_ORDER_MARK: char = '\u{feff}';

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable: a `LanguageRule` or an `engine::CheckRule`.
    pub code: &'static str,
    pub severity: Severity,
    /// The file's name as it is shown to people.
    pub file: String,
    /// Bytes of that file; absent when the problem is the file as a whole.
    pub span: Option<Range<usize>>,
    pub message: String,
    /// What to write instead.
    pub hint: String,
}

impl Diagnostic {
    pub(crate) fn new(rule: LanguageRule, file: &str, message: String, hint: String) -> Self {
        let (code, severity, file) = (rule.code(), Severity::Error, String::from(file));
        Self {
            code,
            severity,
            file,
            span: None,
            message,
            hint,
        }
    }

    pub(crate) fn at(mut self, span: &Range<usize>) -> Self {
        self.span = Some(span.clone());
        self
    }

    /// The line and the column, both from 1, the column in characters.
    pub fn line_column(&self, text: &str) -> Option<(usize, usize)> {
        let start = self.span.as_ref()?.start;
        Some(line_column(text, start))
    }
}

/// The line and column of a byte, both from 1. Lines end with a line feed; columns are characters.
fn line_column(text: &str, byte: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(byte)];
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let column = before[start..]
        .chars()
        .filter(|found| *found != BYTE_ORDER_MARK)
        .count()
        + 1;
    (line, column)
}

/// The problems found so far. Those past the limit are counted and dropped.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    shown: Vec<Diagnostic>,
    more: usize,
}

impl Problems {
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        if self.shown.len() < MOST_SHOWN {
            self.shown.push(diagnostic);
        } else {
            self.more += 1;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.shown.is_empty()
    }

    /// In the order of the file, which is the order in which people fix them.
    pub(crate) fn into_sorted(self, file: &str) -> Vec<Diagnostic> {
        let Self { mut shown, more } = self;
        shown.sort_by_key(|problem| problem.span.as_ref().map(|span| span.start));
        if more > 0 {
            let message = format!("{more} more problems are not shown");
            let hint = String::from("fix these first, then run lint again");
            shown.push(Diagnostic::new(
                LanguageRule::ManyProblems,
                file,
                message,
                hint,
            ));
        }
        shown
    }
}

/// The user's own text inside a message: in backticks, and cut where it is too long to be read.
pub(crate) fn quote(text: &str) -> String {
    const LONGEST: usize = 60;
    let shown: Cow<str> = match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    };
    format!("`{shown}`")
}

/// A list of the user's or the language's words: `a`, `b` and `c`.
pub(crate) fn listed<'a>(words: impl IntoIterator<Item = &'a str>, last: &str) -> String {
    let mut words: Vec<String> = words.into_iter().map(quote).collect();
    match words.pop() {
        Some(only) if words.is_empty() => only,
        Some(end) => format!("{} {last} {end}", words.join(", ")),
        None => String::new(),
    }
}
