//! Contents: bytes with their hash, and copies that were captured earlier.

use engine::Hash;
use sha2::{Digest, Sha256};

use crate::error::Error;

/// Captured copies by hash. The store has them.
pub trait Contents {
    fn content(&self, hash: &Hash) -> Option<Vec<u8>>;
}

impl<F: Fn(&Hash) -> Option<Vec<u8>>> Contents for F {
    fn content(&self, hash: &Hash) -> Option<Vec<u8>> {
        self(hash)
    }
}

/// Bytes and their hash. Everything that is kept was redacted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    pub hash: Hash,
    pub bytes: Vec<u8>,
}

impl Content {
    pub fn of(bytes: Vec<u8>) -> Self {
        Self {
            hash: hash(&bytes),
            bytes,
        }
    }
}

/// The SHA-256 of these bytes.
pub fn hash(bytes: &[u8]) -> Hash {
    Hash(Sha256::digest(bytes).into())
}

/// A captured copy, if its bytes still have the hash.
pub(crate) fn captured_bytes(contents: &dyn Contents, hash: &Hash) -> Result<Vec<u8>, Error> {
    let bytes = contents
        .content(hash)
        .filter(|bytes| self::hash(bytes) == *hash);
    bytes.ok_or(Error::ContentLost { hash: *hash })
}
