//! Puts the files of a tree into an index without starting a program of the repository.
//!
//! `git add` looks into submodules, with a git that obeys the settings there; here only the commit of a submodule counts.
//! And it fails where a path that is to stay out is ignored.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::process::Command;

use evidence::git::{fields, input};

use crate::failure::Failure;

/// Paths that get into no commit of ours, with all that is in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut(Vec<PathBuf>);

impl LeftOut {
    pub fn new(paths: Vec<PathBuf>) -> Self {
        Self(paths)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn has(&self, path: &[u8]) -> bool {
        let mut all = self.0.iter();
        all.any(|own| is_below(path, own.as_os_str().as_bytes()))
    }
}

/// Is it this path, or in this folder?
pub fn is_below(path: &[u8], folder: &[u8]) -> bool {
    let rest = path.strip_prefix(folder);
    rest.is_some_and(|rest| rest.first().is_none_or(|byte| *byte == b'/'))
}

/// An index of a tree.
pub struct Staging<'a> {
    /// Git without filters, for this index.
    pub command: &'a dyn Fn() -> Result<Command, Failure>,
    /// What a person can do if git fails.
    pub hint: &'a str,
}

impl Staging<'_> {
    /// Takes all changes of files that the index has.
    pub fn changes(&self) -> Result<(), Failure> {
        let listed = self.ask(&[
            "diff-files",
            "-z",
            "--name-status",
            "--no-renames",
            "--ignore-submodules=dirty",
        ])?;
        let listed: Vec<&[u8]> = fields(&listed).collect();
        let (mut gone, mut there) = (Vec::new(), Vec::new());
        for change in listed.chunks_exact(2) {
            let (letter, path) = (change[0], change[1]);
            // What became something of another kind is removed first: git takes no folder in the place of a file.
            if matches!(letter, b"D" | b"T") {
                gone.push(path);
            }
            if letter != b"D" {
                there.push(path);
            }
        }
        self.update(&["--force-remove"], &gone)?;
        self.update(&["--add", "--remove"], &there)
    }

    /// Adds the files that git neither tracks nor ignores, and repositories within the tree by their commit.
    pub fn new_files(&self, left_out: &LeftOut) -> Result<(), Failure> {
        let listed = self.ask(&["ls-files", "-z", "--others", "--exclude-standard"])?;
        let paths = fields(&listed).map(|path| path.strip_suffix(b"/").unwrap_or(path));
        let paths: Vec<&[u8]> = paths.filter(|path| !left_out.has(path)).collect();
        self.update(&["--add", "--remove"], &paths)
    }

    /// Takes out again what stays out. What one of these commits has stays in.
    pub fn take_out(&self, left_out: &LeftOut, commits: &[&str]) -> Result<(), Failure> {
        if left_out.is_empty() {
            return Ok(());
        }
        let mut staying = BTreeSet::new();
        for commit in commits {
            let listed = self.ask(&["ls-tree", "-r", "-z", "--name-only", commit])?;
            staying.extend(fields(&listed).map(<[u8]>::to_vec));
        }
        let staged = self.ask(&["ls-files", "-z", "--cached"])?;
        let staged = fields(&staged).filter(|path| left_out.has(path) && !staying.contains(*path));
        let staged: Vec<&[u8]> = staged.collect();
        self.update(&["--force-remove"], &staged)
    }

    fn update(&self, words: &[&str], paths: &[&[u8]]) -> Result<(), Failure> {
        if paths.is_empty() {
            return Ok(());
        }
        let mut command = (self.command)()?;
        command.arg("update-index").args(words);
        command.args(["-z", "--stdin"]);
        let input = input(&paths.join(&0))?;
        super::answered(command.stdin(input), self.hint).map(drop)
    }

    fn ask(&self, words: &[&str]) -> Result<Vec<u8>, Failure> {
        super::answered((self.command)()?.args(words), self.hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_out_does_so_with_all_that_is_in_it() {
        let left_out = LeftOut::new(vec![".env".into(), "node_modules".into()]);
        for (path, expected) in [
            (".env", true),
            ("node_modules/a/b", true),
            (".env.example", false),
            ("src/.env", false),
            ("node_modules2/a", false),
        ] {
            assert_eq!(left_out.has(path.as_bytes()), expected, "{path}");
        }
    }
}
