//! The tail of a command's output, and whether one of some texts was in it.

use crate::text;

/// How much of the output is kept for people.
pub(super) const TAIL_BYTES: usize = 8 * 1024;

/// Kept beyond that until redaction, so that no secret is cut and missed.
const MARGIN: usize = 8 * 1024;

/// Takes output in pieces and keeps its tail, in bounded memory.
pub struct Tail {
    end: Vec<u8>,
    is_cut: bool,
    /// Texts that fail the command.
    searches: Vec<TextSearch>,
    /// Texts whose absence fails the check.
    expected: Vec<TextSearch>,
}

struct TextSearch {
    wanted: Vec<u8>,
    /// The last bytes, in which a match may have started.
    begun: Vec<u8>,
    found: bool,
}

impl Tail {
    pub fn new(wanted: &[String]) -> Self {
        Self::searching(wanted, &[])
    }

    pub(super) fn searching(failing: &[String], expected: &[String]) -> Self {
        let search = |wanted: &[String]| {
            let wanted = wanted.iter().filter(|wanted| !wanted.is_empty());
            wanted.map(TextSearch::new).collect()
        };
        Self {
            end: Vec::new(),
            is_cut: false,
            searches: search(failing),
            expected: search(expected),
        }
    }

    pub fn push(&mut self, piece: &[u8]) {
        for search in self.searches.iter_mut().chain(&mut self.expected) {
            search.push(piece);
        }
        self.end.extend_from_slice(piece);
        if self.end.len() > 4 * (TAIL_BYTES + MARGIN) {
            self.end.drain(..self.end.len() - TAIL_BYTES - MARGIN);
            self.is_cut = true;
        }
    }

    pub fn matched(&self) -> bool {
        self.searches.iter().any(|search| search.found)
    }

    /// Was this expected text in the output?
    pub(super) fn has(&self, text: &str) -> bool {
        let mut found = self.expected.iter().filter(|search| search.found);
        found.any(|search| search.wanted == text.as_bytes())
    }

    /// The tail of the output: printable, redacted, and from the start of a line.
    pub fn text(&self, secrets: &[String]) -> String {
        let from = self.end.len().saturating_sub(TAIL_BYTES + MARGIN);
        let clean = text::safe(&String::from_utf8_lossy(&self.end[from..]));
        let clean = engine::redact(&clean, secrets);
        let is_cut = self.is_cut || from > 0 || clean.len() > TAIL_BYTES;
        let from = clean.ceil_char_boundary(clean.len().saturating_sub(TAIL_BYTES));
        let end = &clean[from..];
        match (is_cut, end.split_once('\n')) {
            (true, Some((_, lines))) => String::from(lines),
            (true, None) | (false, _) => String::from(end),
        }
    }
}

impl TextSearch {
    fn new(wanted: &String) -> Self {
        Self {
            wanted: wanted.as_bytes().to_vec(),
            begun: Vec::new(),
            found: false,
        }
    }

    fn push(&mut self, piece: &[u8]) {
        if self.found {
            return;
        }
        self.begun.extend_from_slice(piece);
        self.found = contains(&self.begun, &self.wanted);
        let keep = self.wanted.len().saturating_sub(1).min(self.begun.len());
        self.begun.drain(..self.begun.len() - keep);
    }
}

fn contains(text: &[u8], wanted: &[u8]) -> bool {
    let Some(first) = wanted.first() else {
        return false;
    };
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| byte == first) {
        rest = &rest[at..];
        if rest.starts_with(wanted) {
            return true;
        }
        rest = &rest[1..];
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(pieces: &[&[u8]], wanted: Option<&str>) -> Tail {
        let wanted: Vec<String> = wanted.into_iter().map(String::from).collect();
        let mut tail = Tail::new(&wanted);
        pieces.iter().for_each(|piece| tail.push(piece));
        tail
    }

    #[test]
    fn short_output_is_kept_whole() {
        assert_eq!(tail(&[b"one\n", b"two\n"], None).text(&[]), "one\ntwo\n");
        assert_eq!(tail(&[], None).text(&[]), "");
    }

    #[test]
    fn of_long_output_the_last_whole_lines_are_kept() {
        let line = b"a line of the middle\n";
        let mut tail = Tail::new(&[]);
        for _ in 0..100_000 {
            tail.push(line);
        }
        tail.push(b"the end\n");
        let text = tail.text(&[]);
        assert!(text.len() <= TAIL_BYTES, "{}", text.len());
        assert!(text.starts_with("a line of the middle\n") && text.ends_with("\nthe end\n"));
        assert!(tail.end.capacity() < 1024 * 1024);
    }

    #[test]
    fn one_endless_line_is_cut_too() {
        let text = tail(&["é".repeat(50_000).as_bytes()], None).text(&[]);
        assert!(!text.is_empty() && text.len() <= TAIL_BYTES && text.chars().all(|c| c == 'é'));
    }

    #[test]
    fn a_text_is_found_wherever_the_pieces_are_cut() {
        for cut in 0..=11 {
            let (first, second) = b"it FAILED!!".split_at(cut);
            assert!(tail(&[first, second], Some("FAILED")).matched(), "{cut}");
        }
        assert!(tail(&[b"FAILED", &[b'x'; 300_000]], Some("FAILED")).matched());
        assert!(tail(&[b"FAFAILED"], Some("FAILED")).matched());
        assert!(!tail(&[b"FAIL", b"failed ED"], Some("FAILED")).matched());
        assert!(!tail(&[b"anything"], Some("")).matched());
    }

    #[test]
    fn a_secret_across_the_cut_is_not_kept() {
        let secret = "s3cret-value-of-mine";
        let output = format!("{}{}", secret, "x".repeat(TAIL_BYTES - 5));
        let text = tail(&[output.as_bytes()], None).text(&[String::from(secret)]);
        assert!(!text.contains("mine"), "{}", &text[..40]);
    }
}
