//! Text that came from outside, which cannot be printed by accident.

pub(crate) use engine::has_forbidden;
pub use engine::{is_forbidden, safe};

/// The same as `safe` on one line: newlines and tabs become spaces.
pub fn line(text: &str) -> String {
    safe(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Text that came from outside.
///
/// It has no `Display`, so it cannot be printed by accident: `line` and `block` are for people,
/// `raw` is for JSON, which escapes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Untrusted(String);

impl Untrusted {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// On one line.
    pub fn line(&self) -> String {
        line(&self.0)
    }

    /// With its newlines and tabs.
    pub fn block(&self) -> String {
        safe(&self.0)
    }

    pub fn raw(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_random::TestRandom;

    #[test]
    fn one_line_stays_one_line() {
        assert_eq!(line("a\r\n b\t\tc\u{2028}\n"), "a b c");
    }

    #[test]
    fn no_forbidden_character_survives() {
        let mut random = TestRandom::new(7);
        for _ in 0..20_000 {
            let text = random.hostile_text(40);
            let shown = safe(&text);
            assert!(!shown.chars().any(is_forbidden), "{text:?}");
            assert_eq!(has_forbidden(&text), text.chars().any(is_forbidden));
            assert_eq!(safe(&shown), shown, "what is safe stays as it is: {text:?}");
        }
    }

    #[test]
    fn harmless_text_is_untouched() {
        let mut random = TestRandom::new(11);
        for _ in 0..5_000 {
            let text: String = random
                .hostile_text(40)
                .chars()
                .filter(|c| !is_forbidden(*c))
                .collect();
            assert_eq!(safe(&text), text);
        }
    }
}
