//! Markdown in which outside text is never markup.

use crate::safe::{line, safe};

/// One line in which nothing is markup: no link, no image, no HTML, no table cell ends.
pub(crate) fn escaped(text: &str) -> String {
    let text = line(text);
    let mut escaped = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    let mut before = ' ';
    while let Some(found) = rest.next() {
        // Inside a word an underscore is not markup, and file names often have one.
        let inside = |next: &char| before.is_ascii_alphanumeric() && next.is_ascii_alphanumeric();
        let plain = found == '_' && rest.peek().is_some_and(inside);
        if !plain && "\\`*_{}[]<>#|~&!$".contains(found) {
            escaped.push('\\');
        }
        escaped.push(found);
        before = found;
    }
    escaped
}

/// A quotation of several lines, each of them escaped.
pub(crate) fn quoted(text: &str) -> String {
    let lines: Vec<_> = safe(text)
        .lines()
        .map(|part| format!("> {}", escaped_start(part)))
        .collect();
    lines.join("\n")
}

/// At the start of a line, a dash, a plus or a number with a dot would start a list.
fn escaped_start(text: &str) -> String {
    let text = escaped(text);
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    match text.chars().nth(digits) {
        Some('-' | '+' | '=') if digits == 0 => format!("\\{text}"),
        Some('.' | ')') if digits > 0 => format!("{}\\{}", &text[..digits], &text[digits..]),
        Some(_) | None => text,
    }
}

/// A code block whose fence is longer than any run of backticks inside it.
pub(crate) fn fenced(text: &str, indent: usize) -> String {
    let mut longest = 0;
    let mut current = 0;
    for found in text.chars() {
        current = if found == '`' { current + 1 } else { 0 };
        longest = longest.max(current);
    }
    let fence = "`".repeat(longest.max(2) + 1);
    let space = " ".repeat(indent);
    let lines: String = text
        .lines()
        .map(|line| format!("{space}{line}\n"))
        .collect();
    format!("{space}{fence}text\n{lines}{space}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_shown_and_not_obeyed() {
        for (text, expected) in [
            ("plain, text: 1 (one)", "plain, text: 1 (one)"),
            ("[x](http://e) ![y](z)", "\\[x\\](http://e) \\!\\[y\\](z)"),
            ("<script>", "\\<script\\>"),
            ("a | b", "a \\| b"),
            ("two\nlines", "two lines"),
        ] {
            assert_eq!(escaped(text), expected);
        }
    }

    #[test]
    fn quotations_begin_no_list() {
        assert_eq!(
            quoted("- a\n12. b\n\n# c"),
            "> \\- a\n> 12\\. b\n> \n> \\# c"
        );
    }

    #[test]
    fn a_fence_cannot_be_closed_from_inside() {
        assert_eq!(fenced("a\n````\nb", 0), "`````text\na\n````\nb\n`````");
        assert_eq!(fenced("a", 2), "  ```text\n  a\n  ```");
    }
}
