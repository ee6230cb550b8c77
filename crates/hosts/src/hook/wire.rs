//! The JSON shapes that hosts have in common: fields of any type, and the output of a hook.
//!
//! Fields stay raw text until somebody needs them. So a long file in a Write call is skipped and never
//! copied, and a field of another type harms only the code that needs it.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A field that may be missing, `null`, or of any type.
pub(crate) type Raw<'a> = Option<&'a RawValue>;

/// A hook's output. The host ignores an output with an unknown value.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hook_specific_output: Option<Specific<'a>>,
}

/// The part of an output that belongs to one event. Without `hook_event_name` the host ignores all of
/// it, refusals included.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Specific<'a> {
    pub hook_event_name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_decision_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additional_context: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Permission>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_input: Option<UpdatedMessage<'a>>,
}

/// The input of a message, as the host takes it from a hook instead of its own.
#[derive(Serialize)]
pub(crate) struct UpdatedMessage<'a> {
    pub to: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<&'a str>,
    pub message: &'a str,
}

/// The answer to the question whether a tool may be used.
#[derive(Serialize)]
pub(crate) struct Permission {
    pub behavior: &'static str,
}

/// The text of a field, if it is a string.
///
/// A lone surrogate, which JavaScript writes when it cuts a text in the middle of a character,
/// becomes a replacement character, so that we can still judge the rest of the text.
pub(crate) fn text(raw: Raw<'_>) -> Option<Cow<'_, str>> {
    let raw = raw?.get();
    if !raw.starts_with('"') {
        return None;
    }
    let mut deserializer = serde_json::Deserializer::from_str(raw);
    deserializer.deserialize_bytes(Lossy).ok()
}

/// A field, parsed as the type that the caller needs.
pub(crate) fn shape<'a, T: Deserialize<'a>>(raw: Raw<'a>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

struct Lossy;

impl<'a> Visitor<'a> for Lossy {
    type Value = Cow<'a, str>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a text")
    }

    fn visit_borrowed_bytes<E>(self, bytes: &'a [u8]) -> Result<Self::Value, E> {
        Ok(String::from_utf8_lossy(bytes))
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        Ok(Cow::Owned(String::from_utf8_lossy(bytes).into_owned()))
    }
}

/// An input up to this length is read to its end. Stopping early costs more, because the parser computes
/// the position of the error.
const SHORT: usize = 16 * 1024;

/// The session's id, without parsing what follows. The host writes it first, so this also works on an
/// input that is cut off or too long.
pub(super) fn first_session_id(input: &[u8]) -> Option<String> {
    let mut found = None;
    let mut deserializer = serde_json::Deserializer::from_slice(input);
    let until = UntilSession {
        found: &mut found,
        is_short: input.len() <= SHORT,
    };
    // The visitor stops with an error on purpose.
    let _ = deserializer.deserialize_map(until);
    found
}

struct UntilSession<'f> {
    found: &'f mut Option<String>,
    is_short: bool,
}

impl<'a> Visitor<'a> for UntilSession<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some(key) = map.next_key::<Cow<'a, str>>()? {
            if key == "session_id" && self.found.is_none() {
                *self.found = Some(map.next_value::<String>()?);
                if !self.is_short {
                    return Err(M::Error::custom("found"));
                }
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}
