//! A session of a host that is played: its hooks are run as the host runs them.

use std::path::Path;
use std::process::{Command, Output};

use super::history;
use super::payload::{Payload, Worker};
use super::subject::Process;
use crate::battery::Stand;
use crate::failure::Failure;

const SESSION: &str = "94e177ca-6e8d-476c-9202-9845d99bc9b8";

/// What hosts give to their hooks, besides what depends on the session.
const ENVIRONMENT: [(&str, &str); 8] = [
    ("LANG", "C.UTF-8"),
    ("TERM", "dumb"),
    ("SHELL", "/bin/bash"),
    ("CLAUDECODE", "1"),
    ("CLAUDE_CODE_ENTRYPOINT", "cli"),
    ("CLAUDE_EFFORT", "medium"),
    ("CLAUDE_CODE_CHILD_SESSION", "1"),
    // A secret has to be kept out of the journal, and that costs time.
    ("CLAUDE_CODE_MESSAGING_TOKEN", "a-token-of-the-bench"),
];

/// Three agents lead to the stage in which others may work as often as they like.
const WAY: [&str; 3] = [
    "context-gatherer",
    "context-refiner",
    "strategic-orchestrator",
];

/// A project with a session in it.
pub struct Seat {
    stand: Stand,
    /// The run that the session holds.
    pub run: String,
}

impl Seat {
    /// A project without a pipeline, on a machine on which others have one.
    pub fn elsewhere(program: &Path) -> Result<Self, Failure> {
        let stand = Stand::new(program, &[])?;
        let folder = stand.state_home().join("gatewright/sessions");
        std::fs::create_dir_all(&folder).map_err(Failure::file("make", &folder))?;
        Ok(Self {
            stand,
            run: String::new(),
        })
    }

    /// A session in the open stage of the always-on pipeline, with so many entries behind it.
    pub fn executing(program: &Path, entries: usize) -> Result<Self, Failure> {
        let stand = Stand::new(program, &[])?;
        stand.run(&["init", "context-first", "--yes"])?;
        let mut seat = Self {
            stand,
            run: String::new(),
        };
        seat.send(&Payload::session_started())?;
        seat.run = seat.listed("id")?;
        for (number, agent) in WAY.into_iter().enumerate() {
            let worker = Worker { agent, number };
            seat.send(&Payload::agent_requested(&worker))?;
            seat.send(&Payload::agent_began(&worker))?;
            seat.send(&Payload::agent_stopping(&worker))?;
        }
        match seat.listed("stage")?.as_str() {
            "EXECUTING" => history::grow(&seat.stand, &seat.run, entries)?,
            stage => return Err(Failure::no(format!("the run came only as far as {stage}"))),
        }
        Ok(seat)
    }

    pub fn folder(&self) -> String {
        self.stand.project().to_string_lossy().into_owned()
    }

    /// The hook, started by another program if one is named.
    pub fn process(&self, starter: &[&str], payload: &Payload) -> Process {
        let command = self
            .stand
            .under(starter, &["hook", "claude", payload.event]);
        Process {
            command: self.as_host(command),
            input: payload.text(SESSION, &self.folder()).into_bytes(),
        }
    }

    fn as_host(&self, mut command: Command) -> Command {
        command
            .envs(ENVIRONMENT)
            .env("CLAUDE_CODE_SESSION_ID", SESSION)
            .env("CLAUDE_PID", std::process::id().to_string())
            .env("CLAUDE_PROJECT_DIR", self.folder());
        command
    }

    /// Runs a hook to its end; it must have been judged.
    pub fn send(&self, payload: &Payload) -> Result<Output, Failure> {
        let output = self.process(&[], payload).output();
        let output = output.map_err(Failure::program("the hook"))?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let muttered = String::from_utf8_lossy(&output.stderr).into_owned();
        let refused =
            said.contains("deny") || said.contains("block") || said.contains("not judged");
        match output.status.success() && muttered.is_empty() && !refused {
            true => Ok(output),
            false => Err(Failure::no(format!(
                "the hook of {} answered {}: {said}{muttered}",
                payload.event, output.status
            ))),
        }
    }

    /// An agent is asked for, begins, and is seen to work: only its end is left.
    pub fn set_to_work(&self, worker: &Worker) -> Result<(), Failure> {
        self.send(&Payload::agent_requested(worker))?;
        self.send(&Payload::agent_began(worker))?;
        self.send(&Payload::tool_used(worker))?;
        Ok(())
    }

    /// How many entries the run has.
    pub fn version(&self) -> Result<u64, Failure> {
        let version = self.listed("version")?.parse();
        version.map_err(|_| Failure::no("`list --json` tells no version"))
    }

    /// The pieces of work that have ended, each as often as it has.
    pub fn ended(&self) -> Result<Vec<String>, Failure> {
        let told = self.stand.ask(&["history", &self.run])?;
        let entries = told["entries"].as_array();
        let facts = entries.into_iter().flatten().map(|entry| &entry["fact"]);
        let ended = facts.filter(|fact| fact["kind"] == "ended");
        Ok(ended.map(|fact| fact["dispatch"].to_string()).collect())
    }

    /// What the list of runs says about the only run.
    fn listed(&self, member: &str) -> Result<String, Failure> {
        let listed = self.stand.ask(&["list"])?;
        let value = &listed["runs"][0][member];
        match value.as_str() {
            Some(text) => Ok(text.to_owned()),
            None => Ok(value.to_string()),
        }
    }
}
