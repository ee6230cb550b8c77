//! Redaction: secrets leave an entry before it is hashed, folded or stored.

use std::borrow::Cow;

use engine::Entry;

use crate::record;

/// Redacts every free text of the entry. What is folded from it is redacted as well.
pub(crate) fn redact(entry: &mut Entry, secrets: &[String]) {
    record::map_texts(entry, |text| {
        if let Cow::Owned(redacted) = engine::redact(text, secrets) {
            *text = redacted;
        }
    });
}
