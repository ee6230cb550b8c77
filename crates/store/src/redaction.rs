//! Redaction: removes secrets from an entry before it is hashed, folded or stored.

use std::borrow::Cow;

use engine::{Entry, Hash};

use crate::record;

/// Redacts every free text of the entries, and returns every hash in them. The folded state is
/// therefore redacted, too.
pub(crate) fn redact(entries: &mut [Entry], secrets: &[String]) -> Vec<Hash> {
    let mut named = Vec::new();
    for entry in entries {
        record::map_texts(entry, &mut named, |text| {
            if let Cow::Owned(redacted) = engine::redact(text, secrets) {
                *text = redacted;
            }
        });
    }
    named.sort_unstable();
    named.dedup();
    named
}
