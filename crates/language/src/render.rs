//! A diagnostic as people read it: the message, the place, the line underlined, and what to do.

use std::fmt::Write as _;
use std::ops::Range;

use engine::Severity;

use crate::diagnostic::{BYTE_ORDER_MARK, Diagnostic};

/// May the text have colours? The caller knows whether it goes to a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    Plain,
    Ansi,
}

/// How many characters of a source line are shown; a longer one is cut around the place.
const WIDEST: usize = 100;

impl Diagnostic {
    /// Draws the diagnostic over the file's text, ending with a line break.
    ///
    /// Invariant: no control characters of the file reach the terminal.
    pub fn render(&self, text: &str, colour: Colour) -> String {
        let Paint {
            word,
            strong,
            dim,
            end,
        } = Paint::new(self.severity, colour);
        let (code, message) = (self.code, visible(&self.message));
        let mut out = format!("{strong}{word}[{code}]{end}: {message}\n");
        let gutter = match self.line_column(text) {
            Some((line, _)) => " ".repeat(line.to_string().len()),
            None => String::from(" "),
        };
        let _ = writeln!(out, "{gutter}{dim}-->{end} {}", self.place(text));
        if let (Some(span), Some((line, _))) = (&self.span, self.line_column(text)) {
            let SourceLine {
                shown,
                indent,
                width,
            } = SourceLine::cut(text, span);
            let (indent, marks) = (" ".repeat(indent), "^".repeat(width));
            let _ = writeln!(out, "{gutter} {dim}|{end}");
            let _ = writeln!(out, "{dim}{line} |{end} {shown}");
            let _ = writeln!(out, "{gutter} {dim}|{end} {indent}{strong}{marks}{end}");
        }
        if !self.hint.is_empty() {
            let _ = writeln!(out, "{gutter} {dim}={end} help: {}", visible(&self.hint));
        }
        out
    }

    /// The file, and the line and column where there are such.
    fn place(&self, text: &str) -> String {
        let file = visible(&self.file);
        match self.line_column(text) {
            Some((line, column)) => format!("{file}:{line}:{column}"),
            None => file,
        }
    }
}

/// One line of the file, made harmless, with where to underline it.
struct SourceLine {
    shown: String,
    indent: usize,
    width: usize,
}

impl SourceLine {
    fn cut(text: &str, span: &Range<usize>) -> Self {
        let from = floor(text, span.start);
        let start = text[..from].rfind('\n').map_or(0, |end| end + 1);
        let end = text[from..]
            .find('\n')
            .map_or(text.len(), |length| from + length);
        let to = floor(text, span.end).clamp(from, end);
        // More than this is not shown, so it is not processed either.
        let start = floor(text, from.saturating_sub(4 * WIDEST)).max(start);
        let before = visible(&text[start..from]);
        let marked = visible(text[from..floor(text, from + 4 * WIDEST).min(to)].trim_end());
        let after = visible(text[to..floor(text, to + 4 * WIDEST).min(end)].trim_end());
        Self::fit(before, marked, after)
    }

    /// A very long line still shows the place.
    fn fit(mut before: String, mut marked: String, mut after: String) -> Self {
        const BEFORE: usize = 40;
        let length = |part: &str| part.chars().count();
        if length(&before) + length(&marked) + length(&after) > WIDEST {
            if let Some((cut, _)) = before.char_indices().rev().nth(BEFORE) {
                before = format!("…{}", &before[cut..]);
            }
            let room = WIDEST.saturating_sub(length(&before));
            shorten(&mut marked, room);
            let room = room.saturating_sub(length(&marked));
            shorten(&mut after, room);
        }
        let (indent, width) = (length(&before), length(&marked).max(1));
        let shown = format!("{before}{marked}{after}");
        Self {
            shown: String::from(shown.trim_end()),
            indent,
            width,
        }
    }
}

fn shorten(text: &mut String, room: usize) {
    if let Some((cut, _)) = text.char_indices().nth(room) {
        text.truncate(cut);
        text.push('…');
    }
}

/// The nearest character boundary at or before a byte.
fn floor(text: &str, byte: usize) -> usize {
    text.floor_char_boundary(byte)
}

/// Messages quote the file, so they are made harmless too.
fn visible(text: &str) -> String {
    text.chars()
        .filter(|found| *found != BYTE_ORDER_MARK)
        .map(without_control)
        .collect()
}

/// Control characters could control a terminal, and direction marks could reorder the text.
fn without_control(found: char) -> char {
    match found {
        '\t' => ' ',
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        _ if found.is_control() => '\u{fffd}',
        _ => found,
    }
}

struct Paint {
    word: &'static str,
    strong: &'static str,
    dim: &'static str,
    end: &'static str,
}

impl Paint {
    fn new(severity: Severity, colour: Colour) -> Self {
        let (word, strong) = match severity {
            Severity::Error => ("error", "\u{1b}[1;31m"),
            Severity::Warning => ("warning", "\u{1b}[1;33m"),
        };
        match colour {
            Colour::Plain => Self {
                word,
                strong: "",
                dim: "",
                end: "",
            },
            Colour::Ansi => Self {
                word,
                strong,
                dim: "\u{1b}[34m",
                end: "\u{1b}[0m",
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::LanguageRule;

    fn diagnostic(span: Range<usize>) -> Diagnostic {
        let (message, hint) = (String::from("wrong"), String::from("mend it"));
        Diagnostic::new(LanguageRule::Syntax, "p.toml", message, hint).at(&span)
    }

    /// The line as it is shown, and what is underlined in it.
    fn check(text: &str, span: Range<usize>, expected: (&str, &str)) {
        let rendered = diagnostic(span).render(text, Colour::Plain);
        let lines: Vec<&str> = rendered.lines().collect();
        let (line, marks) = (lines[3], lines[4]);
        let marked = line
            .chars()
            .zip(marks.chars())
            .filter(|(_, mark)| *mark == '^');
        let marked: String = marked.map(|(shown, _)| shown).collect();
        let (_, shown) = line.split_once(" | ").unwrap_or_default();
        assert_eq!((shown, marked.as_str()), expected);
    }

    #[test]
    fn the_place_is_underlined() {
        check("a = 1\nbe = 2", 6..8, ("be = 2", "be"));
        check("é = 'ü' # x", 5..9, ("é = 'ü' # x", "'ü'"));
        check("\ta = 1\r\n", 1..2, (" a = 1", "a"));
        check("\u{feff}a = 1", 3..4, ("a = 1", "a"));
        check("a = '''\nb'''", 4..12, ("a = '''", "'''"));
        check("a = \u{1b}[31m", 4..5, ("a = \u{fffd}[31m", "\u{fffd}"));
        check("a = 1", 99..120, ("a = 1", ""));
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let line = format!("{}bad{}", "x".repeat(500), "y".repeat(500));
        let shown = format!("…{}bad{}…", "x".repeat(41), "y".repeat(55));
        check(&line, 500..503, (&shown, "bad"));
    }

    #[test]
    fn colours_are_there_only_when_asked_for() {
        let diagnostic = diagnostic(0..1);
        assert!(!diagnostic.render("a", Colour::Plain).contains('\u{1b}'));
        let coloured = diagnostic.render("a", Colour::Ansi);
        assert!(
            coloured.starts_with("\u{1b}[1;31merror[GW-L104]\u{1b}[0m: wrong"),
            "{coloured:?}"
        );
    }
}
