//! The files of a definition: the trusted bytes that a run is pinned to.

use std::collections::BTreeMap;

use engine::Hash;

use crate::chain::Digest;
use crate::error::Error;

/// A definition's source: its main file, and its prompts, scripts and schemas.
///
/// Invariant: it contains the main file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    main: String,
    files: BTreeMap<String, Vec<u8>>,
}

impl Files {
    pub fn new(main: &str, files: BTreeMap<String, Vec<u8>>) -> Result<Self, Error> {
        if files.contains_key(main) {
            Ok(Self {
                main: main.to_owned(),
                files,
            })
        } else {
            Err(Error::NoMainFile {
                main: main.to_owned(),
            })
        }
    }

    /// A definition of one file.
    pub fn single(main: &str, bytes: &[u8]) -> Self {
        let files = BTreeMap::from([(main.to_owned(), bytes.to_vec())]);
        Self {
            main: main.to_owned(),
            files,
        }
    }

    /// The path of the main file.
    pub fn main(&self) -> &str {
        &self.main
    }

    pub fn get(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(Vec::as_slice)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files
            .iter()
            .map(|(path, bytes)| (path.as_str(), bytes.as_slice()))
    }

    /// The definition's identity: every path and every byte counts.
    pub fn hash(&self) -> Hash {
        let main = Digest::new().with_sized(self.main.as_bytes());
        let with_file = |digest: Digest, (path, bytes): (&str, &[u8])| {
            digest.with_sized(path.as_bytes()).with_sized(bytes)
        };
        self.iter().fold(main, with_file).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(main: &str, list: &[(&str, &str)]) -> Result<Files, Error> {
        let owned = list
            .iter()
            .map(|(path, text)| (path.to_string(), text.as_bytes().to_vec()));
        Files::new(main, owned.collect())
    }

    #[test]
    fn every_path_and_byte_is_part_of_the_identity() {
        let base = files("a", &[("a", "x"), ("b", "y")]).unwrap().hash();
        for (main, list) in [
            ("b", vec![("a", "x"), ("b", "y")]),
            ("a", vec![("a", "x"), ("c", "y")]),
            ("a", vec![("a", "x"), ("b", "yy")]),
            ("a", vec![("a", "x")]),
        ] {
            assert_ne!(files(main, &list).unwrap().hash(), base, "{main} {list:?}");
        }
        assert_eq!(files("a", &[("b", "y"), ("a", "x")]).unwrap().hash(), base);
    }

    #[test]
    fn the_main_file_is_there() {
        assert!(files("main.toml", &[("other.toml", "")]).is_err());
        assert_eq!(
            Files::single("main.toml", b"x").get("main.toml"),
            Some(b"x".as_slice())
        );
    }
}
