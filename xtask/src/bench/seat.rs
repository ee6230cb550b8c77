//! A session of a host that is played: its hooks are run as the host runs them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

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
pub(super) struct Seat {
    stand: Stand,
    /// The run that the session holds.
    pub run: String,
}

impl Seat {
    /// A project without a pipeline, on a machine on which others have one.
    pub(super) fn elsewhere(program: &Path) -> Result<Self, Failure> {
        let stand = Stand::new(program, &[])?;
        let folder = stand.state_home().join("gatewright/sessions");
        std::fs::create_dir_all(&folder).map_err(Failure::file("make", &folder))?;
        Ok(Self {
            stand,
            run: String::new(),
        })
    }

    /// A session in the open stage of the always-on pipeline, with so many entries behind it.
    pub(super) fn executing(program: &Path, entries: usize) -> Result<Self, Failure> {
        let seat = Self::in_open_stage(program)?;
        history::grow(&seat.stand, &seat.run, entries)?;
        Ok(seat)
    }

    /// The same with the few entries that lead there.
    pub(super) fn in_open_stage(program: &Path) -> Result<Self, Failure> {
        let stand = Stand::new(program, &[])?;
        stand.run(&["init", "context-first", "--yes"])?;
        let mut seat = Self {
            stand,
            run: String::new(),
        };
        seat.send(&Payload::session_started())?;
        seat.run = seat.listed("run")?;
        for (number, agent) in WAY.into_iter().enumerate() {
            let worker = Worker { agent, number };
            seat.send(&Payload::agent_requested(&worker))?;
            seat.send(&Payload::agent_began(&worker))?;
            seat.send(&Payload::agent_stopping(&worker))?;
        }
        match seat.listed("stage")?.as_str() {
            "EXECUTING" => Ok(seat),
            stage => Err(Failure::no(format!("the run came only as far as {stage}"))),
        }
    }

    /// A session in which a worker works in a stage with `writes`, in a project with so many files.
    pub(super) fn restricted(
        program: &Path,
        worker: &Worker,
        files: usize,
    ) -> Result<Self, Failure> {
        let stand = Stand::new(program, &[])?;
        fill(&stand.project(), files)?;
        stand.git(&["add", "--all"])?;
        stand.git(&[
            "-c",
            "user.name=bench",
            "-c",
            "user.email=bench@localhost",
            "commit",
            "--quiet",
            "-m",
            "all",
        ])?;
        stand.run(&["init", "multi-ai", "--yes"])?;
        let mut seat = Self {
            stand,
            run: String::new(),
        };
        seat.send(&Payload::session_started())?;
        seat.send(&Payload::command_typed("multi-ai", "write it"))?;
        seat.run = seat.listed("run")?;
        seat.set_to_work(worker)?;
        Ok(seat)
    }

    /// Lets the machine of this session join a fleet.
    pub(super) fn join(&self, address: &str) -> Result<(), Failure> {
        self.stand.run(&["fleet", "join", address]).map(drop)
    }

    /// Git in the project of this seat.
    pub(super) fn git(&self, arguments: &[&str]) -> Command {
        self.stand.git_command(arguments)
    }

    /// The program's own folder.
    pub(super) fn state(&self) -> PathBuf {
        self.stand.state_home().join("gatewright")
    }

    pub(super) fn folder(&self) -> String {
        self.stand.project().to_string_lossy().into_owned()
    }

    /// The hook, started by another program if one is named.
    pub(super) fn process(&self, starter: &[&str], payload: &Payload) -> Process {
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
    pub(super) fn send(&self, payload: &Payload) -> Result<Output, Failure> {
        let output = self.process(&[], payload).output();
        let output = output.map_err(Failure::program("the hook"))?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let muttered = String::from_utf8_lossy(&output.stderr).into_owned();
        let refused =
            said.contains("deny") || said.contains("block") || said.contains("not judged");
        if output.status.success() && muttered.is_empty() && !refused {
            Ok(output)
        } else {
            Err(Failure::no(format!(
                "the hook of {} answered {}: {said}{muttered}",
                payload.event, output.status
            )))
        }
    }

    /// An agent is asked for, begins, and is seen to work: only its end is left.
    pub(super) fn set_to_work(&self, worker: &Worker) -> Result<(), Failure> {
        self.send(&Payload::agent_requested(worker))?;
        self.send(&Payload::agent_began(worker))?;
        self.send(&Payload::tool_requested(worker))?;
        Ok(())
    }

    /// How many entries the run has.
    pub(super) fn version(&self) -> Result<u64, Failure> {
        let version = self.entries(&["--last", "1"])?[0]["entry"].as_u64();
        version.ok_or_else(|| Failure::no("`history --last 1 --json` shows no entry"))
    }

    /// The pieces of work that have ended well, of the last so many entries, each as often as it has.
    pub(super) fn ended(&self, last: usize) -> Result<Vec<String>, Failure> {
        let entries = self.entries(&["--last", &last.to_string()])?;
        let entries = entries.as_array().into_iter().flatten();
        let ended = entries
            .map(|entry| &entry["fact"])
            .filter(|fact| fact["kind"] == "ended" && fact["result"]["kind"] == "outcome");
        Ok(ended.map(|fact| fact["dispatch"].to_string()).collect())
    }

    fn entries(&self, options: &[&str]) -> Result<Value, Failure> {
        let words = [&["history", &self.run], options].concat();
        let mut told = self.stand.ask(&words)?;
        Ok(told["entries"].take())
    }

    /// What the list of runs says about the only run.
    fn listed(&self, member: &str) -> Result<String, Failure> {
        let listed = self.stand.ask(&["list"])?;
        let told = listed["runs"][0][member].as_str();
        let missing = || Failure::no(format!("`list --json` shows no {member}"));
        told.map(str::to_owned).ok_or_else(missing)
    }
}

/// Small files of source text, a hundred in each folder.
pub(super) fn fill(project: &Path, files: usize) -> Result<(), Failure> {
    for number in 0..files {
        let folder = project.join(format!("part-{}/module-{}", number / 5_000, number / 100));
        if number % 100 == 0 {
            fs::create_dir_all(&folder).map_err(Failure::file("make", &folder))?;
        }
        let path = folder.join(format!("file-{number}.rs"));
        let text = format!("fn number_{number}() {{}}\n");
        fs::write(&path, text).map_err(Failure::file("write", &path))?;
    }
    Ok(())
}
