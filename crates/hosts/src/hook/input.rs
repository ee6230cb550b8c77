//! The input of a hook: JSON of a limited size, and the session that it belongs to.

use engine::SessionId;
use serde::Deserialize;
use serde_json::error::Category;

use super::payload::PayloadError;
use super::wire;

/// The longest input that we read. A Write call carries its whole file, and no agent writes files that
/// large.
pub const LARGEST_INPUT: usize = 8 * 1024 * 1024;

/// The session id, read as cheaply as possible, so that the caller can check whether the session is
/// enrolled. It also works on damaged input if the id comes before the damage.
pub fn session_of(stdin: &[u8]) -> Option<SessionId> {
    SessionId::parse(&wire::first_session_id(stdin)?).ok()
}

/// Parses the input.
pub(crate) fn input<'a, T: Deserialize<'a>>(stdin: &'a [u8]) -> Result<T, PayloadError> {
    let first = stdin.iter().find(|byte| !byte.is_ascii_whitespace());
    let first = first.ok_or(PayloadError::Empty)?;
    if stdin.len() > LARGEST_INPUT {
        return Err(PayloadError::TooLarge {
            bytes: stdin.len(),
            limit: LARGEST_INPUT,
        });
    }
    serde_json::from_slice(stdin).map_err(|error| unreadable(*first, &error))
}

fn unreadable(first: u8, error: &serde_json::Error) -> PayloadError {
    match error.classify() {
        Category::Data if first != b'{' => PayloadError::NotAnObject,
        // Every other field may be of any type.
        Category::Data => PayloadError::WrongType {
            field: "tool_input",
            wanted: "an object",
        },
        Category::Syntax | Category::Eof | Category::Io => PayloadError::NotJson {
            line: error.line(),
            column: error.column(),
        },
    }
}
