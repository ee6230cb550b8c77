//! The environment of a check comes from a person: nothing that an agent sets decides one.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use testkit::pipelines::one_check;
use testkit::{Project, Ran};

use super::fixture::{PROGRAM, RUN, facts, stage, status};

fn words(words: &[&str]) -> String {
    serde_json::to_string(words).unwrap()
}

/// A project with this check in a pipeline that nobody has trusted yet.
fn project(command: &[&str]) -> Project {
    let project = Project::with_git(PROGRAM);
    project.write("tested.toml", one_check(&words(command)));
    project
}

/// A person trusts the pipeline in this environment, given as a shell gives it.
fn trusted(project: &Project, environment: &str) {
    let line = format!("{environment} '{PROGRAM}' trust tested.toml");
    let ran = project.person_at(&line, "yes\n");
    assert_eq!(ran.code, Some(0), "{ran}");
}

/// An agent gives this command, with these variables of its own.
fn agent(project: &Project, line: &str, variables: &[(&str, String)]) -> Ran {
    let mut command = project.command(line.split_whitespace());
    command.env("CLAUDECODE", "1");
    for (name, value) in variables {
        command.env(name, value);
    }
    Ran::from(command.output().unwrap())
}

/// An agent starts the run of its session.
fn start(project: &Project, variables: &[(&str, String)]) -> Ran {
    let line = format!("start tested.toml --task try --id {RUN}");
    let session = ("CLAUDE_CODE_SESSION_ID", "session-1".to_owned());
    let variables: Vec<_> = variables.iter().cloned().chain([session]).collect();
    agent(project, &line, &variables)
}

/// Writes a program outside the project.
fn program(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    testkit::make_executable(path);
}

/// The results of the run's last check.
fn last_check(project: &Project) -> Value {
    let history = facts(project, ["history", RUN]);
    let entries = history["entries"].as_array().unwrap().iter();
    let mut checked = entries.filter(|entry| entry["fact"]["kind"] == "checked");
    checked.next_back().unwrap()["fact"].clone()
}

/// Where Python looks for the account's own packages.
fn site_of(home: &Path) -> PathBuf {
    let script = "import sys; print('%d.%d' % sys.version_info[:2])";
    let said = std::process::Command::new("/usr/bin/python3")
        .args(["-c", script])
        .output()
        .unwrap();
    let version = String::from_utf8(said.stdout).unwrap();
    home.join(format!(".local/lib/python{}/site-packages", version.trim()))
}

/// A variable, its value, and a check that is red without what the agent has made of it.
fn attacks(evil: &Path) -> Vec<(&'static str, String, Vec<String>)> {
    program(&evil.join("bin/no-such-test"), "#!/bin/sh\nexit 0\n");
    let site = site_of(evil);
    fs::create_dir_all(&site).unwrap();
    let passes = "import os\nos._exit(0)\n";
    fs::write(site.join("usercustomize.py"), passes).unwrap();
    fs::write(evil.join("sitecustomize.py"), passes).unwrap();
    fs::write(evil.join("evil.js"), "process.exit(0)").unwrap();
    fs::write(evil.join("evil.sh"), "exit 0\n").unwrap();
    let here = |name: &str| evil.join(name).display().to_string();
    let line = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let is_set = |name: &str| line(&["printenv", name]);
    let python = line(&["/usr/bin/python3", "-c", "raise SystemExit(1)"]);
    vec![
        (
            "PATH",
            format!("{}:/usr/bin:/bin", here("bin")),
            line(&["no-such-test"]),
        ),
        ("HOME", here(""), python.clone()),
        ("PYTHONPATH", here(""), python.clone()),
        ("PYTHONUSERBASE", here(".local"), python),
        (
            "PYTHONSTARTUP",
            here("sitecustomize.py"),
            is_set("PYTHONSTARTUP"),
        ),
        ("LD_PRELOAD", String::new(), is_set("LD_PRELOAD")),
        (
            "NODE_OPTIONS",
            format!("--require={}", here("evil.js")),
            line(&["node", "-e", "process.exit(1)"]),
        ),
        ("BASH_ENV", here("evil.sh"), line(&["bash", "-c", "exit 1"])),
        ("GIT_DIR", here("git"), is_set("GIT_DIR")),
        (
            "RUSTC_WRAPPER",
            here("bin/no-such-test"),
            is_set("RUSTC_WRAPPER"),
        ),
        (
            "TMPDIR",
            here(""),
            line(&["sh", "-c", "test -e \"$TMPDIR/evil.sh\""]),
        ),
    ]
}

