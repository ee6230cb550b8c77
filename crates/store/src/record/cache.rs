//! Caches: a run's state and a compiled definition, each in an envelope with format and checksum.

use engine::{Definition, Hash, Run};

use super::{Record, Unreadable, binary, checksum, definition, entry, run, stage};
use crate::chain::Tip;

/// Increase this when a listed field changes its type but not its name, when `apply` folds an old
/// journal into another state, or when the same bytes compile to another definition: the listings
/// alone do not show that, and `verify` would call the old cache altered.
const REVISION: u64 = 4;

/// Identifies the listings of this build. Caches with another number are recreated.
const FORMAT: u64 = fingerprint(
    REVISION,
    &[
        definition::LISTING,
        stage::LISTING,
        run::LISTING,
        entry::LISTING,
    ],
);

/// The length of the checksum.
const SEAL: usize = 16;

/// Where a run belongs. It never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunOrigin<'a> {
    pub project: &'a str,
    pub worktree: &'a str,
    pub pipeline: &'a str,
}

/// What was found in a cache.
#[derive(Debug, PartialEq, Eq)]
pub enum Cached<T> {
    Value(T),
    /// Another version of the program wrote it.
    OtherFormat,
}

/// The state at this tip. Bytes of another journal position, or of a run of another project, are
/// rejected.
pub fn state_to_bytes(run: &Run, tip: Tip, origin: RunOrigin<'_>) -> Vec<u8> {
    wrap(run, &binding(tip, origin))
}

pub fn state_from_bytes(
    bytes: &[u8],
    tip: Tip,
    origin: RunOrigin<'_>,
) -> Result<Cached<Run>, Unreadable> {
    unwrap(bytes, &binding(tip, origin))
}

pub fn compiled_to_bytes(compiled: &Definition, source: Hash) -> Vec<u8> {
    wrap(compiled, &source.0)
}

pub fn compiled_from_bytes(bytes: &[u8], source: Hash) -> Result<Cached<Definition>, Unreadable> {
    unwrap(bytes, &source.0)
}

/// A placeholder without a cache, which reads as another format.
pub(crate) fn no_cache() -> Vec<u8> {
    vec![0; size_of::<u64>()]
}

fn binding(tip: Tip, origin: RunOrigin<'_>) -> Vec<u8> {
    let mut bytes = [tip.version.to_be_bytes().as_slice(), &tip.head.0].concat();
    for text in [origin.project, origin.worktree, origin.pipeline] {
        binary::text(&mut bytes, text);
    }
    bytes
}

/// Format, seal, body.
fn wrap<T: Record>(value: &T, binding: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(1024);
    out.extend_from_slice(&FORMAT.to_be_bytes());
    out.extend_from_slice(&[0; SEAL]);
    let start = out.len();
    value.to_bytes(&mut out);
    let seal = checksum::of(&[binding, &out[start..]]);
    out[start - SEAL..start].copy_from_slice(&seal);
    out
}

fn unwrap<T: Record>(bytes: &[u8], binding: &[u8]) -> Result<Cached<T>, Unreadable> {
    let too_short = || Unreadable::new("the bytes end too early");
    let (format, rest) = bytes.split_first_chunk().ok_or_else(too_short)?;
    if u64::from_be_bytes(*format) != FORMAT {
        return Ok(Cached::OtherFormat);
    }
    let (found, body) = rest.split_first_chunk::<SEAL>().ok_or_else(too_short)?;
    if *found != checksum::of(&[binding, body]) {
        return Err(Unreadable::new("the bytes are not those that were written"));
    }
    binary::read(body).map(Cached::Value)
}

/// FNV-1a over the listings, computed at compile time.
const fn fingerprint(start: u64, texts: &[&str]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325 ^ start;
    let mut index = 0;
    while index < texts.len() {
        let bytes = texts[index].as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
            at += 1;
        }
        index += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_with_another_field_is_another_format() {
        assert_ne!(
            fingerprint(1, &["struct A { b }"]),
            fingerprint(1, &["struct A { b, c }"])
        );
        assert_ne!(
            fingerprint(1, &["struct A { b }"]),
            fingerprint(2, &["struct A { b }"])
        );
    }
}
