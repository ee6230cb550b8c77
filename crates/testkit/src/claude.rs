//! The real Claude Code, pinned, with a home of its own and a scripted model.
//!
//! ```no_run
//! use testkit::Project;
//! use testkit::claude::Claude;
//! use testkit::model::{Actor, Model, say};
//!
//! let project = Project::new("gatewright");
//! let model = Model::start([Actor::new("GO-MAIN", [say("DONE")])]);
//! let claude = Claude::new(&project, &model).allow(["Bash"]);
//!
//! // Headless, to its end.
//! let ran = claude.ask("GO-MAIN: do it").succeeds();
//! assert_eq!(ran.result(), "DONE");
//!
//! // At a terminal.
//! let session = claude.open();
//! session.say("GO-MAIN: do it");
//! session.wait_for("DONE");
//! ```

mod headless;
pub(crate) mod home;
mod program;
mod session;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

pub use headless::{Headless, Running};
pub(crate) use program::targets;
pub use program::{VERSION, program};
pub use session::Session;

use crate::model::Model;
use crate::{Project, Ran};

/// How Claude Code is to be started. It may be started often, also several at once.
#[derive(Clone)]
pub struct Claude {
    folder: PathBuf,
    environment: BTreeMap<OsString, OsString>,
    permission_mode: String,
    allowed: Vec<String>,
    arguments: Vec<OsString>,
}

impl Claude {
    /// Claude Code in this project, with the project's home, which answers the first-run questions
    /// and trusts the project. Edits are accepted; other tools must be [allowed](Self::allow).
    pub fn new(project: &Project, model: &Model) -> Self {
        let project_environment = project.command::<&str>([]);
        let set = project_environment.get_envs();
        let set = set.filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
        let mut environment: BTreeMap<_, _> = set.collect();
        environment.extend(home::prepare(project, &model.url()));
        Self {
            folder: project.path(),
            environment,
            permission_mode: "acceptEdits".to_owned(),
            allowed: Vec::new(),
            arguments: Vec::new(),
        }
    }

    /// Starts it in another folder than the project's root: a subfolder, a worktree.
    pub fn folder(mut self, folder: impl AsRef<Path>) -> Self {
        self.folder = folder.as_ref().to_owned();
        self
    }

    pub fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.environment.insert(name.into(), value.into());
        self
    }

    /// Lets these tools run without a question: `Bash`, `Bash(git *)`, `Agent`.
    pub fn allow<'a>(mut self, tools: impl IntoIterator<Item = &'a str>) -> Self {
        self.allowed.extend(tools.into_iter().map(str::to_owned));
        self
    }

    /// `acceptEdits` unless this says otherwise. `bypassPermissions` works as root, too.
    pub fn permission_mode(mut self, mode: &str) -> Self {
        mode.clone_into(&mut self.permission_mode);
        self
    }

    /// More arguments for the command line.
    pub fn arguments<A: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// A new session with this id, which is a UUID.
    pub fn session_id(self, id: &str) -> Self {
        self.arguments(["--session-id", id])
    }

    /// Goes on with a session.
    pub fn resume(self, id: &str) -> Self {
        self.arguments(["--resume", id])
    }

    /// Goes on with a copy of a session, under a new id.
    pub fn fork(self, id: &str) -> Self {
        self.arguments(["--resume", id, "--fork-session"])
    }

    /// Asks without a terminal (`-p`) and waits for the end.
    ///
    /// # Panics
    /// When there is none in time.
    #[track_caller]
    pub fn ask(&self, prompt: &str) -> Headless {
        self.begin(prompt).wait()
    }

    /// Asks without a terminal and goes on: the test does something while Claude Code works.
    pub fn begin(&self, prompt: &str) -> Running {
        let mut command =
            self.command(["-p", prompt, "--output-format", "stream-json", "--verbose"]);
        command.args(self.flags());
        Running::start(command)
    }

    /// Opens an interactive session in a terminal and waits until it takes a prompt.
    #[track_caller]
    pub fn open(&self) -> Session {
        let mut command = self.command::<&str>([]);
        if self.permission_mode == "bypassPermissions" {
            // A person would be asked here whether she means it.
            command.args([
                "--settings",
                r#"{"skipDangerousModePermissionPrompt":true}"#,
            ]);
        }
        command.args(self.flags());
        Session::open(&command)
    }

    /// Runs another command of the program to its end: `["plugin", "validate", "--strict", …]`.
    pub fn run<A: Into<OsString>>(&self, arguments: impl IntoIterator<Item = A>) -> Ran {
        let output = self.command(arguments).output();
        Ran::from(output.expect("the program can be started"))
    }

    fn flags(&self) -> Vec<OsString> {
        let mut flags = vec![
            OsString::from("--permission-mode"),
            (&self.permission_mode).into(),
        ];
        if !self.allowed.is_empty() {
            flags.extend(["--allowedTools".into(), self.allowed.join(",").into()]);
        }
        flags.extend(self.arguments.iter().cloned());
        flags
    }

    fn command<A: Into<OsString>>(&self, arguments: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new(program());
        command.args(arguments.into_iter().map(Into::into));
        command
            .current_dir(&self.folder)
            .env_clear()
            .envs(&self.environment);
        command.stdin(std::process::Stdio::null());
        command
    }
}
