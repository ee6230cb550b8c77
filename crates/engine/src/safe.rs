//! The only printable form of text from outside: it cannot control a terminal.

use alloc::string::String;
use core::iter::Peekable;
use core::str::Chars;

/// Drops everything that a terminal would interpret instead of show: control characters except newline
/// and tab, escape sequences, and characters that are invisible or turn the writing direction.
pub fn safe(text: &str) -> String {
    if is_plain(text) {
        return String::from(text);
    }
    let mut safe = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(found) = rest.next() {
        match Introducer::of(found, rest.peek().copied()) {
            Some(introducer) => skip_sequence(introducer, &mut rest),
            // A carriage return would write over the line: what it hides is shown.
            None if found == '\r' && rest.peek() != Some(&'\n') => safe.push('\n'),
            None if is_forbidden(found) => {}
            None => safe.push(found),
        }
    }
    safe
}

/// Does the text have a character that must never reach a terminal?
pub fn has_forbidden(text: &str) -> bool {
    !is_plain(text) && text.contains(is_forbidden)
}

/// Is it ASCII that a terminal shows as it is? Nearly every text is, and hooks look at many, so all
/// bytes of one are compared at once.
fn is_plain(text: &str) -> bool {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    text.bytes()
        .fold(true, |plain, byte| plain & is_plain(byte))
}

/// May this character never reach a terminal?
pub fn is_forbidden(found: char) -> bool {
    // Nearly every character is ASCII, and hooks look at all of a view.
    if found.is_ascii() {
        return found.is_ascii_control() && !matches!(found, '\n' | '\t');
    }
    found.is_control() || turns_direction(found) || is_invisible(found)
}

/// What starts an escape sequence, in its 7-bit (`ESC [`) and its 8-bit form.
enum Introducer {
    /// A lone `ESC`, or one with a single character after it.
    Escape,
    /// Parameters up to one final character, as in a colour.
    Control { seven_bit: bool },
    /// A text up to a terminator, as in a window title or a clipboard write.
    Text { seven_bit: bool },
}

impl Introducer {
    fn of(found: char, next: Option<char>) -> Option<Self> {
        match (found, next) {
            ('\u{1b}', Some('[')) => Some(Self::Control { seven_bit: true }),
            ('\u{1b}', Some(']' | 'P' | 'X' | '^' | '_')) => Some(Self::Text { seven_bit: true }),
            ('\u{1b}', _) => Some(Self::Escape),
            ('\u{9b}', _) => Some(Self::Control { seven_bit: false }),
            ('\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}', _) => Some(Self::Text { seven_bit: false }),
            _ => None,
        }
    }
}

fn skip_sequence(introducer: Introducer, rest: &mut Peekable<Chars<'_>>) {
    match introducer {
        Introducer::Escape => {}
        Introducer::Control { seven_bit } => {
            skip_second(seven_bit, rest);
            while rest.next_if(|c| matches!(c, ' '..='?')).is_some() {}
            rest.next_if(|c| matches!(c, '@'..='~'));
        }
        Introducer::Text { seven_bit } => {
            skip_second(seven_bit, rest);
            skip_text(rest);
        }
    }
}

fn skip_second(seven_bit: bool, rest: &mut Peekable<Chars<'_>>) {
    if seven_bit {
        rest.next();
    }
}

/// Skips up to the terminator, if there is one on this line. A sequence that never ends must not
/// swallow the lines after it: an attacker could hide text.
fn skip_text(rest: &mut Peekable<Chars<'_>>) {
    let mut ahead = rest.clone();
    while let Some(found) = ahead.next_if(|c| *c != '\n') {
        let two_characters = found == '\u{1b}' && ahead.peek() == Some(&'\\');
        if two_characters {
            ahead.next();
        }
        if two_characters || matches!(found, '\u{7}' | '\u{9c}') {
            *rest = ahead;
            return;
        }
    }
}

fn turns_direction(found: char) -> bool {
    matches!(found,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Zero-width characters, separators that only look like spaces or lines, blank letters,
/// variation selectors and tags: all of them carry text that nobody sees.
fn is_invisible(found: char) -> bool {
    matches!(found,
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200d}' | '\u{2028}' | '\u{2029}'
        | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_dropped() {
        for (text, shown) in [
            ("plain text, äöü, 漢字, 🦀", "plain text, äöü, 漢字, 🦀"),
            ("two\nlines\tand a tab", "two\nlines\tand a tab"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{9b}31mred", "red"),
            ("\u{1b}]0;title\u{7}after", "after"),
            ("\u{1b}]52;c;ZXZpbA==\u{1b}\\after", "after"),
            ("\u{9d}0;title\u{9c}after", "after"),
            ("\u{1b}Pq sixel\u{1b}\\after", "after"),
            ("\u{1b}]0;never ends\nnext line", "0;never ends\nnext line"),
            ("\u{1b}[12;", ""),
            ("\u{1b}", ""),
            ("\u{1b}c", "c"),
            ("FAILED\rpassed\u{8}\u{7f}", "FAILED\npassed"),
            ("a\r\nb", "a\nb"),
            ("abc\u{202e}fed\u{2066}", "abcfed"),
            ("a\u{200b}d\u{200d}min\u{feff}", "admin"),
            ("x\u{e0041}\u{e007f}", "x"),
            ("\u{85}\u{2028}", ""),
        ] {
            assert_eq!(safe(text), shown, "{text:?}");
        }
    }

    #[test]
    fn whatever_the_character_the_result_is_printable() {
        for found in (0..=0x1_0fff_u32).filter_map(char::from_u32) {
            let shown = safe(&alloc::format!("a{found}b"));
            assert!(!shown.chars().any(is_forbidden), "{found:?}");
        }
    }
}
