//! Prepares one command: from words with placeholders to a program that exists.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use engine::{CheckedProgram, Hash, Meaning, ProgramPlace};

use super::environment::SearchPath;
use super::{CheckEnvironment, program};
use crate::file_stamp::FileStamp;
use crate::path::InsidePath;
use crate::placeholder::{Piece, Placeholder, PlaceholderValues};
use crate::{LookContext, beneath, hash};

/// A command that is ready to be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Prepared {
    pub argv: Vec<String>,
    pub program: PathBuf,
    /// The program and what runs it, as they were found.
    pub programs: Vec<CheckedProgram>,
    /// The files whose content a person has accepted, as they were when it was compared.
    pub compared: Vec<ComparedFile>,
}

/// A file that was compared with what a person accepted. The system opens it again to run it, so
/// nobody may have touched it until the command has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ComparedFile {
    path: PathBuf,
    stamp: Option<(FileStamp, FileStamp)>,
}

impl ComparedFile {
    /// Taken before the content is read.
    fn new(path: PathBuf) -> Self {
        let stamp = Self::stamp(&path);
        Self { path, stamp }
    }

    /// Of the link, where it is one, and of the file.
    fn stamp(path: &Path) -> Option<(FileStamp, FileStamp)> {
        let (link, file) = (rustix::fs::lstat(path), rustix::fs::stat(path));
        Some((FileStamp::of(&link.ok()?), FileStamp::of(&file.ok()?)))
    }
}

impl Prepared {
    /// The file that somebody touched since it was compared, even if it is back as it was.
    pub(super) fn touched(&self) -> Option<&Path> {
        let is_touched = |file: &&ComparedFile| ComparedFile::stamp(&file.path) != file.stamp;
        let touched = self.compared.iter().find(is_touched);
        touched.map(|file| file.path.as_path())
    }
}

/// Why a command is not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unready {
    /// It cannot be.
    Impossible(String),
    /// Nobody has accepted its program as it is.
    Unaccepted(String, Vec<CheckedProgram>),
}

impl From<String> for Unready {
    fn from(reason: String) -> Self {
        Self::Impossible(reason)
    }
}

/// Fills in parameters. Each word stays one word, whatever its value contains.
pub(super) fn fill(words: &[String], looking: &LookContext<'_>) -> Result<Vec<String>, String> {
    let definition = looking.pipeline.definition();
    let filling = PlaceholderValues {
        definition,
        run: looking.run,
        step: None,
        agent: None,
    };
    let root = &looking.project.root;
    words
        .iter()
        .map(|word| {
            leads_nowhere_else(word, &filling, root)?;
            fill_word(word, &filling)
        })
        .collect()
}

/// A path that a person gave must stay inside the project, even if an agent has put a link there.
fn leads_nowhere_else(
    word: &str,
    filling: &PlaceholderValues<'_>,
    root: &Path,
) -> Result<(), String> {
    for piece in filling.pieces(word) {
        let Piece::Placeholder(Placeholder::Param(name)) = piece else {
            continue;
        };
        let declared = filling.definition.params.get(&name);
        if declared.is_none_or(|param| param.meaning != Meaning::Path) {
            continue;
        }
        let value = filling.value(&Placeholder::Param(name))?;
        let real = std::fs::canonicalize(root.join(value));
        let root = std::fs::canonicalize(root);
        // A missing path leads nowhere; the command will report it.
        if let (Ok(real), Ok(root)) = (real, root)
            && !real.starts_with(&root)
        {
            return Err(format!(
                "`{value}` is a link that leads out of the project; put the real file or folder there"
            ));
        }
    }
    Ok(())
}

fn fill_word(word: &str, filling: &PlaceholderValues<'_>) -> Result<String, String> {
    let filled = filling.fill(word)?;
    if filled.contains('\0') {
        return Err(format!(
            "the value for `{word}` contains a NUL; start the run with another one"
        ));
    }
    if filled.starts_with('-') && !word.starts_with('-') {
        Err(format!(
            "the value for `{word}` would be taken for an option, as it begins with `-`; start the run with another one"
        ))
    } else {
        Ok(filled)
    }
}

