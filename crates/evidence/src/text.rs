//! Text from outside, made safe to print: the terminal obeys none of it.

/// The text without control characters (but newline and tab), escape sequences, and characters
/// that are invisible or change the direction of what follows.
pub fn safe(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\u{1b}' => skip_sequence(&mut rest),
            // The 8-bit forms of the same openings.
            '\u{9b}' => skip_parameters(&mut rest),
            '\u{90}' | '\u{9d}' | '\u{98}' | '\u{9e}' | '\u{9f}' => skip_string(&mut rest),
            '\r' if rest.peek() == Some(&'\n') => {}
            '\r' => safe.push('\n'),
            other if is_safe(other) => safe.push(other),
            _ => {}
        }
    }
    safe
}

/// One safe line of at most `length` characters, for a reason or a message.
pub fn line(text: &str, length: usize) -> String {
    let safe = safe(text);
    let line = safe.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(length) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

type Characters<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// After ESC: a sequence with parameters, a string that ends with BEL or ESC \, or one letter.
fn skip_sequence(rest: &mut Characters<'_>) {
    match rest.peek() {
        Some('[') => {
            rest.next();
            skip_parameters(rest);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => skip_string(rest),
        Some(' '..='/') => {
            rest.next();
            rest.next_if(|character| ('0'..='~').contains(character));
        }
        Some('0'..='~') => {
            rest.next();
        }
        _ => {}
    }
}

fn skip_parameters(rest: &mut Characters<'_>) {
    while rest
        .next_if(|character| (' '..='?').contains(character))
        .is_some()
    {}
    rest.next_if(|character| ('@'..='~').contains(character));
}

/// A string that nothing ends would swallow all that follows, so a line end ends it too.
fn skip_string(rest: &mut Characters<'_>) {
    while let Some(character) = rest.next_if(|character| *character != '\n') {
        match character {
            '\u{7}' | '\u{9c}' => return,
            '\u{1b}' => {
                rest.next_if_eq(&'\\');
                return;
            }
            _ => {}
        }
    }
}

fn is_safe(character: char) -> bool {
    match character {
        '\n' | '\t' => true,
        // Invisible and direction-changing characters, tags, and variation selectors beyond emoji.
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}' => false,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => false,
        '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}' => false,
        other => !other.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(cases: &[(&str, &str)]) {
        for (text, expected) in cases {
            assert_eq!(safe(text), *expected, "{text:?}");
        }
    }

    #[test]
    fn plain_text_stays_as_it_is() {
        check(&[
            ("", ""),
            ("a\tb\nc", "a\tb\nc"),
            ("Größe: 3 €, 日本 🙂", "Größe: 3 €, 日本 🙂"),
        ]);
    }

    #[test]
    fn a_terminal_is_given_no_orders() {
        check(&[
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{9b}31mred", "red"),
            ("\u{1b}]52;c;ZXZpbA==\u{7}after", "after"),
            ("\u{1b}]0;title\u{1b}\\after", "after"),
            ("\u{9d}0;title\u{9c}after", "after"),
            ("\u{1b}]8;;http://x\nnext line", "\nnext line"),
            ("\u{1b}Pq#0\u{1b}\\after", "after"),
            ("\u{1b}(Bword", "word"),
            ("\u{1b}cword", "word"),
            ("a\u{8}\u{8}b\u{0}c\u{7f}d", "abcd"),
            ("\u{1b}", ""),
            ("\u{1b}[", ""),
        ]);
    }

    #[test]
    fn carriage_returns_hide_nothing() {
        check(&[("a\r\nb", "a\nb"), ("FAILED\rpassed", "FAILED\npassed")]);
    }

    #[test]
    fn nothing_invisible_or_turned_around_remains() {
        check(&[
            ("a\u{202e}b\u{2066}c\u{200b}d", "abcd"),
            ("a\u{e0041}\u{e007f}b", "ab"),
            ("\u{feff}a", "a"),
        ]);
    }

    #[test]
    fn whatever_the_bytes_the_result_is_printable() {
        for code in 0..=0x1_0fff_u32 {
            let Some(character) = char::from_u32(code) else {
                continue;
            };
            let shown = safe(&format!("a{character}b"));
            let bad = |c: char| c.is_control() && c != '\n' && c != '\t';
            assert!(!shown.contains(bad), "{code:x}");
        }
    }

    #[test]
    fn a_line_is_one_line_and_short() {
        assert_eq!(line("a\n  b\u{1b}[1m c", 80), "a b c");
        assert_eq!(line("abcdef", 3), "abc…");
        assert_eq!(line("äöü", 3), "äöü");
    }
}
