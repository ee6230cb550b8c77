//! What agent programs said about their version, kept while the program is the same file.
//!
//! A wrong answer must not last: an entry counts for the path, size, inode and times of the file and of the package
//! that it belongs to, for a day, and until a worker of that program fails. Scripts of a shell are never kept, because
//! they may start another program tomorrow. `dry-run` and `doctor` ask the program itself.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use engine::Time;
use runtime::state::{self, State};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A package manager may do something that no stamp shows.
const LONGEST_AGE: u64 = 24 * 60 * 60 * 1_000;

/// How far above a script the file of its package is looked for.
const MOST_PARENTS: usize = 4;

/// An answer, with the stamp of the file that gave it.
#[derive(Serialize, Deserialize)]
struct Answer {
    stamp: String,
    said: String,
    asked_at: u64,
}

/// The answer of this program, if it is the same file as then.
pub(super) fn known(state: &State, program: &Path, now: Time) -> Option<String> {
    let (path, stamp) = identity(program)?;
    let answer = read(state).remove(&path)?;
    let is_young = now.0 >= answer.asked_at && now.0 - answer.asked_at < LONGEST_AGE;
    (is_young && answer.stamp == stamp).then_some(answer.said)
}

/// Keeps an answer. Without it the program is only asked again.
pub(super) fn keep(state: &State, program: &Path, said: &str, now: Time) {
    let Some((path, stamp)) = identity(program) else {
        return;
    };
    let mut all = read(state);
    let answer = Answer {
        stamp,
        said: said.to_owned(),
        asked_at: now.0,
    };
    all.insert(path, answer);
    let _ = state::write_durably(&file(state), &json!(all).to_string());
}

/// Nothing that was kept counts any more.
pub(super) fn forget(state: &State) {
    let _ = fs::remove_file(file(state));
}

/// By path. What cannot be read is asked again.
fn read(state: &State) -> BTreeMap<String, Answer> {
    let text = fs::read_to_string(file(state)).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

fn file(state: &State) -> PathBuf {
    state.folder().join("versions.json")
}

/// The real file behind a path, and a stamp that changes with it. Nothing where a stamp could not show a change.
fn identity(program: &Path) -> Option<(String, String)> {
    let path = program.canonicalize().ok()?;
    let mut stamps = vec![stamp(&path)?];
    match kind(&path)? {
        Kind::Binary => {}
        Kind::Packaged => {
            let parents = path.ancestors().skip(1).take(MOST_PARENTS);
            let mut packages = parents.map(|folder| folder.join("package.json"));
            stamps.push(packages.find_map(|file| stamp(&file))?);
        }
        Kind::Other => return None,
    }
    Some((path.to_str()?.to_owned(), stamps.join(" ")))
}

enum Kind {
    Binary,
    /// A script of a package, which is replaced as a whole.
    Packaged,
    Other,
}

fn kind(path: &Path) -> Option<Kind> {
    let mut beginning = Vec::new();
    let file = fs::File::open(path).ok()?;
    file.take(128).read_to_end(&mut beginning).ok()?;
    let first = beginning.split(|byte| *byte == b'\n').next()?;
    let first = String::from_utf8_lossy(first);
    Some(match first.strip_prefix("#!") {
        Some(interpreter) if interpreter.ends_with("node") => Kind::Packaged,
        Some(_) => Kind::Other,
        None if beginning.starts_with(b"\x7fELF") => Kind::Binary,
        None => Kind::Other,
    })
}

fn stamp(path: &Path) -> Option<String> {
    let metadata = fs::metadata(path).ok()?;
    Some(format!(
        "{} {} {} {}.{} {}.{}",
        metadata.dev(),
        metadata.ino(),
        metadata.size(),
        metadata.mtime(),
        metadata.mtime_nsec(),
        metadata.ctime(),
        metadata.ctime_nsec(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time(1_000_000_000_000);

    fn later(milliseconds: u64) -> Time {
        Time(NOW.0 + milliseconds)
    }

    #[test]
    fn an_answer_counts_for_the_same_file_for_a_day_and_until_it_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().join("state"));
        let program = folder.path().join("agent");
        fs::write(&program, b"\x7fELF one").unwrap();
        assert_eq!(known(&state, &program, NOW), None);
        keep(&state, &program, "1.2.3 (Agent)", NOW);
        let said = Some("1.2.3 (Agent)".to_owned());
        assert_eq!(known(&state, &program, later(1)), said);
        assert_eq!(known(&state, &program, later(LONGEST_AGE)), None);
        assert_eq!(known(&state, &program, Time(NOW.0 - 1)), None);
        // The same size and content, and still another file.
        fs::remove_file(&program).unwrap();
        fs::write(&program, b"\x7fELF one").unwrap();
        assert_eq!(known(&state, &program, later(1)), None);
        keep(&state, &program, "1.2.4", NOW);
        forget(&state);
        assert_eq!(known(&state, &program, later(1)), None);
        keep(&state, &program, "1.2.4", NOW);
        fs::write(file(&state), "[").unwrap();
        assert_eq!(known(&state, &program, later(1)), None);
    }

    #[test]
    fn a_script_counts_with_its_package_and_never_without() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().join("state"));
        let bin = folder.path().join("package/bin");
        fs::create_dir_all(&bin).unwrap();
        let program = bin.join("agent.js");
        fs::write(&program, "#!/usr/bin/env node\n1").unwrap();
        keep(&state, &program, "1.2.3", NOW);
        assert_eq!(known(&state, &program, NOW), None, "no package");
        let package = folder.path().join("package/package.json");
        fs::write(&package, "{}").unwrap();
        keep(&state, &program, "1.2.3", NOW);
        assert_eq!(known(&state, &program, NOW), Some("1.2.3".to_owned()));
        fs::write(&package, "{ }").unwrap();
        assert_eq!(known(&state, &program, NOW), None, "another package");
        let wrapper = bin.join("wrapper");
        fs::write(&wrapper, "#!/bin/sh\nexec agent").unwrap();
        keep(&state, &wrapper, "1.2.3", NOW);
        assert_eq!(known(&state, &wrapper, NOW), None, "a shell");
    }

    #[test]
    fn stored_bytes_are_read_and_written_as_they_always_were() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().join("state"));
        let program = folder.path().join("agent");
        fs::write(&program, b"\x7fELF one").unwrap();
        let (path, stamp) = identity(&program).unwrap();
        let stored = format!(
            r#"{{"{path}":{{"stamp":"{stamp}","said":"1.2.3","asked_at":{}}}}}"#,
            NOW.0
        );
        keep(&state, &program, "1.2.3", NOW);
        assert_eq!(fs::read_to_string(file(&state)).unwrap(), stored);
        fs::write(
            file(&state),
            stored.replace("{\"stamp", "{\"more\":1,\"stamp"),
        )
        .unwrap();
        assert_eq!(known(&state, &program, NOW), Some("1.2.3".to_owned()));
        for damaged in ["", "[]", "null", &stored.replace("said", "told")] {
            fs::write(file(&state), damaged).unwrap();
            assert_eq!(known(&state, &program, NOW), None, "{damaged}");
            keep(&state, &program, "1.2.3", NOW);
            assert!(known(&state, &program, NOW).is_some(), "{damaged}");
        }
    }
}