#[test]
fn nothing_that_an_agent_sets_changes_a_verdict() {
    let evil = tempfile::tempdir().unwrap();
    for (name, value, command) in attacks(evil.path()) {
        let command: Vec<&str> = command.iter().map(String::as_str).collect();
        let set = [(name, value)];
        for (at_start, at_check) in [(&set[..], &[][..]), (&[][..], &set[..]), (&set, &set)] {
            for is_trusted in [true, false] {
                let project = project(&command);
                if is_trusted {
                    trusted(&project, "");
                } else {
                    project.trust_by_hash("tested.toml");
                }
                start(&project, at_start).succeeds();
                let ran = agent(&project, "check", at_check);
                let told = format!("{name} {at_start:?} {at_check:?}\n{ran}");
                assert_ne!(status(&project), "completed", "{told}");
                assert_ne!(last_check(&project)["verdict"], "passed", "{told}");
            }
        }
    }
}

#[test]
fn a_run_that_an_agent_starts_has_the_environment_that_a_person_gave() {
    let project = project(&["own-test"]);
    let bin = project.home().join("bin");
    let text =
        "#!/bin/sh\ntest \"$GOPATH\" = /gopath && test -z \"$SHELL\" && test \"$HOME\" != /\n";
    program(&bin.join("own-test"), text);
    let environment = format!(
        "GOPATH=/gopath SHELL=/bin/x PATH={}:\"$PATH\"",
        bin.display()
    );
    trusted(&project, &environment);
    let poor = [
        ("PATH", "/usr/bin:/bin".to_owned()),
        ("HOME", "/".to_owned()),
    ];
    start(&project, &poor).succeeds();
    agent(&project, "check", &poor).succeeds();
    assert_eq!(status(&project), "completed");
    // What ran stands in the evidence.
    let checked = last_check(&project);
    let own = &checked["results"][0]["programs"][0];
    assert_eq!(own["path"], bin.join("own-test").display().to_string());
    assert_eq!(own["place"], "account");
    assert_eq!(own["sha256"], evidence::hash(text.as_bytes()).to_string());
    assert_eq!(checked["results"][0]["programs"][1]["place"], "system");
    let history = facts(&project, ["history", RUN]);
    let entries = history["entries"].as_array().unwrap();
    let place = entries
        .iter()
        .position(|entry| entry["fact"]["kind"] == "checked");
    let number = entries[place.unwrap()]["entry"].to_string();
    let why = project.run(["why", RUN, &number]).succeeds();
    let hash = evidence::hash(text.as_bytes()).to_string();
    assert!(why.stdout.contains(&hash), "{why}");
}

#[test]
fn without_a_person_s_word_an_agent_has_the_folders_of_the_system() {
    let project = project(&["own-test"]);
    let bin = project.home().join("bin");
    program(&bin.join("own-test"), "#!/bin/sh\n");
    project.trust_by_hash("tested.toml");
    let path = [("PATH", format!("{}:/usr/bin:/bin", bin.display()))];
    start(&project, &path).succeeds();
    let ran = agent(&project, "check", &path);
    assert!(ran.stderr.contains("GW-R55"), "{ran}");
    assert!(!ran.stderr.contains("PATH"), "{ran}");
}

#[test]
fn a_script_s_own_environment_counts_where_no_person_gave_one() {
    for (is_trusted, expected) in [(false, "complete"), (true, "testing")] {
        let project = project(&["own-test"]);
        let bin = project.home().join("bin");
        program(&bin.join("own-test"), "#!/bin/sh\n");
        if is_trusted {
            trusted(&project, "");
        } else {
            project.trust_by_hash("tested.toml");
        }
        let line = [
            "start",
            "tested.toml",
            "--task",
            "try",
            "--by-hand",
            "--id",
            RUN,
        ];
        let mut command = project.command(line);
        command.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
        Ran::from(command.output().unwrap()).succeeds();
        project.run(["check"]);
        assert_eq!(stage(&project), expected);
    }
}

