//! One word of a shell's text, with what its quotes protect.

use std::fmt;
use std::ops::Deref;

/// Characters that mean something to a shell where no quotes protect them.
const SPECIAL: &str = r"*?[]{},~$\";

/// A word without its quotes. It reads as its plain text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    text: String,
    /// The same text, with a backslash before each special character that quotes protect.
    pattern: String,
    quoted: bool,
}

impl Word {
    /// The text as a shell would expand it: a backslash stands before what quotes protect.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    pub(super) fn is_quoted(&self) -> bool {
        self.quoted
    }

    pub(super) fn mark_quoted(&mut self) {
        self.quoted = true;
    }

    pub(super) fn push(&mut self, c: char) {
        self.text.push(c);
        self.pattern.push(c);
    }

    pub(super) fn push_str(&mut self, text: &str) {
        self.text.push_str(text);
        self.pattern.push_str(text);
    }

    pub(super) fn push_quoted(&mut self, c: char) {
        self.quoted = true;
        self.text.push(c);
        if SPECIAL.contains(c) {
            self.pattern.push('\\');
        }
        self.pattern.push(c);
    }

    /// The word without this beginning, which must be plain text.
    pub fn without_prefix(&self, prefix: &str) -> Option<Self> {
        Some(Self {
            text: self.text.strip_prefix(prefix)?.to_owned(),
            pattern: self.pattern.strip_prefix(prefix)?.to_owned(),
            quoted: self.quoted,
        })
    }
}

/// A plain word: nothing in it is expanded but what is special by itself.
impl From<&str> for Word {
    fn from(text: &str) -> Self {
        let mut word = Self::default();
        word.push_str(text);
        word
    }
}

impl Deref for Word {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
