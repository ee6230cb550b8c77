//! Text from outside, made safe to print: without control sequences.

pub use engine::safe;

/// One safe line of at most `length` characters, for a reason or a message.
pub fn line(text: &str, length: usize) -> String {
    let safe = safe(text);
    let line = safe.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(length) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_line_and_short() {
        assert_eq!(line("a\n  b\u{1b}[1m c", 80), "a b c");
        assert_eq!(line("abcdef", 3), "abc…");
        assert_eq!(line("äöü", 3), "äöü");
    }
}