#[test]
fn a_program_that_changed_is_no_evidence_until_a_person_accepts_it() {
    let project = project(&["grep", "-q", "Hello", "note.md"]);
    project.write("note.md", "nothing\n");
    let bin = project.home().join("bin");
    program(&bin.join("own-test"), "#!/bin/sh\n");
    trusted(&project, &format!("PATH={}:\"$PATH\"", bin.display()));
    start(&project, &[]).succeeds();
    // It would be found before the system's own.
    program(&bin.join("grep"), "#!/bin/sh\nexit 0\n");
    let ran = agent(&project, "check", &[]);
    assert!(ran.stderr.contains("GW-R58"), "{ran}");
    assert!(
        ran.stderr.contains("gatewright trust --program grep"),
        "{ran}"
    );
    assert_eq!(last_check(&project)["verdict"], "void");
    assert_eq!(status(&project), "waiting");
    let ran = agent(&project, "trust --program grep", &[]);
    assert!(ran.stderr.contains("GW-R66"), "{ran}");
    let ran = project.run(["trust", "--program", "grep"]);
    assert_ne!(ran.code, Some(0), "{ran}");
    assert_eq!(status(&project), "waiting");
    project
        .person(["trust", "--program", "grep"], "yes\n")
        .succeeds();
    agent(&project, "check", &[]).succeeds();
    assert_eq!(status(&project), "completed");
    project.run(["verify"]).succeeds();
}

#[test]
fn an_environment_that_somebody_edited_is_noticed() {
    let project = project(&["true"]);
    trusted(&project, "");
    start(&project, &[]).succeeds();
    let folder = project.state().join("environments");
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("/usr/bin", "/usr/evil")).unwrap();
    }
    let ran = agent(&project, "check", &[]);
    assert!(ran.stderr.contains("GW-R57"), "{ran}");
    assert_eq!(last_check(&project)["verdict"], "void");
    let ran = agent(&project, "trust --environment", &[]);
    assert!(ran.stderr.contains("GW-R66"), "{ran}");
    project
        .person(["trust", "--environment"], "yes\n")
        .succeeds();
    agent(&project, "check", &[]).succeeds();
    assert_eq!(status(&project), "completed");
}

#[test]
fn dry_run_says_what_the_checks_of_a_run_would_not_find() {
    let project = project(&["own-test"]);
    let bin = project.home().join("bin");
    program(&bin.join("own-test"), "#!/bin/sh\n");
    let path = format!("PATH={}:\"$PATH\"", bin.display());
    let dry_run = || project.run(["dry-run", "tested.toml", "--task", "try"]);
    trusted(&project, "");
    dry_run().exits(1);
    trusted(&project, &path);
    dry_run().succeeds();
    program(&bin.join("own-test"), "#!/bin/sh\nexit 0\n");
    let ran = dry_run().exits(1);
    assert!(ran.stdout.contains("trust --program own-test"), "{ran}");
}

/// Layouts of common tools, with scripts in the place of what they install: the check, what makes the
/// layout, and what a person's shell says.
fn layouts(home: &Path, root: &Path) -> Vec<(&'static [&'static str], String)> {
    let shim =
        "#!/bin/sh\n[ -d \"${RUSTUP_HOME:-$HOME/.rustup}/toolchains\" ] && [ \"$1\" = test ]\n";
    program(&home.join(".cargo/bin/rustup"), shim);
    symlink("rustup", home.join(".cargo/bin/own-cargo")).unwrap();
    fs::create_dir_all(home.join(".rustup/toolchains")).unwrap();
    let node = home.join(".nvm/versions/node/v22.0.0/bin");
    program(&node.join("own-node"), "#!/bin/sh\n[ -n \"$NVM_DIR\" ]\n");
    program(&node.join("own-npm"), "#!/usr/bin/env own-node\n");
    let pyenv = "#!/bin/sh\n[ -d \"$PYENV_ROOT/versions\" ] && [ \"$1\" = exec ]\n";
    program(&home.join(".pyenv/bin/own-pyenv"), pyenv);
    let shim = "#!/bin/sh\nexec \"$PYENV_ROOT/bin/own-pyenv\" exec pytest\n";
    program(&home.join(".pyenv/shims/own-pytest"), shim);
    fs::create_dir_all(home.join(".pyenv/versions")).unwrap();
    let venv = root.join(".venv/bin");
    program(
        &venv.join("venv-pytest"),
        "#!/bin/sh\n[ -n \"$VIRTUAL_ENV\" ]\n",
    );
    let path = |folder: &Path| format!("PATH={}:\"$PATH\"", folder.display());
    let at = |folder: &str| home.join(folder);
    vec![
        (&["own-cargo", "test"], path(&at(".cargo/bin"))),
        (
            &["own-npm", "test"],
            format!("NVM_DIR={} {}", at(".nvm").display(), path(&node)),
        ),
        (
            &["own-pytest"],
            format!(
                "PYENV_ROOT={} {}",
                at(".pyenv").display(),
                path(&at(".pyenv/shims"))
            ),
        ),
        (
            &["venv-pytest"],
            format!(
                "VIRTUAL_ENV={} {}",
                root.join(".venv").display(),
                path(&venv)
            ),
        ),
    ]
}

