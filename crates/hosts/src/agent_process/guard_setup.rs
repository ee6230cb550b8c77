//! Our hooks in a worker that we start. They apply to its process alone: nothing is written to places
//! that other sessions of the same program read.

use std::path::{Path, PathBuf};

/// What a program needs to register our hooks for one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuardInputs<'a> {
    /// The absolute path of our program.
    pub program: &'a str,
    /// A folder that nobody else may write to. A program may store conversations there, so the folder
    /// must exist as long as they can be resumed.
    pub folder: &'a Path,
    /// The person's settings of the program, if `Program::personal_settings` names any.
    pub personal: Option<PersonalSettings<'a>>,
    pub workplace: Workplace<'a>,
}

/// The folders in which a worker works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Workplace<'a> {
    /// Its folder, the project and the repository: the program may ask whether to trust them.
    pub folders: &'a [PathBuf],
    /// The project's own settings of the program, if it has any.
    pub settings: Option<SettingsText<'a>>,
}

/// The text of a settings file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingsText<'a> {
    pub file: &'a Path,
    pub text: &'a str,
}

/// A person's settings. A guarded program does not find them by itself, or would write to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PersonalSettings<'a> {
    /// The absolute path of their folder.
    pub folder: &'a Path,
    /// The text of their file, if it exists.
    pub settings: Option<&'a str>,
}

/// Where a person's settings are: in the folder that the variable names, else in the home directory. A
/// project has its settings under the same path as the home directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PersonalSettingsLocation {
    pub variable: &'static str,
    pub below_variable: &'static str,
    pub below_home: &'static str,
    pub file: &'static str,
}

/// What registers our hooks in a process that we start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GuardSetup {
    /// They go before those of `Program::arguments`.
    pub arguments: Vec<String>,
    /// They replace variables of the same name.
    pub variables: Vec<(String, String)>,
    /// Files to write before the start, with their content. The caller creates missing folders.
    pub files: Vec<(PathBuf, String)>,
    /// Symlinks to create before the start: the link and its target. A missing target needs no link.
    pub links: Vec<(PathBuf, PathBuf)>,
}

/// Why we cannot register our hooks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GuardError {
    #[error("{0} is not UTF-8: Gatewright cannot write its hooks to such a folder")]
    NotText(PathBuf),
    #[error("{file} is not JSON (line {line}, column {column}): fix or remove the file")]
    Settings {
        file: PathBuf,
        line: usize,
        column: usize,
    },
    #[error("{0} is JSON but not an object: fix or remove the file")]
    NotAnObject(PathBuf),
    #[error(
        "{0} disables hooks (`hooksConfig`), so Gatewright cannot guard a worker: remove that \
         setting, or choose another runner"
    )]
    SwitchedOff(PathBuf),
}
