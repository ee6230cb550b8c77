//! How contents are named: by their SHA-256, as trees do, or as git names its objects.

use engine::Hash;
use sha1::Sha1;
use sha2::{Digest, Sha256};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// The SHA-256 of the bytes.
    Content,
    /// Git's name of a blob. A shorter hash is followed by zeros.
    GitSha1,
    GitSha256,
}

/// A name that is being made.
pub(super) enum NameDigest {
    Sha1(Sha1),
    Sha256(Sha256),
}

impl Naming {
    /// Is the length a part of what is hashed?
    pub(super) fn has_length(self) -> bool {
        match self {
            Self::Content => false,
            Self::GitSha1 | Self::GitSha256 => true,
        }
    }

    /// The name of these bytes.
    pub(super) fn of(self, bytes: &[u8]) -> Hash {
        let mut digest = self.begin(bytes.len() as u64);
        digest.add(bytes);
        digest.end()
    }

    /// The name of something of this length, whose bytes come later.
    pub(super) fn begin(self, length: u64) -> NameDigest {
        let mut digest = match self {
            Self::Content | Self::GitSha256 => NameDigest::Sha256(Sha256::new()),
            Self::GitSha1 => NameDigest::Sha1(Sha1::new()),
        };
        if self.has_length() {
            digest.add(format!("blob {length}\0").as_bytes());
        }
        digest
    }
}

impl NameDigest {
    pub(super) fn add(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha1(digest) => digest.update(bytes),
            Self::Sha256(digest) => digest.update(bytes),
        }
    }

    pub(super) fn end(self) -> Hash {
        match self {
            Self::Sha256(digest) => Hash(digest.finalize().into()),
            Self::Sha1(digest) => {
                let mut hash = [0; 32];
                hash[..20].copy_from_slice(&digest.finalize());
                Hash(hash)
            }
        }
    }
}