#[test]
fn checks_work_where_tools_are_installed_as_people_install_them() {
    for index in 0..4 {
        let project = project(&["true"]);
        project.write(".gitignore", ".venv\n");
        let (command, environment) = layouts(&project.home(), &project.path()).remove(index);
        project.write("tested.toml", one_check(&words(command)));
        trusted(&project, &environment);
        start(&project, &[]).succeeds();
        let ran = agent(&project, "check", &[]);
        assert_eq!(
            status(&project),
            "completed",
            "{command:?} {environment}\n{ran}"
        );
    }
}

/// The real programs that are here: a red test is red, and a green one green.
#[test]
fn cargo_python_node_and_go_test_what_is_there() {
    let home = std::env::var("HOME").unwrap_or_default();
    let rustup = std::env::var("RUSTUP_HOME").unwrap_or_else(|_| format!("{home}/.rustup"));
    for (file, green, red, command) in [
        (
            "src/lib.rs",
            "#[test]\nfn it_works() {}\n",
            "#[test]\nfn it_works() { panic!() }\n",
            &["cargo", "test", "--offline", "--quiet"][..],
        ),
        (
            "test_it.py",
            "import unittest\nclass T(unittest.TestCase):\n    def test(self): pass\n",
            "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.fail()\n",
            &["python3", "-B", "-m", "unittest", "test_it"],
        ),
        (
            "it.test.js",
            "require('node:test')('it', () => {});\n",
            "require('node:test')('it', () => { throw 1; });\n",
            &["node", "--test"],
        ),
        (
            "test_it.py",
            "def test_it():\n    assert 1 + 1 == 2\n",
            "def test_it():\n    assert 1 + 1 == 3\n",
            &["pytest", "-q"],
        ),
        (
            "it_test.go",
            "package it\nimport \"testing\"\nfunc TestIt(t *testing.T) {}\n",
            "package it\nimport \"testing\"\nfunc TestIt(t *testing.T) { t.Fail() }\n",
            &["go", "test", "./..."],
        ),
    ] {
        for (text, expected) in [(green, "completed"), (red, "failed")] {
            let project = project(command);
            project.write(".gitignore", "target\nCargo.lock\n");
            project.write(
                "Cargo.toml",
                "[package]\nname = \"it\"\nedition = \"2021\"\n",
            );
            project.write("go.mod", "module it\n\ngo 1.19\n");
            project.write(file, text);
            trusted(&project, &format!("RUSTUP_HOME={rustup}"));
            start(&project, &[]).succeeds();
            let ran = agent(&project, "check", &[]);
            assert_eq!(status(&project), expected, "{command:?}\n{ran}");
        }
    }
}

/// The person's shell has activated the environment, and the agent's has not.
#[test]
fn pytest_of_a_virtual_environment_tests_what_is_there() {
    for (test, expected) in [
        ("def test_it(): assert True\n", "completed"),
        ("def test_it(): assert False\n", "failed"),
    ] {
        let project = project(&["python", "-m", "pytest", "-q"]);
        project.write(".gitignore", ".venv\n");
        project.write("test_it.py", test);
        let venv = project.path().join(".venv");
        let made = Command::new("/usr/bin/python3")
            .args(["-m", "venv", "--without-pip", "--system-site-packages"])
            .arg(&venv)
            .output();
        assert!(made.unwrap().status.success());
        let path = format!("PATH={}/bin:$PATH", venv.display());
        trusted(&project, &format!("VIRTUAL_ENV={} {path}", venv.display()));
        start(&project, &[]).succeeds();
        let ran = agent(&project, "check", &[]);
        assert_eq!(status(&project), expected, "{ran}");
        let python = last_check(&project)["results"][0]["programs"][0].clone();
        let named = python["path"].as_str().unwrap_or_default();
        assert!(Path::new(named).ends_with(".venv/bin/python"), "{python}");
    }
}

