//! A session of a host that is played: its hooks are run as the host runs them.

use std::io::{ErrorKind, Write as _};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
pub(super) use testkit::pipelines::OPEN;
use testkit::{Project, Ran, wait_for};

pub(super) const SESSION: &str = "94e177ca-6e8d-476c-9202-9845d99bc9b8";

pub(super) struct Seat {
    pub project: Project,
}

impl Seat {
    /// A project in which the open pipeline is installed, and a session that holds a run of it.
    pub(super) fn enrolled() -> Self {
        Self::installed().begun()
    }

    /// The same in a pipeline of the test's own, whose first stage is `working`.
    pub(super) fn enrolled_in(name: &str, pipeline: &str) -> Self {
        Self::installed_as(name, pipeline).begun()
    }

    fn begun(self) -> Self {
        let begun = json!({"hook_event_name": "SessionStart", "source": "startup"});
        let told = self.hook("SessionStart", &begun).succeeds();
        assert!(told.stdout.contains("`working`"), "{told}");
        self
    }

    pub(super) fn installed() -> Self {
        Self::installed_as("open", OPEN)
    }

    /// The same with a pipeline of the test's own.
    pub(super) fn installed_as(name: &str, pipeline: &str) -> Self {
        let project = Project::with_git(env!("CARGO_BIN_EXE_gatewright"));
        Self::installed_in(project, name, pipeline)
    }

    /// The same in a project of the test's own, with a session that holds a run.
    pub(super) fn enrolled_with(project: Project) -> Self {
        Self::enrolled_in_project(project, "open", OPEN)
    }

    /// The same with a pipeline of the test's own, too.
    pub(super) fn enrolled_in_project(project: Project, name: &str, pipeline: &str) -> Self {
        Self::installed_in(project, name, pipeline).begun()
    }

    fn installed_in(project: Project, name: &str, pipeline: &str) -> Self {
        project.write(format!(".gatewright/{name}.toml"), pipeline);
        project.trust(name);
        project.run(["init", name, "--yes"]).succeeds();
        Self { project }
    }

    /// A project in which nothing is installed.
    pub(super) fn bare() -> Self {
        let project = Project::with_git(env!("CARGO_BIN_EXE_gatewright"));
        Self { project }
    }

    /// The hook, as the host starts it.
    pub(super) fn command(&self, event: &str) -> Command {
        let mut command = self.project.child(["hook", "claude", event]);
        command
            .env("CLAUDECODE", "1")
            .env("CLAUDE_CODE_SESSION_ID", SESSION)
            .env("CLAUDE_PID", std::process::id().to_string())
            .env("CLAUDE_PROJECT_DIR", self.project.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the hook with this payload, to which the session is added.
    pub(super) fn hook(&self, event: &str, payload: &Value) -> Ran {
        let mut payload = payload.clone();
        payload["session_id"] = json!(SESSION);
        payload["cwd"] = json!(self.project.path());
        self.raw(event, payload.to_string().as_bytes())
    }

    /// Runs the hook with these bytes on its input.
    pub(super) fn raw(&self, event: &str, input: &[u8]) -> Ran {
        fed(self.command(event), input)
    }

    /// Every entry of the only run.
    pub(super) fn journal(&self) -> Vec<Value> {
        let ran = self.project.run(["history", "--json"]).succeeds();
        let told: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        told["entries"].as_array().expect("a list").clone()
    }
}

/// Runs a hook to its end. It may refuse before it has read everything.
pub(super) fn fed(mut command: Command, input: &[u8]) -> Ran {
    // A program that a test has just written is busy while a process that another test starts holds it for writing.
    let mut child = wait_for("the program is free", || match command.spawn() {
        Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => None,
        started => Some(started.expect("the hook can be started")),
    });
    let mut pipe = child.stdin.take().expect("the input is a pipe");
    let bytes = input.to_vec();
    let feeder = std::thread::spawn(move || {
        let _ = pipe.write_all(&bytes);
    });
    let ran = Ran::from(child.wait_with_output().expect("the hook ends"));
    feeder.join().expect("the input was given");
    ran
}
