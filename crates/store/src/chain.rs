//! The hash chain: each entry's hash covers the one before it, so that no entry can change alone.

use engine::{Hash, RunId};
use sha2::{Digest as _, Sha256};

use crate::key::Key;

/// The SHA-256 of content, which is its name in the store.
pub fn content_hash(bytes: &[u8]) -> Hash {
    Digest::new().with(bytes).finish()
}

/// What an entry's hash covers, besides its bytes.
pub(crate) struct Link<'a> {
    pub previous: Hash,
    pub run: &'a RunId,
    pub number: u64,
    pub decision: u64,
    pub key: Option<&'a Key>,
}

impl Link<'_> {
    /// Every part has a fixed size or a length prefix, so that no two entries have the same
    /// preimage.
    pub(crate) fn hash(&self, bytes: &[u8]) -> Hash {
        let key = self.key.map_or("", Key::as_str);
        Digest::new()
            .with(&self.previous.0)
            .with_sized(self.run.as_str().as_bytes())
            .with(&self.number.to_be_bytes())
            .with(&self.decision.to_be_bytes())
            .with_sized(key.as_bytes())
            .with_sized(bytes)
            .finish()
    }
}

/// The predecessor of a run's first entry.
pub fn root(run: &RunId) -> Hash {
    content_hash(run.as_str().as_bytes())
}

/// The end of a chain: the number of entries and the last hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tip {
    pub version: u64,
    pub head: Hash,
}

/// A SHA-256 in progress.
pub(crate) struct Digest(Sha256);

impl Digest {
    pub(crate) fn new() -> Self {
        Self(Sha256::new())
    }

    pub(crate) fn with(mut self, bytes: &[u8]) -> Self {
        self.0.update(bytes);
        self
    }

    pub(crate) fn with_sized(self, bytes: &[u8]) -> Self {
        self.with(&(bytes.len() as u64).to_be_bytes()).with(bytes)
    }

    pub(crate) fn finish(self) -> Hash {
        Hash(self.0.finalize().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link<'a>(run: &'a RunId, key: Option<&'a Key>) -> Link<'a> {
        Link {
            previous: root(run),
            run,
            number: 2,
            decision: 1,
            key,
        }
    }

    #[test]
    fn every_part_of_an_entry_is_covered() {
        let (run, other) = (RunId::parse("r-1").unwrap(), RunId::parse("r-2").unwrap());
        let key = Key::parse("k").unwrap();
        let hash = link(&run, None).hash(b"bytes");
        assert_eq!(hash, link(&run, None).hash(b"bytes"));
        for different in [
            link(&run, None).hash(b"byte"),
            link(&run, Some(&key)).hash(b"bytes"),
            Link {
                run: &other,
                ..link(&run, None)
            }
            .hash(b"bytes"),
            Link {
                previous: root(&other),
                ..link(&run, None)
            }
            .hash(b"bytes"),
            Link {
                number: 3,
                ..link(&run, None)
            }
            .hash(b"bytes"),
            Link {
                decision: 2,
                ..link(&run, None)
            }
            .hash(b"bytes"),
        ] {
            assert_ne!(hash, different);
        }
    }

    #[test]
    fn a_key_does_not_pass_for_the_beginning_of_the_bytes() {
        let run = RunId::parse("r-1").unwrap();
        let (short, long) = (Key::parse("a").unwrap(), Key::parse("ab").unwrap());
        assert_ne!(
            link(&run, Some(&short)).hash(b"bc"),
            link(&run, Some(&long)).hash(b"c")
        );
    }

    #[test]
    fn content_is_named_by_its_sha_256() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(content_hash(b"abc").to_string(), abc);
    }
}