/// Variables by which a caller could change what a program does: loaders, interpreters, build tools, git.
const HOSTILE: [&str; 48] = [
    "BASH_ENV",
    "CARGO_BUILD_RUSTC",
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "CDPATH",
    "CFLAGS",
    "CLASSPATH",
    "CURL_HOME",
    "DYLD_INSERT_LIBRARIES",
    "ENV",
    "GCONV_PATH",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_DIR",
    "GIT_EXEC_PATH",
    "GIT_INDEX_FILE",
    "GIT_SSH_COMMAND",
    "GIT_WORK_TREE",
    "GLOBIGNORE",
    "GOFLAGS",
    "JAVA_TOOL_OPTIONS",
    "LD_AUDIT",
    "LD_DEBUG_OUTPUT",
    "LESSOPEN",
    "LUA_INIT",
    "MAKEFLAGS",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NPM_CONFIG_PREFIX",
    "PERL5LIB",
    "PERL5OPT",
    "PHPRC",
    "PIP_CONFIG_FILE",
    "PROMPT_COMMAND",
    "PS4",
    "PYTEST_ADDOPTS",
    "PYTHONHOME",
    "PYTHONINSPECT",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "PYTHONWARNINGS",
    "RUBYOPT",
    "RUSTC_WRAPPER",
    "RUSTFLAGS",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "npm_config_script_shell",
];

/// Passes where no variable has the agent's word. It names every program by its path.
const CLEAN: &[&str] = &["/bin/sh", "-c", "! /usr/bin/env | /bin/grep -q evil-word"];

fn hostile() -> Vec<(&'static str, String)> {
    let set = HOSTILE.iter().map(|name| (*name, "evil-word".to_owned()));
    set.collect()
}

/// None of them reaches a check, with and without a person who trusts the pipeline, and at any time.
#[test]
fn no_variable_of_an_agent_reaches_a_check() {
    for (at_start, at_check) in [
        (hostile(), Vec::new()),
        (Vec::new(), hostile()),
        (hostile(), hostile()),
    ] {
        for is_trusted in [true, false] {
            let project = project(CLEAN);
            if is_trusted {
                trusted(&project, "");
            } else {
                project.trust_by_hash("tested.toml");
            }
            start(&project, &at_start).succeeds();
            let ran = agent(&project, "check", &at_check);
            assert_eq!(status(&project), "completed", "{is_trusted}\n{ran}");
        }
    }
}

/// The control: each attack works on a command that gets the variable, and the command is red without it.
#[test]
fn each_attack_would_work_if_it_were_passed() {
    let evil = tempfile::tempdir().unwrap();
    let attempts = attacks(evil.path()).into_iter();
    let attempts = attempts.map(|(name, value, command)| (name, value, command, true));
    let clean: Vec<String> = CLEAN.iter().map(|word| (*word).to_owned()).collect();
    let words = hostile().into_iter();
    let words = words.map(|(name, value)| (name, value, clean.clone(), false));
    for (name, value, command, works) in attempts.chain(words) {
        // The loader and the shell themselves read some of them.
        let (first, rest) = command.split_first().unwrap();
        let run = |variable: Option<(&str, &str)>| {
            let line = std::iter::once(first).chain(rest);
            let mut command = std::process::Command::new("/usr/bin/env");
            command.arg("-i");
            let path = std::env::var("PATH").unwrap();
            command.arg(format!("PATH={path}"));
            command.args(variable.map(|(name, value)| format!("{name}={value}")));
            command.args(line).current_dir(evil.path());
            command.output().unwrap().status.success()
        };
        assert_eq!(run(Some((name, &value))), works, "{name} {command:?}");
        assert_eq!(run(None), !works, "{name} {command:?}");
    }
}
