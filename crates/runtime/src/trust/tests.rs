//! Every byte that decides what is run changes the trusted hash, and nothing else does.

use std::fs;
use std::path::Path;

use engine::{Time, Who};
use tempfile::TempDir;

use super::*;

const PIPELINE: &str = r#"
    name = "p"
    about = "a test"
    settings = "settings.json"
    start = "work"
    params.who = { about = "for whom", default = "me", setting = "who" }
    artifacts.note = { path = "out/note.sh", format = "text" }
    stages.work = { agent = "a", prompt = "prompts/a.md", leaves = ["note"], on.done = "test" }
    stages.test = { check = [
        "./run.sh {who}", "sh -e more/test.sh", "sh out/note.sh", "grep -q x data.txt", "sh {who}.sh",
    ], on.passed = "over", on.failed = "over" }
    stages.over = { end = "completed" }
"#;

struct Project(TempDir);

impl Project {
    fn new() -> Self {
        let project = Self(tempfile::tempdir().unwrap());
        for (path, text) in [
            (".gatewright/p.toml", PIPELINE),
            (".gatewright/prompts/a.md", "do it"),
            ("run.sh", "true"),
            ("more/test.sh", "false"),
            ("out/note.sh", "x"),
            ("data.txt", "x"),
        ] {
            project.write(path, text);
        }
        project
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn subject(&self) -> Result<Subject, Failure> {
        self.subject_of(".gatewright/p.toml")
    }

    fn subject_of(&self, path: &str) -> Result<Subject, Failure> {
        let Ok(sources) = definition::read(&self.0.path().join(path), path) else {
            panic!("the definition cannot be read");
        };
        let Ok(compiled) = definition::compile(&sources) else {
            panic!("the definition is not accepted");
        };
        let definition = compiled.pipeline.definition();
        let path = self.0.path().join(path);
        Subject::new(&path, &sources, definition, self.0.path())
    }

    fn state(&self) -> State {
        State::new(self.0.path().join("state"))
    }
}

#[test]
fn every_byte_counts_that_decides_what_is_run() {
    let project = Project::new();
    let subject = project.subject().unwrap();
    let scripts: Vec<&str> = subject
        .scripts
        .iter()
        .map(|script| script.path.as_str())
        .collect();
    assert_eq!(scripts, ["more/test.sh", "run.sh"]);
    let trusted = subject.hash();
    for (path, text, expected) in [
        ("data.txt", "y", true),
        ("out/note.sh", "y", true),
        ("me.sh", "y", true),
        ("run.sh", "true ", false),
        ("run.sh", "true", true),
        ("more/test.sh", "", false),
        ("more/test.sh", "false", true),
        (".gatewright/prompts/a.md", "do it twice", false),
        (".gatewright/prompts/a.md", "do it", true),
        (
            ".gatewright/p.toml",
            &PIPELINE.replace("a test", "a best"),
            false,
        ),
        (".gatewright/p.toml", &format!("{PIPELINE}\n"), false),
        (".gatewright/p.toml", PIPELINE, true),
        ("settings.json", "{}", false),
    ] {
        project.write(path, text);
        let hash = project.subject().unwrap().hash();
        assert_eq!(hash == trusted, expected, "{path}: {text}");
    }
}

#[test]
fn the_same_bytes_elsewhere_are_another_thing() {
    let project = Project::new();
    let here = project.subject().unwrap().hash();
    project.write("other/p.toml", PIPELINE);
    project.write("other/prompts/a.md", "do it");
    assert_ne!(project.subject_of("other/p.toml").unwrap().hash(), here);
}

#[test]
fn a_script_that_is_not_there_yet_is_new_when_it_comes() {
    let project = Project::new();
    fs::remove_file(project.0.path().join("run.sh")).unwrap();
    let state = project.state();
    let subject = project.subject().unwrap();
    let who = Who::Person("ada".to_owned());
    record::keep(&state, &subject, Time(1), &who).unwrap();
    assert!(require(&state, "p", &subject).is_ok());
    project.write("run.sh", "planted");
    project.write("more/test.sh", "changed");
    fs::remove_file(project.0.path().join(".gatewright/prompts/a.md")).unwrap();
    project.write(
        ".gatewright/p.toml",
        &PIPELINE.replace(r#"prompt = "prompts/a.md", "#, ""),
    );
    let failure = require(&state, "p", &project.subject().unwrap()).unwrap_err();
    assert_eq!(
        failure.to_string(),
        "p has changed since it was trusted: p.toml has changed, ./more/test.sh has changed, \
         ./run.sh is new, prompts/a.md is gone; a person must type `gatewright trust p`"
    );
}

#[test]
fn the_latest_trust_takes_the_place_of_the_one_before() {
    let project = Project::new();
    let state = project.state();
    let who = Who::Unattended("ada".to_owned());
    let first = project.subject().unwrap();
    let failure = require(&state, "p", &first).unwrap_err().to_string();
    assert!(failure.starts_with("p is not trusted yet"), "{failure}");
    let kept = record::keep(&state, &first, Time(1), &who).unwrap();
    assert_eq!(record::all(&state), std::slice::from_ref(&kept));
    assert_eq!(kept.by, "ada (unattended)");

    project.write("run.sh", "better");
    let second = project.subject().unwrap();
    assert!(require(&state, "p", &second).is_err());
    record::keep(&state, &second, Time(2), &who).unwrap();
    assert!(require(&state, "p", &second).is_ok());
    // The earlier version was trusted once. It is not any more.
    assert!(require(&state, "p", &first).is_err());
    let record = record::of_path(&state, &second.path).pop().unwrap();
    assert_eq!(record.texts["p.toml"], PIPELINE);
    record::forget(&state, &record).unwrap();
    assert!(require(&state, "p", &second).is_err());
}

#[test]
fn a_script_that_is_a_link_is_refused() {
    let project = Project::new();
    fs::remove_file(project.0.path().join("run.sh")).unwrap();
    std::os::unix::fs::symlink("data.txt", project.0.path().join("run.sh")).unwrap();
    let failure = project.subject().err().unwrap().to_string();
    assert!(
        failure.ends_with("run.sh is a symbolic link; copy the file itself there"),
        "{failure}"
    );
}

#[test]
fn a_run_is_pinned_to_the_scripts_that_were_trusted() {
    let subject = Project::new().subject().unwrap();
    let pinned = subject.pinned().unwrap();
    let expected = subject
        .scripts
        .iter()
        .map(|script| (script.path.clone(), script.hash));
    assert_eq!(scripts::of_run(&pinned), expected.collect());
    assert_ne!(pinned.hash(), subject.files.hash());
    assert_eq!(
        scripts::of_run(&subject.files),
        std::collections::BTreeMap::new()
    );
}

#[test]
fn what_comes_with_the_program_is_trusted_as_a_copy_too() {
    for builtin in language::builtin::all() {
        let mut sources = builtin.sources();
        sources.main.name = "copy.toml".to_owned();
        assert!(is_shipped(&sources), "{}", builtin.name);
        sources.main.bytes.push(b'\n');
        assert!(!is_shipped(&sources), "{}", builtin.name);
    }
}

#[test]
fn a_file_of_another_kind_in_the_folder_of_trust_trusts_nothing() {
    let project = Project::new();
    let state = project.state();
    let subject = project.subject().unwrap();
    let place = state
        .folder()
        .join("trust")
        .join(subject.hash().to_string());
    fs::create_dir_all(&place).unwrap();
    assert!(require(&state, "p", &subject).is_err());
    fs::remove_dir(&place).unwrap();
    std::os::unix::fs::symlink(Path::new("/dev/null"), &place).unwrap();
    assert!(require(&state, "p", &subject).is_err());
}
