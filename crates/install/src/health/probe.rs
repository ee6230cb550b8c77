//! The live probe: sends a payload to the configured command, exactly as the host would.

use std::process::Command;
use std::time::{Duration, Instant};

use hosts::DEFAULT_SESSION_HOST;
use hosts::hook::DEADLINE_SECONDS;
use hosts::settings::HookCommand;
use runtime::ids;
use runtime::subprocess::{self, FinishedProcess};
use serde_json::json;

use super::hooks::found;
use super::{CheckTopic, DoctorContext, Finding};

const EVENT: &str = "PreToolUse";

/// A slower hook delays every tool call noticeably.
const SLOW: Duration = Duration::from_millis(500);

/// Every command line that stands at the gate of the tools answers, and says nothing to a session
/// that is none of our business.
pub(super) fn probe(doctor: &DoctorContext<'_>) -> Vec<Finding> {
    let gates = found(doctor).into_iter();
    let mut lines: Vec<HookCommand> = gates
        .filter(|(_, hook)| hook.event == EVENT)
        .map(|(_, hook)| hook.command)
        .collect();
    lines.dedup();
    lines.iter().map(|line| of_line(doctor, line)).collect()
}

fn of_line(doctor: &DoctorContext<'_>, line: &HookCommand) -> Finding {
    let begun = Instant::now();
    let payloads = [payload(doctor), b"{ \"hook_event_name\": ".to_vec()];
    let words = ["a payload of an unknown session", "a broken payload"];
    for (payload, what) in payloads.iter().zip(words) {
        let patience = Duration::from_secs(DEADLINE_SECONDS + 2);
        let said = subprocess::run(&mut command(doctor, line), payload, patience);
        let wrong = match said {
            Err(trouble) => Some(trouble.to_string()),
            Ok(ended) => fault(ended),
        };
        if let Some(wrong) = wrong {
            let says = format!("{} gives a wrong answer to {what}: {wrong}", shown(line));
            return CheckTopic::Probe.red(says, "`gatewright init` fixes the command line");
        }
    }
    let took = begun.elapsed() / 2;
    let says = format!("{} answers in {} ms", shown(line), took.as_millis());
    if took > SLOW {
        CheckTopic::Probe.warning(says, "each tool call waits that long")
    } else {
        CheckTopic::Probe.fine(says)
    }
}

/// The command as the host starts it: in the project, with its variables.
fn command(doctor: &DoctorContext<'_>, line: &HookCommand) -> Command {
    let mut command = match line {
        HookCommand::Exec { program, arguments } => {
            let mut command = Command::new(program);
            command.args(arguments);
            command
        }
        HookCommand::Shell(line) => {
            let mut command = Command::new("sh");
            command.args(["-c", line]);
            command
        }
    };
    let root = &doctor.project.root;
    let variables = &DEFAULT_SESSION_HOST.variables;
    command.current_dir(root).env(variables.project, root);
    // The hook must not take the session around this command for the one in the payload.
    command.env_remove(variables.session);
    command
}

/// A call that begins nothing, in a session that nobody has.
fn payload(doctor: &DoctorContext<'_>) -> Vec<u8> {
    let session = ids::key().map_or_else(|_| "doctor".to_owned(), |key| format!("doctor-{key}"));
    let root = doctor.project.root.display().to_string();
    let payload = json!({
        "session_id": session,
        "transcript_path": "/dev/null",
        "cwd": root,
        "hook_event_name": EVENT,
        "tool_name": "Read",
        "tool_input": { "file_path": "/dev/null" },
        "tool_use_id": "toolu_doctor",
    });
    payload.to_string().into_bytes()
}

fn fault(ended: FinishedProcess) -> Option<String> {
    match ended.success() {
        Ok(said) if said.is_empty() => None,
        Ok(_) => Some("it printed something".to_owned()),
        Err(why) => Some(why),
    }
}

fn shown(line: &HookCommand) -> String {
    match line {
        HookCommand::Exec { program, arguments } => format!("`{program} {}`", arguments.join(" ")),
        HookCommand::Shell(line) => format!("`{line}`"),
    }
}
