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
    /// What the person's own settings of the program say, where `Program::own_settings` names any.
    pub own: Option<Own<'a>>,
    /// Where it works.
    pub ground: Ground<'a>,
}

/// Where a worker works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ground<'a> {
    /// Its folder, the project and the repository: a program may ask whether it is trusted there.
    pub folders: &'a [PathBuf],
    /// What the project's own settings of the program say, with the file, where there are any.
    pub settings: Option<(&'a Path, &'a str)>,
}

/// Settings of a person: a guarded program does not find them any more, or would change them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Own<'a> {
    /// The folder in which they lie, absolute.
    pub folder: &'a Path,
    /// The text of their file; nothing where there is none.
    pub settings: Option<&'a str>,
}

/// Where such settings lie: below the folder that the variable names, else below the home. Those of a
/// project lie as they do below the home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnPlace {
    pub variable: &'static str,
    pub below_variable: &'static str,
    pub below_home: &'static str,
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
    #[error(
        "{0} switches hooks off (`hooksConfig`), so nobody could hold a worker to its stage: take \
         that out, or choose another runner"
    )]
    SwitchedOff(PathBuf),
}
