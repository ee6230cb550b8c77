//! Pictures as bytes for a terminal: a whole one as lines of text, or only what has changed.

use std::fmt::Write as _;

use ratatui_core::buffer::{Buffer, Cell};
use ratatui_core::style::{Color, Modifier};
use views::Paint;

/// Takes the whole screen, hides the cursor and asks for the mouse. The title is kept aside.
pub(crate) const ENTER: &str =
    "\u{1b}[22;0t\u{1b}[?1049h\u{1b}[2J\u{1b}[?25l\u{1b}[?1000h\u{1b}[?1006h";

/// Gives everything back. Harmless where nothing was taken.
pub(crate) const LEAVE: &str =
    "\u{1b}[?1006l\u{1b}[?1000l\u{1b}[0m\u{1b}[?25h\u{1b}[?1049l\u{1b}[23;0t";

/// Erases the screen, after which everything is drawn anew.
pub(crate) const ERASE: &str = "\u{1b}[0m\u{1b}[2J";

/// Sets the title of the terminal. The text has passed `views::line`.
pub(crate) fn title(text: &str) -> String {
    format!("\u{1b}]0;{text}\u{7}")
}

/// What to write so that a terminal that shows one picture shows the other. Nothing where they are the same.
pub(crate) fn changes(before: &Buffer, after: &Buffer, paint: Paint) -> String {
    let mut text = String::new();
    let mut at = None;
    let mut last = None;
    for (x, y, cell) in before.diff(after) {
        if at != Some((x, y)) {
            let _ = write!(text, "\u{1b}[{};{}H", y + 1, x + 1);
        }
        let codes = codes(cell, paint, Weights::Kept);
        if last.as_ref() != Some(&codes) {
            let _ = write!(text, "\u{1b}[0{codes}m");
            last = Some(codes);
        }
        text.push_str(cell.symbol());
        let columns = u16::try_from(views::width(cell.symbol())).unwrap_or(1);
        at = Some((x + columns.max(1), y));
    }
    if !text.is_empty() {
        text.push_str("\u{1b}[0m");
    }
    text
}

/// The picture as lines of text, without trailing spaces.
pub(crate) fn lines(buffer: &Buffer, paint: Paint) -> String {
    let mut text = String::new();
    for y in 0..buffer.area.height {
        let line = line(buffer, y, paint);
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn line(buffer: &Buffer, y: u16, paint: Paint) -> String {
    let mut text = String::new();
    let mut last = String::new();
    let mut hidden = 0;
    let end = last_column(buffer, y);
    for x in 0..end {
        let Some(cell) = buffer.cell((x, y)) else {
            continue;
        };
        if hidden > 0 {
            hidden -= 1;
            continue;
        }
        let codes = codes(cell, paint, Weights::with(paint));
        if codes != last {
            let _ = write!(text, "\u{1b}[0{codes}m");
            last = codes;
        }
        text.push_str(cell.symbol());
        hidden = views::width(cell.symbol()).saturating_sub(1);
    }
    if !last.is_empty() {
        text.push_str("\u{1b}[0m");
    }
    text
}

/// One past the last column that shows something.
fn last_column(buffer: &Buffer, y: u16) -> u16 {
    let mut columns = (0..buffer.area.width).rev();
    let shows = |x: &u16| {
        buffer
            .cell((*x, y))
            .is_some_and(|cell| cell.symbol() != " ")
    };
    columns.find(shows).map_or(0, |x| x + 1)
}

/// Are bold, dim and reversed text kept where there are no colours?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Weights {
    Kept,
    Dropped,
}

impl Weights {
    fn with(paint: Paint) -> Self {
        match paint {
            Paint::Ansi => Self::Kept,
            Paint::Plain => Self::Dropped,
        }
    }
}

fn codes(cell: &Cell, paint: Paint, weights: Weights) -> String {
    let mut codes = String::new();
    if weights == Weights::Kept {
        for (modifier, code) in [
            (Modifier::BOLD, ";1"),
            (Modifier::DIM, ";2"),
            (Modifier::UNDERLINED, ";4"),
            (Modifier::REVERSED, ";7"),
        ] {
            if cell.modifier.contains(modifier) {
                codes.push_str(code);
            }
        }
    }
    if paint == Paint::Ansi {
        codes.push_str(color_code(cell.fg));
    }
    codes
}

/// The few colours that are drawn with.
fn color_code(color: Color) -> &'static str {
    match color {
        Color::Red => ";31",
        Color::Green => ";32",
        Color::Yellow => ";33",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use ratatui_core::layout::Rect;
    use ratatui_core::style::Style;

    use super::*;

    fn picture(text: &str) -> Buffer {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 12, 2));
        buffer.set_string(1, 1, text, Style::new().fg(Color::Red));
        buffer
    }

    #[test]
    fn the_same_picture_writes_nothing() {
        assert_eq!(changes(&picture("a"), &picture("a"), Paint::Ansi), "");
    }

    #[test]
    fn only_what_differs_is_written() {
        let text = changes(&picture("one"), &picture("oxe"), Paint::Ansi);
        assert_eq!(text, "\u{1b}[2;3H\u{1b}[0;31mx\u{1b}[0m");
        let plain = changes(&picture("one"), &picture("oxe"), Paint::Plain);
        assert!(!plain.contains("31"), "{plain:?}");
    }

    #[test]
    fn lines_have_no_escape_without_colour_and_keep_wide_letters() {
        assert_eq!(lines(&picture("漢字 a"), Paint::Plain), "\n 漢字 a\n");
        let text = lines(&picture("a"), Paint::Ansi);
        assert_eq!(text, "\n \u{1b}[0;31ma\u{1b}[0m\n");
    }
}
