//! The programs of a check: what was found, who could have changed it, and whether a person accepted it.
//!
//! A program that runs is evidence only as far as it is the program that a person meant. What the
//! account of the agents cannot change is; what is in the project is recorded; what the
//! account can change elsewhere must be as a person accepted it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use engine::{CheckedProgram, Hash, ProgramPlace};
use rustix::fs::{Access, access};
use sha2::{Digest as _, Sha256};

use super::command::find;
use super::environment::SearchPath;

/// What a person accepted, by the path at which it was found.
pub type AcceptedPrograms = BTreeMap<PathBuf, Hash>;

/// How many scripts may be run by scripts.
const MOST_INTERPRETERS: usize = 4;

/// How much of a program is read at once.
const PIECE: usize = 256 * 1024;

/// A first line is never longer; the system reads no more of it.
const LONGEST_FIRST_LINE: u64 = 256;

/// What the system's own installer puts there. For the first account of the system, which can write
/// everywhere, this is what tells its own programs from those of the system.
const SYSTEM_FOLDERS: [&str; 9] = [
    "/bin",
    "/lib",
    "/lib64",
    "/nix",
    "/opt",
    "/run/current-system",
    "/sbin",
    "/snap",
    "/usr",
];

/// The program that a command starts, and what runs it where it is a script, as they are now.
pub fn seen(program: &Path, root: &Path, search: &SearchPath) -> Vec<CheckedProgram> {
    let found = found(program, search);
    found.iter().map(|path| look_at(path, root)).collect()
}

/// The program, and what runs it where it is a script.
pub(super) fn found(program: &Path, search: &SearchPath) -> Vec<PathBuf> {
    let mut found = vec![program.to_owned()];
    while let Some(next) = found.last().and_then(|last| interpreter(last, search)) {
        if found.contains(&next) || found.len() > MOST_INTERPRETERS {
            break;
        }
        found.push(next);
    }
    found
}

/// One program, as it is now.
pub fn look_at(path: &Path, root: &Path) -> CheckedProgram {
    CheckedProgram {
        path: path.to_string_lossy().into_owned(),
        hash: hash_of(path).ok(),
        place: place(path, root),
    }
}

/// Says which program nobody has accepted yet, with the command that a person types.
pub fn judge(
    seen: &[CheckedProgram],
    accepted: &AcceptedPrograms,
    search: &SearchPath,
) -> Result<(), String> {
    let unknown = seen
        .iter()
        .filter(|program| program.place == ProgramPlace::Account)
        .find(|program| {
            let known = accepted.get(Path::new(&program.path));
            known.is_none() || known.copied() != program.hash
        });
    let Some(program) = unknown else {
        return Ok(());
    };
    let path = Path::new(&program.path);
    let state = if accepted.contains_key(path) {
        "has changed since a person accepted it"
    } else {
        "has not been accepted by a person"
    };
    Err(format!(
        "{} {state}: have a person type `gatewright trust --program {}`",
        program.path,
        word_for(path, search)
    ))
}

/// The shortest word by which the same program is found again.
fn word_for(path: &Path, search: &SearchPath) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy());
    match name {
        Some(name) if find(&name, search).is_ok_and(|found| found == path) => name.into_owned(),
        Some(_) | None => path.display().to_string(),
    }
}

