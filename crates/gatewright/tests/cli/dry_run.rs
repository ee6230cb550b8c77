//! `gatewright dry-run`: the plan, the programs, and nothing that was started or written.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use testkit::{Project, Ran};

use crate::fixture::{PROGRAM, RUN, SMALL, start};

/// Programs of a person, in a folder of their own.
fn programs(project: &Project, named: &[(&str, &str)]) -> PathBuf {
    let folder = project.home().join("bin");
    fs::create_dir_all(&folder).unwrap();
    for (name, script) in named {
        let path = folder.join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        testkit::make_executable(&path);
    }
    folder
}

fn dry_run(project: &Project, line: &str, folder: &Path) -> Ran {
    let words = line.split_whitespace();
    let mut path = OsString::from(folder);
    path.push(":/usr/bin:/bin");
    let mut command = project.command(["dry-run"].into_iter().chain(words));
    Ran::from(command.env("PATH", path).output().unwrap())
}

fn facts(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|problem| panic!("{problem}\n{ran}"))
}

fn small() -> Project {
    let project = Project::new(PROGRAM);
    project.write("small.toml", SMALL);
    project
}

const CLAUDE: (&str, &str) = ("claude", "echo '2.1.325 (Claude Code)'");
const CODEX: (&str, &str) = ("codex", "echo codex-cli 0.166.0");

#[test]
fn a_plan_that_lacks_nothing_ends_with_0() {
    let project = small();
    project.trust("small.toml");
    let folder = programs(&project, &[CLAUDE]);
    let ran = dry_run(&project, "small.toml --task note", &folder).succeeds();
    for words in [
        "small: Write a note, test it, ask, and have it reviewed.",
        "'writer'",
        "note",
        "$ grep -q Hello note.md",
        "failed · fixes ≤ 2 → writing",
        "3 rounds",
        "fixes 2",
        "/claude, 2.1.325 (Claude Code)",
        "✓ grep (testing): ",
        "✓ claude",
    ] {
        assert!(unwrapped(&ran).contains(words), "{words}\n{ran}");
    }
}

#[test]
fn what_is_missing_is_told_with_what_to_do_and_ends_with_1() {
    let project = small();
    let folder = programs(&project, &[CLAUDE]);
    let broken = SMALL.replace("grep -q", "no-such-checker -q");
    project.write("small.toml", broken);
    let ran = dry_run(&project, "small.toml", &folder).exits(1);
    for words in [
        "✗ no-such-checker (testing)",
        "`gatewright trust small.toml`",
    ] {
        assert!(ran.stdout.contains(words), "{words}\n{ran}");
    }
}

#[test]
fn a_program_that_is_too_old_is_missing_and_one_that_nobody_tried_is_told() {
    let project = small();
    project.trust("small.toml");
    let folder = programs(&project, &[("claude", "echo '2.1.294 (Claude Code)'")]);
    let ran = dry_run(&project, "small.toml --task note", &folder).exits(1);
    for words in ["claude 2.1.294", "2.1.295"] {
        assert!(unwrapped(&ran).contains(words), "{words}\n{ran}");
    }
    let folder = programs(&project, &[("claude", "echo '3.0.0 (Claude Code)'")]);
    let ran = dry_run(&project, "small.toml --task note", &folder).succeeds();
    let words = "claude 3.0.0";
    assert!(unwrapped(&ran).contains(words), "{ran}");
}

#[test]
fn the_same_facts_are_there_for_programs() {
    let project = small();
    let folder = programs(&project, &[CLAUDE, CODEX]);
    let ran = dry_run(&project, "multi-ai --task jwt --json", &folder).succeeds();
    let plan = facts(&ran);
    assert_eq!(plan["ready"], true, "{ran}");
    assert_eq!(plan["trust"]["is"], "shipped");
    assert_eq!(plan["task"], "jwt");
    let programs = plan["programs"].as_array().unwrap();
    let version = |name: &str| {
        let mut found = programs.iter().filter(|program| program["name"] == name);
        found.next().map(|program| program["version"].clone())
    };
    assert_eq!(version("codex"), Some(Value::from("codex-cli 0.166.0")));
    let stages = plan["stages"].as_array().unwrap().iter();
    let workers = stages.flat_map(|stage| stage["workers"].as_array().unwrap());
    assert!(
        workers.clone().any(|worker| worker["runner"] == "codex"),
        "{ran}"
    );
    assert!(
        workers
            .clone()
            .any(|worker| worker["conversation"] == "same"),
        "{ran}"
    );
}

