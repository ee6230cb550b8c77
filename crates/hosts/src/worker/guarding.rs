//! Our hooks in a worker that we start: for its process alone, with nothing written to where other
//! sessions of the same program would find it.

use std::path::{Path, PathBuf};

/// What the hooks of a worker need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard<'a> {
    /// Our program, by its absolute path.
    pub program: &'a str,
    /// A folder that nobody else may write to. A program may keep its conversations there, so it
    /// must live as long as they may go on.
    pub folder: &'a Path,
    /// What the person's own settings of the program say, where [`Program::own`] names any.
    ///
    /// [`Program::own`]: super::Program::own
    pub own: Option<Own<'a>>,
}

/// Settings of a person that a guarded program would not find any more, and must be handed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Own<'a> {
    /// The folder in which they lie, absolute.
    pub folder: &'a Path,
    /// The text of their file; nothing where there is none.
    pub settings: Option<&'a str>,
}

/// Where such settings lie: in `folder` below what the variable says, else below the home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnPlace {
    pub variable: &'static str,
    pub folder: &'static str,
    pub file: &'static str,
}

/// What is added to the start of a process, so that its hooks call us.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guarding {
    /// They stand before those of `Program::arguments`.
    pub arguments: Vec<String>,
    /// They win over variables of the same name.
    pub variables: Vec<(String, String)>,
    /// Files to write before, with their content. Their folders may have to be made.
    pub files: Vec<(PathBuf, String)>,
    /// Links to make before: the place, and what it leads to. A target that is not there needs none.
    pub links: Vec<(PathBuf, PathBuf)>,
}

/// Why a program cannot be guarded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unguardable {
    #[error("{0} is not text: our hooks cannot be put below a folder of such a name")]
    NotText(PathBuf),
    #[error("{file} is not JSON (line {line}, column {column}): mend it, or take it away")]
    Settings {
        file: PathBuf,
        line: usize,
        column: usize,
    },
    #[error("{0} is JSON but not an object: mend it, or take it away")]
    NotAnObject(PathBuf),
}
