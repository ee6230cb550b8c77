//! A picture that is drawn in place at a terminal, below lines that stay.
//!
//! The cursor is hidden only while one picture is written, in one piece with it. So whatever ends us,
//! at whatever moment, there is nothing to restore.

use views::progress::TerminalSize;

const HIDE: &str = "\u{1b}[?25l";
const SHOW: &str = "\u{1b}[?25h";
const ERASE_LINE: &str = "\u{1b}[2K";
const ERASE_BELOW: &str = "\u{1b}[J";
const ERASE_ALL: &str = "\u{1b}[H\u{1b}[J";

/// Where a frame begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameStart {
    /// This many rows above the cursor.
    Rows(usize),
    /// At the top of an empty screen.
    Everything,
}

/// How many rows the cursor goes up: a terminal that was made narrower has wrapped what stood there.
pub(crate) fn back(drawn: &[usize], room: TerminalSize) -> usize {
    let rows = drawn
        .iter()
        .map(|width| width.div_ceil(room.columns).max(1));
    rows.sum::<usize>().min(room.rows.saturating_sub(1))
}

/// One picture in one piece: up, line over line, and nothing left below.
pub(crate) fn frame(back: FrameStart, above: &[String], picture: &[String]) -> String {
    let mut frame = format!("{HIDE}\r");
    match back {
        FrameStart::Rows(0) => {}
        FrameStart::Rows(rows) => frame.push_str(&format!("\u{1b}[{rows}A")),
        FrameStart::Everything => frame.push_str(ERASE_ALL),
    }
    for line in above.iter().chain(picture) {
        frame.push_str(ERASE_LINE);
        frame.push_str(line);
        frame.push('\n');
    }
    frame.push_str(ERASE_BELOW);
    frame.push_str(SHOW);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cursor_is_hidden_only_inside_a_frame() {
        let frame = frame(
            FrameStart::Rows(2),
            &["said".to_owned()],
            &["one".to_owned(), "two".to_owned()],
        );
        assert_eq!(
            frame,
            "\u{1b}[?25l\r\u{1b}[2A\u{1b}[2Ksaid\n\u{1b}[2Kone\n\u{1b}[2Ktwo\n\u{1b}[J\u{1b}[?25h"
        );
    }

    #[test]
    fn the_first_frame_goes_nowhere_up() {
        assert!(!frame(FrameStart::Rows(0), &[], &["one".to_owned()]).contains('A'));
    }

    #[test]
    fn lines_that_a_narrower_terminal_wrapped_are_counted() {
        let room = |columns, rows| TerminalSize { columns, rows };
        for (drawn, room, expected) in [
            (&[][..], room(80, 24), 0),
            (&[10, 0, 80], room(80, 24), 3),
            (&[10, 0, 80], room(40, 24), 4),
            (&[81], room(40, 24), 3),
            (&[10, 10, 10], room(40, 3), 2),
        ] {
            assert_eq!(back(drawn, room), expected, "{drawn:?} {room:?}");
        }
    }
}