/// Finds the program: with a slash in the project, without one in the search path.
pub(super) fn prepare(
    argv: Vec<String>,
    root: &Path,
    search: &SearchPath,
    surroundings: &CheckEnvironment,
) -> Result<Prepared, Unready> {
    let Some(word) = argv.first().filter(|word| !word.is_empty()) else {
        return Err(String::from("the command is empty; write a program and its words").into());
    };
    let program = if word.contains('/') {
        in_project(word, root)?
    } else {
        find(word, search)?
    };
    let mut compared = trusted_scripts(&argv, root, &surroundings.scripts);
    argv.iter()
        .try_for_each(|word| is_as_trusted(word, root, &surroundings.scripts))?;
    let (programs, of_account) = programs_of_account(&program, root, search);
    compared.extend(of_account);
    if let Some(accepted) = &surroundings.accepted
        && let Err(reason) = program::judge(&programs, accepted, search)
    {
        return Err(Unready::Unaccepted(reason, programs));
    }
    Ok(Prepared {
        argv,
        program,
        programs,
        compared,
    })
}

fn trusted_scripts(
    argv: &[String],
    root: &Path,
    scripts: &BTreeMap<String, Hash>,
) -> Vec<ComparedFile> {
    let paths = argv.iter().filter_map(|word| InsidePath::parse(word).ok());
    let trusted = paths.filter(|path| scripts.contains_key(path.as_str()));
    trusted
        .map(|path| ComparedFile::new(root.join(path.as_str())))
        .collect()
}

/// The programs that run, and those of them that the account could change meanwhile.
fn programs_of_account(
    program: &Path,
    root: &Path,
    search: &SearchPath,
) -> (Vec<CheckedProgram>, Vec<ComparedFile>) {
    let found = program::found(program, search);
    let compared: Vec<ComparedFile> = found.iter().cloned().map(ComparedFile::new).collect();
    let programs: Vec<CheckedProgram> = found
        .iter()
        .map(|path| program::look_at(path, root))
        .collect();
    let is_accounts = |path: &Path| {
        let mut programs = programs.iter();
        programs.any(|it| Path::new(&it.path) == path && it.place == ProgramPlace::Account)
    };
    let compared = compared.into_iter().filter(|it| is_accounts(&it.path));
    let compared = compared.collect();
    (programs, compared)
}

/// A definition may give the full path of a program. Any other path is relative to the project.
fn in_project(word: &str, root: &Path) -> Result<PathBuf, String> {
    let program = if word.starts_with('/') {
        PathBuf::from(word)
    } else {
        root.join(InsidePath::parse(word)?.as_str())
    };
    match (program.is_file(), is_program(&program)) {
        (_, true) => Ok(program),
        (true, false) => Err(format!("`{word}` is not executable; make it executable")),
        (false, false) => Err(format!(
            "`{word}` does not exist; create it, or correct the command"
        )),
    }
}

/// The program of this name, or why there is none. A folder of the project is searched in its turn only
/// for what was there when a person gave the folders; for anything else it comes last, so that nothing
/// that is put there takes the place of a program from outside.
pub fn find(word: &str, search: &SearchPath) -> Result<PathBuf, String> {
    let is_in_turn = |program: &PathBuf| {
        let folder = program.parent().unwrap_or(program);
        !search.inside.contains(folder) || search.known.contains(program)
    };
    let programs = || search.folders.iter().map(|folder| folder.join(word));
    let in_turn = programs().filter(is_in_turn);
    let last = programs().filter(|program| !is_in_turn(program));
    in_turn
        .chain(last)
        .find(|program| is_program(program))
        .ok_or_else(|| not_found(word, search))
}

fn not_found(word: &str, search: &SearchPath) -> String {
    let folders = search.folders.iter();
    let folders: Vec<String> = folders.map(|folder| folder.display().to_string()).collect();
    let dropped = search.dropped.iter();
    let dropped: Vec<String> = dropped
        .map(|(folder, why)| format!("{} ({why})", folder.display()))
        .collect();
    let left_out = if dropped.is_empty() {
        String::new()
    } else {
        format!("; left out: {}", dropped.join(", "))
    };
    format!(
        "`{word}` was not found in {}{left_out}; install it there, or have a person type `gatewright trust --environment` where it works",
        folders.join(", ")
    )
}

fn is_program(path: &Path) -> bool {
    let metadata = std::fs::metadata(path);
    metadata.is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// A script that was trusted by content runs with that content or not at all.
fn is_as_trusted(word: &str, root: &Path, scripts: &BTreeMap<String, Hash>) -> Result<(), String> {
    let Ok(path) = InsidePath::parse(word) else {
        return Ok(());
    };
    let Some(trusted) = scripts.get(path.as_str()) else {
        return Ok(());
    };
    let bytes = beneath::open_file(root, path.parts())
        .ok()
        .and_then(|(mut file, _)| {
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut file, &mut bytes)
                .ok()
                .map(|_| bytes)
        });
    if bytes.is_some_and(|bytes| hash(&bytes) == *trusted) {
        Ok(())
    } else {
        Err(format!(
            "`{word}` has changed since it was trusted; restore it, or trust it again"
        ))
    }
}
