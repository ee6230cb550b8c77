//! Hooks that are run as their host runs them.

use std::fs::{self, File};
use std::process::{Command, Output};

use serde_json::{Value, json};

use super::stand::Stand;
use crate::failure::Failure;

const SESSION: &str = "94e177ca-6e8d-476c-9202-9845d99bc9b8";

/// One call of a hook.
#[derive(Clone)]
pub(super) struct Hook {
    pub event: &'static str,
    /// What it reads, as text: its event, the session and the folder are added.
    pub payload: &'static str,
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
        promise: Promise::Answer,
        worker: None,
    }
}

impl Hook {
    pub(super) const fn promises(self, promise: Promise) -> Self {
        Self { promise, ..self }
    }

    pub(super) const fn of_worker(self, call_file: &'static str) -> Self {
        Self {
            worker: Some(call_file),
            ..self
        }
    }

    /// Runs it, started by this program if there is one.
    pub(super) fn run(&self, stand: &Stand, starter: &[&str]) -> Result<Output, Failure> {
        let project = stand.project();
        let text = self
            .payload
            .replace("{project}", &project.to_string_lossy());
        let mut payload: Value = serde_json::from_str(&text)
            .map_err(|problem| Failure::no(format!("{text}: {problem}")))?;
        payload["hook_event_name"] = json!(self.event);
        payload["cwd"] = json!(project);
        let session = payload["session_id"].as_str().unwrap_or(SESSION).to_owned();
        payload["session_id"] = json!(session);
        let path = stand.path("payload");
        fs::write(&path, payload.to_string()).map_err(Failure::file("write", &path))?;
        let input = File::open(&path).map_err(Failure::file("open", &path))?;
        let mut command: Command = stand.under(starter, &["hook", "claude", self.event]);
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
