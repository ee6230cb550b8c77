//! Peers: hooks of the same behaviour in bash with jq and in Python, written for the comparison.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use tempfile::TempDir;

use super::hooks::ENDING;
use super::payload::{Payload, Worker};
use super::subject::{Act, Kind, Load, Process, Subject};
use crate::failure::Failure;
use crate::workspace::{is_installed, read, root, scratch};

/// The histories that peers have to carry along: they read and write the whole of it every time.
pub(super) const SHORT: usize = 10;
pub(super) const LONG: usize = 100_000;

/// What could be measured of the peers, and what not.
#[derive(Default)]
pub(super) struct Peers {
    pub subjects: Vec<Subject>,
    pub missing: Vec<Missing>,
    /// The interpreters, with their versions.
    pub versions: Vec<String>,
}

/// A process that was not measured.
#[derive(Clone, Debug)]
pub(super) struct Missing {
    pub kind: Kind,
    pub load: Load,
    pub why: String,
}

/// A language in which the two hooks were written.
struct Language {
    /// What it needs, each with the Debian package that has it.
    tools: &'static [(&'static str, &'static str)],
    check: Script,
    advance: Script,
}

#[derive(Clone, Copy)]
struct Script {
    kind: Kind,
    file: &'static str,
}

const LANGUAGES: [Language; 2] = [
    Language {
        tools: &[("bash", "bash"), ("jq", "jq")],
        check: Script {
            kind: Kind::ShellCheck,
            file: "check-subagent-allowed.sh",
        },
        advance: Script {
            kind: Kind::ShellAdvance,
            file: "update-pipeline-state.sh",
        },
    },
    Language {
        tools: &[("python3", "python3")],
        check: Script {
            kind: Kind::PythonCheck,
            file: "check_subagent_allowed.py",
        },
        advance: Script {
            kind: Kind::PythonAdvance,
            file: "update_pipeline_state.py",
        },
    },
];

pub(super) fn all() -> Result<Peers, Failure> {
    let mut peers = Peers::default();
    for language in &LANGUAGES {
        match lacking(language, is_installed) {
            Some(why) => peers.missing.extend(language.missing(&why)),
            None => {
                let interpreter = interpreter(language)?;
                peers.versions.extend(versions(language)?);
                peers.subjects.extend(language.subjects(&interpreter)?);
            }
        }
    }
    Ok(peers)
}

/// What is not there, with the command that installs it.
fn lacking(language: &Language, is_installed: impl Fn(&str) -> bool) -> Option<String> {
    let lacking = language
        .tools
        .iter()
        .filter(|(tool, _)| !is_installed(tool));
    let packages: Vec<&str> = lacking.map(|(_, package)| *package).collect();
    let list = packages.join(" ");
    (!packages.is_empty()).then(|| format!("install it with `apt-get install -y {list}`"))
}

/// The interpreter itself: what stands first on the search path may be a script that looks for it.
fn interpreter(language: &Language) -> Result<PathBuf, Failure> {
    let program = language.tools[0].0;
    let mut asked = Command::new(program);
    asked.arg("-c").arg(match program {
        "bash" => "echo \"$BASH\"",
        _ => "import os, sys; print(os.path.realpath(sys.executable))",
    });
    Ok(PathBuf::from(read(&mut asked)?.trim()))
}

fn versions(language: &Language) -> Result<Vec<String>, Failure> {
    let tools = language.tools.iter();
    let version = |(tool, _): &(&str, &str)| {
        let told = read(Command::new(tool).arg("--version"))?;
        Ok(told.lines().next().unwrap_or_default().trim().to_owned())
    };
    tools.map(version).collect()
}

impl Language {
    fn missing(&self, why: &str) -> Vec<Missing> {
        let missing = |(script, entries): (Script, usize)| Missing {
            kind: script.kind,
            load: Load::Entries(entries),
            why: why.to_owned(),
        };
        self.loads().into_iter().map(missing).collect()
    }

    fn loads(&self) -> [(Script, usize); 4] {
        [
            (self.check, SHORT),
            (self.advance, SHORT),
            (self.check, LONG),
            (self.advance, LONG),
        ]
    }

