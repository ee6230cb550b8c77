//! Scripts and settings of the project: files outside the definition that decide what it runs.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use engine::{Commands, Definition, Hash, Source, Work};
use evidence::InsidePath;
use serde::{Deserialize, Serialize};
use store::Files;

use crate::caller;
use crate::failure::Failure;

/// The size limit of a script: larger files are programs, and belong outside the project.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// The name of the list of scripts among a run's files. No definition can refer to a name with a
/// colon.
const MANIFEST: &str = "gatewright:scripts";

/// A file with its path and hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinnedFile {
    pub path: String,
    pub bytes: u64,
    #[serde(with = "crate::serde_names")]
    pub hash: Hash,
}

impl PinnedFile {
    pub fn of(path: &str, bytes: &[u8]) -> Self {
        Self {
            path: path.to_owned(),
            bytes: bytes.len() as u64,
            hash: evidence::hash(bytes),
        }
    }

    /// Hash and path in a line with this ending.
    pub fn line(&self, end: &str) -> String {
        format!("{}  {}{end}", self.hash, self.path)
    }
}

/// The existing scripts that the commands of this definition name. Artifacts of agents are their
/// work, and not scripts.
pub fn named(definition: &Definition, root: &Path) -> Result<Vec<PinnedFile>, Failure> {
    let mut found: BTreeMap<String, PinnedFile> = BTreeMap::new();
    for words in commands(definition) {
        let Some(path) = script(words).filter(|path| !is_artifact(definition, path)) else {
            continue;
        };
        if let Some(piece) = read(&path, root)? {
            found.insert(path.as_str().to_owned(), piece);
        }
    }
    Ok(found.into_values().collect())
}

/// The settings file, if it exists.
pub fn settings(path: &str, root: &Path) -> Result<Option<PinnedFile>, Failure> {
    let path = InsidePath::parse(path).map_err(|reason| {
        Failure::settings(format!("the settings file has no usable path: {reason}"))
    })?;
    read(&path, root)
}

/// Every command line in the definition.
pub fn commands(definition: &Definition) -> impl Iterator<Item = &Vec<String>> {
    let works = definition.stages.iter().map(|stage| &stage.work);
    let lists = works.filter_map(|work| match work {
        Work::Check(check) => match &check.commands {
            Commands::Fixed(commands) => Some(commands),
            Commands::Approved(_) => None,
        },
        Work::Agent(_)
        | Work::Open(_)
        | Work::Ask(_)
        | Work::Review(_)
        | Work::Steps(_)
        | Work::Route(_)
        | Work::End(_) => None,
    });
    lists.flatten()
}

/// The script of the project that a command line runs: its program, if that is a path, or the file
/// given to an interpreter. A word with a parameter in it is known only in a run.
fn script(words: &[String]) -> Option<InsidePath> {
    let program = words.first()?;
    let word = if program.contains('/') {
        program.as_str()
    } else {
        caller::script_of(program, words)?
    };
    if word.contains('{') {
        None
    } else {
        InsidePath::parse(word).ok()
    }
}

fn is_artifact(definition: &Definition, path: &InsidePath) -> bool {
    definition
        .artifacts
        .values()
        .any(|artifact| match &artifact.source {
            Source::File(template) => InsidePath::parse(template).is_ok_and(|left| left == *path),
            Source::Reply | Source::Answers => false,
        })
}

/// Reads a file of the project; `None` if it is missing. Refuses links: their target could change
/// unnoticed.
fn read(path: &InsidePath, root: &Path) -> Result<Option<PinnedFile>, Failure> {
    let mut place = root.to_path_buf();
    let mut is_file = false;
    for part in path.parts() {
        place.push(part);
        let metadata = match fs::symlink_metadata(&place) {
            Ok(metadata) => metadata,
            Err(cause) if is_absent(cause.kind()) => return Ok(None),
            Err(cause) => return Err(Failure::file("look at", &place)(cause)),
        };
        if metadata.is_symlink() {
            let failure = Failure::refused(format!("{} is a symbolic link", place.display()));
            return Err(failure.hint("copy the file itself there"));
        }
        is_file = metadata.is_file();
    }
    if is_file {
        contents(path, &place).map(Some)
    } else {
        Ok(None)
    }
}

fn is_absent(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn contents(path: &InsidePath, place: &Path) -> Result<PinnedFile, Failure> {
    let mut bytes = Vec::new();
    let file = File::open(place).map_err(Failure::file("open", place))?;
    file.take(MOST_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(Failure::file("read", place))?;
    if bytes.len() as u64 > MOST_BYTES {
        Err(Failure::refused(format!(
            "{} is a script of more than {MOST_BYTES} bytes",
            place.display()
        ))
        .hint("install it as a program and use its name without a path"))
    } else {
        Ok(PinnedFile::of(path.as_str(), &bytes))
    }
}

/// The files of a definition with a list of its scripts, so that a run is pinned to both.
pub fn with_manifest(files: &Files, scripts: &[PinnedFile]) -> Result<Files, Failure> {
    if scripts.is_empty() {
        return Ok(files.clone());
    }
    let lines: Vec<String> = scripts.iter().map(|script| script.line("\n")).collect();
    let mut all: BTreeMap<String, Vec<u8>> = files
        .iter()
        .map(|(path, bytes)| (path.to_owned(), bytes.to_vec()))
        .collect();
    all.insert(MANIFEST.to_owned(), lines.concat().into_bytes());
    Ok(Files::new(files.main(), all)?)
}

/// The scripts that a run is pinned to, by path.
pub fn of_run(files: &Files) -> BTreeMap<String, Hash> {
    let lines = files.get(MANIFEST).unwrap_or_default();
    let lines = String::from_utf8_lossy(lines);
    let scripts = lines.lines().filter_map(|line| {
        let (hash, path) = line.split_once("  ")?;
        Some((path.to_owned(), Hash::parse(hash)?))
    });
    scripts.collect()
}
