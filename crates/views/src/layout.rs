//! Lines for a terminal: measured, padded, cut and wrapped by how wide they are shown.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::paint::{Paint, Style};

/// No line that we lay out ourselves is wider.
pub(crate) const COLUMNS: usize = 100;

pub fn width(text: &str) -> usize {
    text.width()
}

pub fn pad(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(width(text));
    format!("{text}{}", " ".repeat(missing))
}

/// Shortens what is too wide and marks that with `…`.
pub fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let (head, _) = split_at_width(text, columns.saturating_sub(1));
    format!("{}…", head.trim_end())
}

/// Breaks at spaces, and inside a word only where the word alone is too wide. Every line keeps the
/// indentation of the text.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let words = text.trim_start_matches(' ');
    let indent = (text.len() - words.len()).min(columns / 2);
    let lines = wrap_words(words, columns - indent);
    lines
        .into_iter()
        .map(|line| format!("{}{line}", " ".repeat(indent)))
        .collect()
}

fn wrap_words(text: &str, columns: usize) -> Vec<String> {
    // The widest character takes two columns: with less, nothing would ever fit.
    let columns = columns.max(2);
    let mut lines = Vec::new();
    let mut current = String::new();
    for word in text.split(' ') {
        let mut word = word;
        if !current.is_empty() && width(&current) + 1 + width(word) > columns {
            lines.push(std::mem::take(&mut current));
        }
        while width(word) > columns {
            let (head, tail) = split_at_width(word, columns);
            lines.push(head.to_owned());
            word = tail;
        }
        if !current.is_empty() {
            current.push(' ');
        }
        current.push_str(word);
    }
    lines.push(current);
    lines
}

/// Splits before the first character that does not fit any more.
fn split_at_width(text: &str, columns: usize) -> (&str, &str) {
    let mut used = 0;
    for (place, found) in text.char_indices() {
        used += found.width().unwrap_or(0);
        if used > columns {
            return text.split_at(place);
        }
    }
    (text, "")
}

/// A text of labelled fields, built line by line.
pub(crate) struct TextBuilder {
    paint: Paint,
    text: String,
}

/// Where the values of fields begin.
const VALUE_COLUMN: usize = 12;

impl TextBuilder {
    pub(crate) fn new(paint: Paint) -> Self {
        Self {
            paint,
            text: String::new(),
        }
    }

    pub(crate) fn line(&mut self, style: Style, text: &str) {
        for part in wrap(text, COLUMNS) {
            self.push(&self.paint.on(style, &part));
        }
    }

    pub(crate) fn blank(&mut self) {
        self.push("");
    }

