//! Notices: tell an absent person that a run waits, failed or completed.
//!
//! A notice that cannot be sent is reported, and never fails the run.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use engine::{DeliveryState, Status};
use evidence::check::{self, CheckEnvironment, SearchPath};
use runtime::failure::Failure;
use runtime::notify_target::NotifyTarget;
use runtime::subprocess;
use runtime::worker_environment;
use runtime::workspace::{OpenRun, Workspace};
use serde_json::{Value, json};

use crate::agent::spawn_spec::NETWORK;

const SEND_TIMEOUT: Duration = Duration::from_secs(10);

/// Is this worth a notice?
pub fn is_worth_a_notice(status: &Status) -> bool {
    match status {
        Status::Waiting(_) | Status::Failed | Status::Completed => true,
        Status::Queued | Status::Running | Status::Cancelled => false,
    }
}

/// Sends the run's status. The error is a line for people.
pub fn send(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    status: &Status,
    target: &NotifyTarget,
) -> Result<(), String> {
    let sent = prepared(workspace, opened, status).map_err(|failure| failure.to_string());
    sent.and_then(|sender| sender.send(target))
        .map_err(|why| format!("the notice to {} was not sent: {why}", target.shown()))
}

fn prepared(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    status: &Status,
) -> Result<NoticeSender, Failure> {
    let folder = workspace.project_of(opened)?.root;
    let now: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    let given = worker_environment::of_run(&workspace.state, opened.run(), &now)?;
    let search = check::search(&given.folders, &folder);
    let surroundings = CheckEnvironment {
        variables: now.clone(),
        ..CheckEnvironment::default()
    };
    let mut variables = check::variables(&surroundings, &search)?;
    let network = NETWORK.iter().filter_map(|name| {
        let value = now.get(OsString::from(name).as_os_str())?;
        Some((OsString::from(name), value.clone()))
    });
    variables.extend(network);
    for (name, value) in [
        ("GATEWRIGHT_RUN", opened.run().id.as_str()),
        ("GATEWRIGHT_STATUS", status.word()),
    ] {
        variables.insert(name.into(), value.into());
    }
    Ok(NoticeSender {
        body: body(opened, status, workspace.context.environment.secrets()).to_string(),
        variables,
        search,
        folder,
    })
}

/// The JSON body of the notice.
fn body(opened: &OpenRun, status: &Status, secrets: &[String]) -> Value {
    let run = opened.run();
    let clean = |text: &str| engine::redact(text, secrets).into_owned();
    let reason = reason(opened, status).map(|why| clean(&why));
    json!({
        "run": run.id.as_str(),
        "pipeline": opened.pipeline.definition().name.as_str(),
        "task": clean(run.task.lines().next().unwrap_or_default()),
        "status": status.word(),
        "stage": run.position.stage.as_str(),
        "reason": reason,
        "project": opened.stored.home,
    })
}

/// Why somebody must look at the run: what it waits for, why it failed as the summary of a worker says it, or why its
/// work is not delivered.
pub(crate) fn reason(opened: &OpenRun, status: &Status) -> Option<String> {
    match status {
        Status::Waiting(why) => Some(why.clone()),
        Status::Completed => {
            let place = opened.run().place.as_ref()?;
            let DeliveryState::Failed { reason } = &place.delivery else {
                return None;
            };
            let run = &opened.run().id;
            Some(format!(
                "its work is not delivered: {reason}; `gatewright deliver {run}` repeats it"
            ))
        }
        Status::Failed | Status::Cancelled => {
            let why = views::night::reason(&opened.pipeline, opened.run());
            why.map(|why| why.raw().to_owned())
        }
        Status::Queued | Status::Running => None,
    }
}

struct NoticeSender {
    body: String,
    variables: BTreeMap<OsString, OsString>,
    search: SearchPath,
    folder: PathBuf,
}

impl NoticeSender {
    fn send(&self, target: &NotifyTarget) -> Result<(), String> {
        match target {
            NotifyTarget::Address(address) => self.post(address),
            NotifyTarget::Command(words) => {
                let (word, arguments) = words.split_first().ok_or("the command is empty")?;
                self.run(&self.program(word)?, arguments)
            }
        }
    }

    /// A person typed the command, so a path in it is allowed.
    fn program(&self, word: &str) -> Result<PathBuf, String> {
        if word.contains('/') {
            Ok(self.folder.join(word))
        } else {
            check::find(word, &self.search)
        }
    }

    /// The address is passed in a private file: everybody on the machine can read a command line.
    fn post(&self, address: &str) -> Result<(), String> {
        let curl = check::find("curl", &self.search)?;
        let cannot = |cause: std::io::Error| format!("cannot write a temporary file ({cause})");
        let mut settings = tempfile::NamedTempFile::new().map_err(cannot)?;
        writeln!(settings, "url = \"{address}\"").map_err(cannot)?;
        let fixed = [
            "--disable",
            "--silent",
            "--show-error",
            "--fail",
            "--max-time",
            "10",
            "--proto",
            "=http,https",
            "--header",
            "Content-Type: application/json",
            "--data-binary",
            "@-",
            "--output",
            "/dev/null",
            "--config",
        ];
        let mut arguments: Vec<String> = fixed.map(str::to_owned).into();
        arguments.push(settings.path().display().to_string());
        self.run(&curl, &arguments)
    }

    fn run(&self, program: &Path, arguments: &[String]) -> Result<(), String> {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.folder);
        command.env_clear().envs(&self.variables);
        let ended = subprocess::run(&mut command, self.body.as_bytes(), SEND_TIMEOUT);
        let ended = ended.map_err(|trouble| trouble.to_string())?;
        ended.success().map(drop)
    }
}

#[cfg(test)]
mod tests;