#[test]
fn another_runner_starts_those_that_have_none() {
    let project = small();
    project.trust("small.toml");
    let folder = programs(&project, &[CODEX]);
    let ran = dry_run(&project, "small.toml --runner codex --json", &folder).succeeds();
    let plan = facts(&ran);
    assert_eq!(plan["stages"][0]["workers"][0]["runner"], "codex", "{ran}");
    dry_run(&project, "small.toml --runner qwen", &folder).exits(2);
}

#[test]
fn it_takes_what_run_takes() {
    let project = small();
    project.trust("small.toml");
    let folder = programs(&project, &[CODEX]);
    let stand_in = folder.join("codex").display().to_string();
    let line = format!("small.toml --json --notify no-such-teller --stand-in {stand_in}");
    let plan = facts(&dry_run(&project, &line, &folder).exits(1));
    assert_eq!(plan["stages"][0]["workers"][0]["runner"], "its stand-in");
    let programs = plan["programs"].as_array().unwrap().iter();
    let names: Vec<&str> = programs.filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(names, ["grep", "no-such-teller"]);
    let line = format!("small.toml --stand-in {stand_in} --answer asking=maybe");
    let ran = dry_run(&project, &line, &folder).exits(1);
    assert!(ran.stdout.contains("maybe"), "{ran}");
    let line = format!("small.toml --stand-in {stand_in} --answer asking=yes --notify grep");
    dry_run(&project, &line, &folder).succeeds();
}

#[test]
fn a_program_that_does_not_tell_its_version_would_not_be_started() {
    let project = small();
    project.trust("small.toml");
    let folder = programs(&project, &[("claude", "echo broken >&2; exit 3")]);
    let ran = dry_run(&project, "small.toml", &folder).exits(1);
    let told = unwrapped(&ran);
    let facts = ["claude", "3: broken"];
    assert!(facts.iter().all(|fact| told.contains(fact)), "{ran}");
}

/// What it printed, in one line.
fn unwrapped(ran: &Ran) -> String {
    let words: Vec<&str> = ran.stdout.split_whitespace().collect();
    words.join(" ")
}

#[test]
fn a_run_that_would_be_refused_says_why() {
    let project = small();
    let folder = programs(&project, &[CLAUDE]);
    let ran = dry_run(&project, "ansible --task role", &folder).exits(1);
    let told = unwrapped(&ran);
    assert!(told.contains("--param target=VALUE"), "{ran}");
    let other = dry_run(&project, "small.toml --param x=1", &folder).exits(1);
    assert!(other.stdout.contains("--param x"), "{other}");
    // Another run writes to the same files.
    start(&project, "small.toml").succeeds();
    let taken = dry_run(&project, "small.toml", &folder).exits(1);
    assert!(taken.stdout.contains(RUN), "{taken}");
}

#[test]
fn nothing_is_started_and_nothing_is_written() {
    let project = small();
    let started = project.path().join("started");
    let script = format!("[ \"$*\" = --version ] || touch {}", started.display());
    let folder = programs(&project, &[("claude", &script)]);
    dry_run(&project, "small.toml --task note", &folder).exits(1);
    assert!(!started.exists());
    assert!(!project.state().exists(), "the state folder was made");
    let left: Vec<_> = fs::read_dir(project.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn a_definition_that_is_none_is_refused_as_lint_refuses_it() {
    let project = small();
    project.write("small.toml", "name = 1");
    let ran = dry_run(&project, "small.toml", &project.home()).exits(1);
    assert!(ran.stderr.contains("GW-L113"), "{ran}");
    dry_run(&project, "nonsense", &project.home()).exits(3);
}
