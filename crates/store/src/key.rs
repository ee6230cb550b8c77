//! Idempotency keys: one key, one decision, however often it is sent.

use std::fmt;

/// The longest key that is accepted, in bytes.
const LONGEST: usize = 128;

/// Identifies a write, so that a retry is not done twice.
///
/// Invariant: it has passed `parse`: 1 to 128 printable ASCII characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(String);

/// Why a text is not a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error("a key cannot be empty")]
    Empty,
    #[error("a key has at most {LONGEST} characters, this one has {length}")]
    TooLong { length: usize },
    #[error("a key is printable ASCII and cannot contain {found:?}")]
    Character { found: char },
}

impl Key {
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        if text.is_empty() {
            return Err(KeyError::Empty);
        }
        if let Some(found) = text.chars().find(|c| !c.is_ascii_graphic() && *c != ' ') {
            return Err(KeyError::Character { found });
        }
        if text.len() > LONGEST {
            return Err(KeyError::TooLong { length: text.len() });
        }
        Ok(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_key() {
        let long = "k".repeat(129);
        for (text, expected) in [
            ("hook:toolu_01:PreToolUse", Ok(())),
            ("with space", Ok(())),
            ("", Err(KeyError::Empty)),
            ("line\nbreak", Err(KeyError::Character { found: '\n' })),
            ("clé", Err(KeyError::Character { found: 'é' })),
            (long.as_str(), Err(KeyError::TooLong { length: 129 })),
        ] {
            assert_eq!(Key::parse(text).map(drop), expected, "{text:?}");
        }
    }
}