    /// A line that is laid out and painted already.
    pub(crate) fn push(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// `  label     value`, the value wrapped below itself.
    pub(crate) fn field(&mut self, label: &str, style: Style, value: &str) {
        let head = pad(&format!("  {label}"), VALUE_COLUMN);
        let mut head = self.paint.on(Style::Dim, &head);
        for part in wrap(value, COLUMNS - VALUE_COLUMN) {
            let part = self.paint.on(style, &part);
            self.push(&format!("{head}{part}"));
            head = " ".repeat(VALUE_COLUMN);
        }
    }

    /// The first value carries the label, the others stand below it.
    pub(crate) fn fields(
        &mut self,
        label: &str,
        values: impl IntoIterator<Item = (Style, String)>,
    ) {
        let mut label = label;
        for (style, value) in values {
            self.field(label, style, &value);
            label = "";
        }
    }

    /// Text of several lines, each indented, none wrapped: output is read as it was written.
    pub(crate) fn block(&mut self, indent: usize, style: Style, text: &str) {
        for line in text.lines() {
            self.indented(indent, style, line);
        }
    }

    /// One line of such a text.
    pub(crate) fn indented(&mut self, indent: usize, style: Style, line: &str) {
        let line = self.paint.on(style, line);
        self.push(&format!("{}{line}", " ".repeat(indent)));
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }
}

/// Columns under headings, each as wide as its widest cell.
pub(crate) struct Table {
    headings: Vec<&'static str>,
    rows: Vec<Vec<(Style, String)>>,
}

impl Table {
    pub(crate) fn new(headings: &[&'static str]) -> Self {
        Self {
            headings: headings.to_vec(),
            rows: Vec::new(),
        }
    }

    pub(crate) fn row(&mut self, cells: Vec<(Style, String)>) {
        self.rows.push(cells);
    }

    pub(crate) fn text(&self, paint: Paint) -> String {
        let widths = self.widths();
        let headings = self
            .headings
            .iter()
            .map(|heading| (Style::Dim, (*heading).to_owned()));
        let mut builder = TextBuilder::new(paint);
        builder.push(&table_line(&headings.collect::<Vec<_>>(), &widths, paint));
        for row in &self.rows {
            builder.push(&table_line(row, &widths, paint));
        }
        builder.finish()
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.headings.iter().map(|heading| width(heading)).collect();
        for row in &self.rows {
            for (column, (_, cell)) in widths.iter_mut().zip(row) {
                *column = width(cell).max(*column);
            }
        }
        widths
    }
}

/// The last cell is not padded: nothing comes after it, and copied lines carry no trailing spaces.
fn table_line(cells: &[(Style, String)], widths: &[usize], paint: Paint) -> String {
    let last = cells.len().saturating_sub(1);
    let columns = cells
        .iter()
        .zip(widths)
        .enumerate()
        .map(|(place, ((style, cell), columns))| {
            if place == last {
                paint.on(*style, cell)
            } else {
                format!(
                    "{}{}",
                    paint.on(*style, cell),
                    " ".repeat(columns - width(cell))
                )
            }
        });
    columns.collect::<Vec<_>>().join("  ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::safe::line;
    use crate::test_random::TestRandom;

    #[test]
    fn cutting() {
        for (text, columns, expected) in [
            ("short", 10, "short"),
            ("exactly ten", 11, "exactly ten"),
            ("one too many", 11, "one too ma…"),
            ("a space before", 3, "a…"),
            ("漢字漢字", 5, "漢字…"),
        ] {
            assert_eq!(cut(text, columns), expected);
        }
    }

    #[test]
    fn wrapping() {
        for (text, columns, expected) in [
            ("", 5, vec![""]),
            ("one two three", 7, vec!["one two", "three"]),
            ("unbreakable", 4, vec!["unbr", "eaka", "ble"]),
            ("an unbreakable", 6, vec!["an", "unbrea", "kable"]),
            ("  two words", 7, vec!["  two", "  words"]),
            ("漢字漢字", 4, vec!["漢字", "漢字"]),
        ] {
            assert_eq!(wrap(text, columns), expected);
        }
    }

    #[test]
    fn nothing_is_wider_than_asked_and_no_character_is_lost() {
        let mut random = TestRandom::new(3);
        for _ in 0..5_000 {
            let text = line(&random.hostile_text(60));
            let columns = 2 + random.below(30);
            let lines = wrap(&text, columns);
            assert!(
                lines.iter().all(|line| width(line) <= columns),
                "{text:?} in {columns}"
            );
            let letters = |text: &str| text.replace(' ', "");
            assert_eq!(letters(&lines.concat()), letters(&text));
            assert!(
                width(&cut(&text, columns)) <= columns,
                "{text:?} in {columns}"
            );
        }
    }

    #[test]
    fn columns_line_up_with_and_without_colour() {
        let mut table = Table::new(&["RUN", "TASK"]);
        table.row(vec![
            (Style::Normal, "r-1".into()),
            (Style::Good, "漢字".into()),
        ]);
        table.row(vec![
            (Style::Bad, "r-long".into()),
            (Style::Normal, "b".into()),
        ]);
        assert_eq!(
            table.text(Paint::Plain),
            "RUN     TASK\nr-1     漢字\nr-long  b\n"
        );
        assert!(
            table
                .text(Paint::Ansi)
                .contains("\u{1b}[1;31mr-long\u{1b}[0m  b\n")
        );
    }
}
