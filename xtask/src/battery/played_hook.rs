//! Hooks that are run as their host runs them.

use std::fs::{self, File};
use std::process::{Command, Output};

use serde_json::{Value, json};

use super::stand::Stand;
use crate::failure::Failure;

/// One call of a hook.
#[derive(Clone)]
pub(super) struct Hook {
    pub event: &'static str,
    /// What it reads, as text: its event, the session and the folder are added.
    pub payload: &'static str,
    /// The session that calls. On each stand it has a name of its own.
    pub session: &'static str,
    pub promise: Promise,
    /// Is it a worker of ours that calls? Its call is in this file of the stand.
    pub worker: Option<&'static str>,
}

/// What must hold whatever fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Promise {
    /// It is answered.
    Answer,
    /// What it allows is in the journal.
    Recorded,
    /// It is refused.
    Refused,
}

pub(super) const fn hook(event: &'static str, payload: &'static str) -> Hook {
    Hook {
        event,
        payload,
        session: "main",
        promise: Promise::Answer,
        worker: None,
    }
}

impl Hook {
    pub(super) const fn promises(self, promise: Promise) -> Self {
        Self { promise, ..self }
    }

    pub(super) const fn in_session(self, session: &'static str) -> Self {
        Self { session, ..self }
    }

    pub(super) const fn of_worker(self, call_file: &'static str) -> Self {
        Self {
            worker: Some(call_file),
            ..self
        }
    }

    /// Runs it, started by this program if there is one.
    pub(super) fn run(&self, stand: &Stand, starter: &[&str]) -> Result<Output, Failure> {
        let session = self.session_on(stand);
        let payload = self.filled(stand, &session)?.to_string();
        self.start(stand, starter, &session, &payload)
    }

    /// The same in a session of this name.
    pub(super) fn run_as(&self, stand: &Stand, session: &str) -> Result<Output, Failure> {
        let payload = self.filled(stand, session)?.to_string();
        self.start(stand, &[], session, &payload)
    }

    /// The same with this on its input.
    pub(super) fn run_with(&self, stand: &Stand, input: &str) -> Result<Output, Failure> {
        self.start(stand, &[], &self.session_on(stand), input)
    }

    fn filled(&self, stand: &Stand, session: &str) -> Result<Value, Failure> {
        let project = stand.project();
        let text = self
            .payload
            .replace("{project}", &project.to_string_lossy());
        let mut payload: Value = serde_json::from_str(&text)
            .map_err(|problem| Failure::no(format!("{text}: {problem}")))?;
        payload["hook_event_name"] = json!(self.event);
        payload["cwd"] = json!(project);
        payload["session_id"] = json!(session);
        Ok(payload)
    }

    /// The words with which `init` has installed it.
    fn words(&self, stand: &Stand) -> Vec<String> {
        let path = stand.project().join(".claude/settings.local.json");
        let settings: Value =
            serde_json::from_slice(&fs::read(path).unwrap_or_default()).unwrap_or_default();
        let installed = settings["hooks"][self.event][0]["hooks"][0]["args"].as_array();
        match installed {
            Some(words) => words
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            None => ["hook", "claude", self.event].map(str::to_owned).to_vec(),
        }
    }

    fn session_on(&self, stand: &Stand) -> String {
        format!("{}-{}", self.session, stand.name())
    }

    fn start(
        &self,
        stand: &Stand,
        starter: &[&str],
        session: &str,
        input: &str,
    ) -> Result<Output, Failure> {
        let path = stand.path("payload");
        fs::write(&path, input).map_err(Failure::file("write", &path))?;
        let input = File::open(&path).map_err(Failure::file("open", &path))?;
        let words = self.words(stand);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut command: Command = stand.under(starter, &words);
        command
            .env("CLAUDECODE", "1")
            .env("CLAUDE_CODE_SESSION_ID", session)
            .env("CLAUDE_PID", std::process::id().to_string())
            .env("CLAUDE_PROJECT_DIR", stand.project())
            .stdin(input);
        if let Some(file) = self.worker {
            let path = stand.path(file);
            let call = fs::read_to_string(&path).map_err(Failure::file("read", &path))?;
            command.env("GATEWRIGHT_CALL", call.trim());
        }
        stand.output(&mut command)
    }
}

/// Does this answer let the host go on with the call?
pub(super) fn allows(output: &Output) -> bool {
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let denied = answer["hookSpecificOutput"]["permissionDecision"] == "deny";
    let blocked = answer["decision"] == "block";
    output.status.code() == Some(0) && !denied && !blocked
}
