//! The folder of the demo: a git project, a home and a state folder of its own, and the program that plays the agents.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use runtime::context::Context;
use runtime::current_exe;
use runtime::environment::Environment;
use runtime::failure::Failure;
use runtime::run_branch;
use tempfile::TempDir;

use super::RUN;

/// The program that the run is to write.
pub(super) const SCRIPT: &str = "slug.sh";

/// The test of the project, which is there before the run.
const TEST: (&str, &str) = (
    "tests/slug.sh",
    r#"found=$(sh slug.sh 'Hello, World!')
[ "$found" = hello-world ] && exit 0
echo "'Hello, World!': expected hello-world, got $found"
exit 1
"#,
);

pub(super) const TEST_COMMAND: &str = "sh tests/slug.sh";

/// Where programs are looked for if the environment does not say.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The places in the folder of a demo.
#[derive(Clone, Debug)]
pub(crate) struct DemoFolder {
    root: PathBuf,
}

impl DemoFolder {
    /// Makes everything that the run finds.
    pub(super) fn make(
        temporary: &TempDir,
        context: &Context,
        pause: Duration,
    ) -> Result<Self, Failure> {
        let root = temporary.path();
        let root = root.canonicalize().map_err(Failure::file("find", root))?;
        let folder = Self { root };
        for path in [
            folder.project().join("tests"),
            folder.home(),
            folder.state(),
        ] {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(&path);
            made.map_err(Failure::file("make", &path))?;
        }
        write(&folder.project().join(TEST.0), TEST.1)?;
        folder.write_worker(pause)?;
        folder.make_repository(context.environment.search_path.as_deref())?;
        Ok(folder)
    }

    /// The folder of a demo that another process made. Refuses a state folder that lies elsewhere: this
    /// process does not ask whether a person called it.
    pub(super) fn open(root: &Path) -> Result<Self, Failure> {
        let found = root.canonicalize().map_err(Failure::file("find", root))?;
        let folder = Self { root: found };
        let state = folder.state();
        match state.canonicalize() {
            Ok(found) if found == state => Ok(folder),
            Ok(_) | Err(_) => Err(Failure::usage(format!(
                "{} is not the folder of a demo",
                root.display()
            ))
            .hint("type `gatewright demo`")),
        }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    pub(super) fn state_home(&self) -> PathBuf {
        self.root.join("state")
    }

    fn state(&self) -> PathBuf {
        self.state_home().join("gatewright")
    }

    fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// The program that plays every agent.
    pub(super) fn worker(&self) -> PathBuf {
        self.root.join("worker")
    }

    /// What the orchestrators say.
    pub(super) fn log(&self) -> PathBuf {
        self.root.join("orchestrator.log")
    }

    /// The script that the run writes into its worktree, as it is now.
    pub(super) fn script(&self) -> Option<String> {
        let place = run_branch::place_in(&self.state(), RUN);
        fs::read_to_string(place.join("project").join(SCRIPT)).ok()
    }

    /// The variables of every process of the demo: nothing of the person's own settings.
    pub(super) fn variables(&self, search_path: Option<&OsStr>) -> BTreeMap<OsString, OsString> {
        let path = search_path.unwrap_or(OsStr::new(USUAL_PATH));
        BTreeMap::from([
            ("PATH".into(), path.to_owned()),
            ("HOME".into(), self.home().into()),
            ("XDG_STATE_HOME".into(), self.state_home().into()),
            ("LANG".into(), "C.UTF-8".into()),
            ("GIT_CONFIG_NOSYSTEM".into(), "1".into()),
        ])
    }

    /// The context of a process that acts in this demo. It counts as unattended: the demo answers.
    pub(super) fn context(&self, environment: Environment) -> Context {
        Context::isolated(environment, self.project(), self.state())
    }

    fn write_worker(&self, pause: Duration) -> Result<(), Failure> {
        let program = current_exe::program().map_err(|cause| {
            Failure::environment(format!("cannot find gatewright itself ({cause})")).hint("retry")
        })?;
        let program = program.to_string_lossy().replace('\'', r"'\''");
        let text = format!(
            r#"#!/bin/sh
# Plays every agent of the demo. The prompt is on stdin.
exec '{program}' demo-worker --pause {} "$GATEWRIGHT_STAGE" "$GATEWRIGHT_AGENT" "${{GATEWRIGHT_MODEL:-codex}}"
"#,
            pause.as_millis()
        );
        let path = self.worker();
        write(&path, &text)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700))
            .map_err(Failure::file("write", &path))?;
        self.try_worker(&path)
    }

    /// Some systems run no program in folders for temporary files.
    fn try_worker(&self, path: &Path) -> Result<(), Failure> {
        let tried = Command::new(path)
            .arg("--help")
            .env_clear()
            .stdin(Stdio::null())
            .output();
        tried.map(drop).map_err(|cause| {
            let root = self.root.display();
            Failure::environment(format!("cannot start a program in {root} ({cause})"))
                .hint("set TMPDIR to a folder where programs may run")
        })
    }

    /// A repository with one commit, which needs no settings of the person.
    fn make_repository(&self, search_path: Option<&OsStr>) -> Result<(), Failure> {
        self.git(search_path, &["init", "--quiet", "--template="])?;
        self.git(search_path, &["add", "--all"])?;
        let identity = ["-c", "user.name=demo", "-c", "user.email=demo@localhost"];
        let commit = ["commit", "--quiet", "--message", "Before the run"];
        self.git(search_path, &[&identity[..], &commit[..]].concat())
    }

    fn git(&self, search_path: Option<&OsStr>, words: &[&str]) -> Result<(), Failure> {
        let variables = self.variables(search_path);
        let ran = Command::new(find_git(search_path).ok_or_else(no_git)?)
            .args(words)
            .current_dir(self.project())
            .env_clear()
            .envs(variables)
            .stdin(Stdio::null())
            .output();
        match ran {
            Ok(ran) if ran.status.success() => Ok(()),
            Ok(ran) => {
                let told = String::from_utf8_lossy(&ran.stderr);
                let message = format!("git {} failed: {}", words[0], views::line(told.trim()));
                Err(Failure::environment(message).hint("free disk space, or set TMPDIR"))
            }
            Err(cause) => {
                Err(Failure::environment(format!("cannot start git ({cause})")).hint("retry"))
            }
        }
    }
}

fn no_git() -> Failure {
    Failure::environment("the demo needs git, and no folder of PATH has it")
        .hint("install git, for example with `apt install git` or `brew install git`")
}

/// `git` in the folders of this PATH.
fn find_git(search_path: Option<&OsStr>) -> Option<PathBuf> {
    let mut folders = std::env::split_paths(search_path.unwrap_or(OsStr::new(USUAL_PATH)));
    folders.find_map(|folder| {
        let path = folder.join("git");
        current_exe::is_executable(&path).then_some(path)
    })
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(Failure::file("write", path))
}