    fn subjects(&self, interpreter: &Path) -> Result<Vec<Subject>, Failure> {
        let subject = |(script, entries): (Script, usize)| {
            let peer = Peer {
                interpreter: interpreter.to_path_buf(),
                script: root().join("xtask/bench/peers").join(script.file),
                state: state(entries)?,
                payload: payload(script.kind),
            };
            let subject = Subject::new(script.kind, Load::Entries(entries), peer);
            Ok(match entries {
                LONG => subject.seldom(),
                _ => subject,
            })
        };
        self.loads().into_iter().map(subject).collect()
    }
}

/// A hook of a peer, with a state folder of its own.
struct Peer {
    interpreter: PathBuf,
    script: PathBuf,
    state: TempDir,
    payload: Payload,
}

impl Act for Peer {
    fn process(&self, starter: &[&str], _: usize) -> Process {
        let mut command = match starter.split_first() {
            None => Command::new(&self.interpreter),
            Some((starter, options)) => {
                let mut command = Command::new(starter);
                command.args(options).arg(&self.interpreter);
                command
            }
        };
        command.arg(&self.script).env_clear();
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command.env("PIPELINE_STATE_DIR", self.state.path());
        Process {
            command,
            input: self.payload.text("a-session", "/home/dev/project").into(),
        }
    }
}

/// The same events that our own hooks get.
fn payload(kind: Kind) -> Payload {
    let worker = Worker {
        agent: ENDING,
        number: 7,
    };
    match kind {
        Kind::ShellCheck | Kind::PythonCheck => Payload::agent_requested(&worker),
        _ => Payload::agent_stopping(&worker),
    }
}

/// A state folder whose file has so many entries of history.
fn state(entries: usize) -> Result<TempDir, Failure> {
    let folder = scratch("peer")?;
    let entry = json!({
        "agent": ENDING,
        "timestamp": "2026-11-16T03:00:55Z",
        "state_before": "EXECUTING",
        "state_after": "EXECUTING",
    });
    let state = json!({
        "version": "1.0",
        "state": "EXECUTING",
        "timestamp": "2026-11-16T03:00:55Z",
        "session_id": "",
        "context": { "gathered": "what is known", "refined": "what matters", "orchestration": "what to do" },
        "history": vec![entry; entries],
    });
    let path = folder.path().join("pipeline-state.json");
    fs::write(&path, state.to_string()).map_err(Failure::file("write", &path))?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told_with_the_command_that_installs_it() {
        let [shell, python] = &LANGUAGES;
        assert_eq!(lacking(shell, |_| true), None);
        for (language, there, packages) in [
            (shell, "bash", "jq"),
            (shell, "nothing", "bash jq"),
            (python, "jq", "python3"),
        ] {
            let why = lacking(language, |tool| tool == there).unwrap();
            assert_eq!(
                why,
                format!("install it with `apt-get install -y {packages}`")
            );
            let rows = language.missing(&why);
            assert_eq!(rows.len(), 4);
        }
    }

    /// A peer that does not do its work would be fast.
    #[test]
    fn peers_approve_and_grow_their_history() {
        let peers = all().unwrap();
        for subject in peers
            .subjects
            .iter()
            .filter(|subject| subject.load == Load::Entries(SHORT))
        {
            let mut process = subject.ready(&[], 0).unwrap();
            let output = process.output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(
                output.status.success(),
                "{}: {output:?}",
                subject.kind.name()
            );
            match subject.kind {
                Kind::ShellCheck | Kind::PythonCheck => {
                    assert_eq!(said, "{\"decision\":\"approve\"}\n")
                }
                _ => assert_eq!(history(&process), SHORT + 1, "{}", subject.kind.name()),
            }
        }
    }

    fn history(process: &Process) -> usize {
        let mut variables = process.command.get_envs();
        let folder = variables.find(|(name, _)| *name == "PIPELINE_STATE_DIR");
        let folder = PathBuf::from(folder.unwrap().1.unwrap());
        let text = fs::read(folder.join("pipeline-state.json")).unwrap();
        let state: serde_json::Value = serde_json::from_slice(&text).unwrap();
        state["history"].as_array().unwrap().len()
    }
}