/// What runs this script, by its first line.
fn interpreter(script: &Path, search: &SearchPath) -> Option<PathBuf> {
    let mut start = Vec::new();
    let file = File::open(script).ok()?;
    file.take(LONGEST_FIRST_LINE).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?;
    let line = line.split(|byte| *byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?;
    let mut words = line.split_whitespace();
    let first = PathBuf::from(words.next()?);
    if first.file_name()? != "env" {
        return Some(first).filter(|path| path.is_absolute());
    }
    let is_name = |word: &&str| !word.starts_with('-') && !word.contains('=');
    let name = words.find(is_name)?;
    if name.contains('/') {
        Some(PathBuf::from(name)).filter(|path| path.is_absolute())
    } else {
        find(name, search).ok()
    }
}

/// Who could have changed this file. A link that the account can change is the account's, wherever it
/// leads.
pub fn place(path: &Path, root: &Path) -> ProgramPlace {
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    match folder {
        Some(folder) if folder.starts_with(root) => ProgramPlace::Project,
        Some(folder) if !is_changeable(&folder) && !is_changeable(&real) => ProgramPlace::System,
        Some(_) | None => ProgramPlace::Account,
    }
}

/// Can this account put something else at this path?
fn is_changeable(path: &Path) -> bool {
    if rustix::process::getuid().is_root() {
        !SYSTEM_FOLDERS.iter().any(|folder| path.starts_with(folder))
    } else {
        path.ancestors()
            .any(|above| access(above, Access::WRITE_OK).is_ok())
    }
}

/// What a program holds.
pub fn hash_of(path: &Path) -> io::Result<Hash> {
    let (mut file, mut hasher) = (File::open(path)?, Sha256::new());
    let mut piece = vec![0; PIECE];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(Hash(hasher.finalize().into())),
            read => hasher.update(piece.get(..read).unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn made(folder: &Path, name: &str, text: &str) -> PathBuf {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        testkit::make_executable(&path);
        path
    }

    #[test]
    fn a_program_belongs_to_who_could_have_changed_it() {
        let around = tempfile::tempdir().unwrap();
        let around = around.path().canonicalize().unwrap();
        let root = around.join("project");
        let own = made(&around, "bin/own", "");
        let inside = made(&root, ".venv/bin/tool", "");
        let link = around.join("bin/python3");
        symlink("/bin/sh", &link).unwrap();
        let led_in = around.join("bin/led-in");
        symlink(&inside, &led_in).unwrap();
        for (path, expected) in [
            (Path::new("/bin/sh"), ProgramPlace::System),
            (&own, ProgramPlace::Account),
            (&link, ProgramPlace::Account),
            // A link of the account's is not made the project's by where it leads.
            (&led_in, ProgramPlace::Account),
            (&inside, ProgramPlace::Project),
        ] {
            assert_eq!(place(path, &root), expected, "{}", path.display());
        }
    }

    #[test]
    fn what_runs_a_script_is_looked_at_too() {
        let around = tempfile::tempdir().unwrap();
        let around = around.path().canonicalize().unwrap();
        let bin = around.join("bin");
        let node = made(&bin, "node", "\u{7f}ELF");
        let search = SearchPath {
            folders: vec![bin.clone(), PathBuf::from("/bin")],
            ..SearchPath::default()
        };
        for (text, expected) in [
            ("#!/usr/bin/env node\n", Some(node.clone())),
            ("#!/usr/bin/env -S node --flag\n", Some(node)),
            ("#!/bin/sh -e\n", Some(PathBuf::from("/bin/sh"))),
            ("#!relative\n", None),
            ("\u{7f}ELF", None),
        ] {
            let script = made(&bin, "npm", text);
            assert_eq!(interpreter(&script, &search), expected, "{text}");
        }
    }

    #[test]
    fn only_what_the_account_can_change_must_be_accepted() {
        let around = tempfile::tempdir().unwrap();
        let around = around.path().canonicalize().unwrap();
        let own = made(&around, "bin/own", "one");
        let root = around.join("project");
        let search = SearchPath {
            folders: vec![around.join("bin")],
            ..SearchPath::default()
        };
        let now = || seen(&own, &root, &search);
        let nobody = AcceptedPrograms::new();
        let told = judge(&now(), &nobody, &search).unwrap_err();
        assert!(told.contains("`gatewright trust --program own`"), "{told}");
        let accepted = AcceptedPrograms::from([(own.clone(), now()[0].hash.unwrap())]);
        assert_eq!(judge(&now(), &accepted, &search), Ok(()));
        made(&around, "bin/own", "two");
        assert!(judge(&now(), &accepted, &search).is_err());
        let system = seen(Path::new("/bin/sh"), &root, &search);
        assert_eq!(judge(&system, &nobody, &search), Ok(()));
    }
}
