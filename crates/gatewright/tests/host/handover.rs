//! Every built-in pipeline with the permissions that a person has: workers write with the host's own
//! tools, nobody is asked what need not be asked, and everyone reads what their work needs.

mod ansible;
mod context_first;
mod multi_ai;
mod multi_ai_small;
mod phases;
mod transcript;

use std::path::Path;

use serde_json::Value;
use testkit::claude::{Claude, Headless};

use crate::stage::{Stage, program};

/// The host as a person starts it: edits are accepted, and every other tool is asked about. Our program
/// is on its search path.
fn claude(stage: &Stage) -> Claude {
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", program_folder());
    Claude::new(&stage.project, &stage.model).env("PATH", path)
}

/// The same, with one more folder on its search path.
fn claude_on(stage: &Stage, folder: &Path) -> Claude {
    Claude::new(&stage.project, &stage.model).env("PATH", search_path(folder))
}

/// A person who has the programs of this folder gives the project their environment.
fn gives_environment(stage: &Stage, folder: &Path) {
    let path = search_path(folder);
    let line = format!("PATH='{path}' '{}' trust --environment", program());
    stage.project.person_at(&line, "yes\n").succeeds();
}

fn search_path(folder: &Path) -> String {
    let path = std::env::var("PATH").unwrap_or_default();
    format!("{}:{}:{path}", program_folder(), folder.display())
}

/// The tool calls that a person would have been asked about. Nobody was there, so the host said no.
fn denied(session: &Headless) -> Vec<String> {
    let results = session.of_type("result");
    let denials = results.last().map(|result| &result["permission_denials"]);
    let denials = denials.and_then(Value::as_array).cloned();
    let denials = denials.unwrap_or_default().into_iter();
    denials.map(|denial| denial.to_string()).collect()
}

fn program_folder() -> String {
    let folder = Path::new(program()).parent();
    folder
        .expect("a program lies in a folder")
        .display()
        .to_string()
}
