//! Scripts and settings of the project: files that decide what a definition runs, beside its own.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use engine::{Commands, Definition, Hash, Source, Work};
use evidence::InsidePath;
use store::Files;

use crate::caller;
use crate::failure::Failure;

/// What a script may have: more is a program, and belongs outside the project.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// Under this name a run's files list its scripts. No definition can refer to a name with a colon.
const MANIFEST: &str = "gatewright:scripts";

/// A file by its path, with what it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub path: String,
    pub bytes: u64,
    pub hash: Hash,
}

impl Piece {
    pub fn of(path: &str, bytes: &[u8]) -> Self {
        Self {
            path: path.to_owned(),
            bytes: bytes.len() as u64,
            hash: evidence::hash(bytes),
        }
    }

    /// Hash and path in a line, which ends as this says.
    pub fn line(&self, end: &str) -> String {
        format!("{}  {}{end}", self.hash, self.path)
    }
}

/// The scripts that the commands of this definition name, as far as they are there. What an agent
/// leaves behind as an artifact is its work, and no script.
pub fn named(definition: &Definition, root: &Path) -> Result<Vec<Piece>, Failure> {
    let mut found: BTreeMap<String, Piece> = BTreeMap::new();
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

/// The settings file, as far as it is there.
pub fn settings(path: &str, root: &Path) -> Result<Option<Piece>, Failure> {
    let path = InsidePath::parse(path).map_err(|reason| {
        Failure::settings(format!("the settings file has no usable path: {reason}"))
    })?;
    read(&path, root)
}

/// Every command line that the definition itself holds.
pub fn commands(definition: &Definition) -> impl Iterator<Item = &Vec<String>> {
    let works = definition.stages.iter().map(|stage| &stage.work);
    let lists = works.filter_map(|work| match work {
        Work::Check(check) => match &check.commands {
            Commands::Fixed(commands) => Some(commands),
            Commands::Approved(_) => None,
        },
        _ => None,
    });
    lists.flatten()
}

/// The script of the project that a command line runs: its program, if that is a path, or the file
/// that an interpreter is given. A word with a parameter in it is known only in a run.
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

/// Reads a file of the project; nothing if it is not there. A link is refused: what it leads to
/// could change while the link stays the same.
fn read(path: &InsidePath, root: &Path) -> Result<Option<Piece>, Failure> {
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
            let failure = Failure::no(format!("{} is a symbolic link", place.display()));
            return Err(failure.hint("put the file itself there"));
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

fn contents(path: &InsidePath, place: &Path) -> Result<Piece, Failure> {
    let mut bytes = Vec::new();
    let file = File::open(place).map_err(Failure::file("open", place))?;
    file.take(MOST_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(Failure::file("read", place))?;
    if bytes.len() as u64 > MOST_BYTES {
        Err(Failure::no(format!(
            "{} has more than {MOST_BYTES} bytes, and a script has fewer",
            place.display()
        ))
        .hint("install it as a program, and name it without a path"))
    } else {
        Ok(Piece::of(path.as_str(), &bytes))
    }
}

/// The files of a definition with a list of its scripts among them, so that a run stays with both.
pub fn with_manifest(files: &Files, scripts: &[Piece]) -> Result<Files, Failure> {
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

/// The scripts to which a run is pinned, by their paths.
pub fn of_run(files: &Files) -> BTreeMap<String, Hash> {
    let lines = files.get(MANIFEST).unwrap_or_default();
    let lines = String::from_utf8_lossy(lines);
    let scripts = lines.lines().filter_map(|line| {
        let (hash, path) = line.split_once("  ")?;
        Some((path.to_owned(), Hash::parse(hash)?))
    });
    scripts.collect()
}
