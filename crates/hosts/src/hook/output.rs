//! What a hook prints: JSON of a limited length, or a line and an exit code.

use std::borrow::Cow;

use super::answer::Bytes;
use super::wire::{Output, Specific};

/// Hosts cut a context of more than 10,000 characters down to a preview.
const LONGEST: usize = 9_500;
const CUT: &str = "\n[cut here: too long for the host]";

/// A line on stderr for people. The host goes on.
pub(crate) fn remarked(reason: &str) -> Bytes {
    Bytes {
        stderr: line(given(reason)),
        ..Bytes::nothing()
    }
}

/// A refusal by exit code, for events without JSON that refuses. The reason is on stderr.
pub(crate) fn blocked(reason: &str) -> Bytes {
    Bytes {
        stderr: line(given(reason)),
        code: 2,
        unheard: 2,
        ..Bytes::nothing()
    }
}

/// Context for the model. `event` is the host's name for the event.
pub(crate) fn context(event: &'static str, context: &str) -> Bytes {
    let context = cut(context);
    object(&Output {
        hook_specific_output: Some(about(event, &context)),
        ..Output::default()
    })
}

pub(crate) fn about<'a>(event: &'static str, context: &'a str) -> Specific<'a> {
    Specific {
        hook_event_name: event,
        permission_decision: None,
        permission_decision_reason: None,
        additional_context: Some(context),
        decision: None,
        updated_input: None,
    }
}

/// A refusal in JSON. If the host no longer reads our output, the exit code refuses.
pub(crate) fn refusing(output: &Output<'_>) -> Bytes {
    Bytes {
        unheard: 2,
        ..object(output)
    }
}

pub(crate) fn object(output: &Output<'_>) -> Bytes {
    let says_something = output.decision.is_some()
        || output.system_message.is_some()
        || output.hook_specific_output.is_some();
    if !says_something {
        return Bytes::nothing();
    }
    match serde_json::to_vec(output) {
        Ok(stdout) => Bytes {
            stdout,
            ..Bytes::nothing()
        },
        // This cannot fail for strings. If it does, a refusal must not become an allow.
        Err(_) => blocked("gatewright could not write its answer"),
    }
}

/// A host may ignore a refusal without a reason.
pub(crate) fn given(reason: &str) -> &str {
    match reason.trim() {
        "" => "refused by gatewright",
        reason => reason,
    }
}

pub(crate) fn joined(reason: &str, context: Option<&str>) -> String {
    match context {
        Some(context) => format!("{reason}\n\n{context}"),
        None => reason.to_owned(),
    }
}

fn line(reason: &str) -> Vec<u8> {
    let words: Vec<_> = cut(reason).split_whitespace().map(str::to_owned).collect();
    let mut line = words.join(" ").into_bytes();
    line.push(b'\n');
    line
}

/// Cuts the text to what a host accepts. Hosts count as JavaScript does, in UTF-16 units.
pub(crate) fn cut(text: &str) -> Cow<'_, str> {
    let mut units = 0;
    let over = text.char_indices().find(|(_, c)| {
        units += c.len_utf16();
        units > LONGEST
    });
    match over {
        Some((at, _)) => Cow::Owned(format!("{}{CUT}", text.get(..at).unwrap_or_default())),
        None => Cow::Borrowed(text),
    }
}
