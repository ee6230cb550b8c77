//! All real agent programs, pinned, on one search path, in one home, with one scripted model.
//!
//! ```no_run
//! use testkit::model::{Actor, Model, bash, say};
//! use testkit::{Agents, Project};
//!
//! let project = Project::with_git("gatewright");
//! let model = Model::start([Actor::new("GO-WRITER", [bash("touch made"), say("DONE")])]);
//! let agents = Agents::new(&project, &model);
//! let ran = agents.settle(project.command(["run", "..."])).output();
//! ```
//!
//! Each program speaks its own protocol to the same model, so one script has actors for all of them:
//! `bash` and `write` are the tools that each has for it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use tempfile::TempDir;

use crate::claude::{self, home, targets};
use crate::model::Model;
use crate::{Project, codex, gemini};

/// A search path with `claude`, `codex` and `gemini`, and what leads them to the model.
pub struct Agents {
    folder: TempDir,
    variables: BTreeMap<OsString, OsString>,
}

/// A line of shell with which a program of this name tells the version that the tests are written for.
pub fn tells_version(name: &str) -> String {
    let said = match name {
        "claude" => format!("{} (Claude Code)", claude::VERSION),
        "codex" => format!("codex-cli {}", codex::VERSION),
        "gemini" => gemini::VERSION.to_owned(),
        _ => return String::new(),
    };
    format!(r#"[ "$1" = --version ] && {{ echo '{said}'; exit; }}"#)
}

impl Agents {
    /// Settles the project's home for all of them, as for a person who has used each before.
    pub fn new(project: &Project, model: &Model) -> Self {
        let folder = programs();
        let links = [
            ("claude", claude::program()),
            ("codex", codex::folder().join("codex")),
            ("gemini", gemini::program()),
        ];
        for (name, program) in links {
            let program = program.canonicalize().expect("the program is there");
            symlink(program, folder.path().join(name)).expect("a link can be made");
        }
        let mut variables: BTreeMap<_, _> =
            home::prepare(project, &model.url()).into_iter().collect();
        codex::settle_for(project, &model.url());
        settle_gemini(project);
        let gemini = [
            ("GOOGLE_GEMINI_BASE_URL", model.url()),
            ("GEMINI_API_KEY", "scripted-model-needs-no-key".to_owned()),
            // Else it starts itself a second time, to give itself more memory.
            ("GEMINI_CLI_NO_RELAUNCH", "1".to_owned()),
        ];
        variables.extend(gemini.map(|(name, value)| (name.into(), value.into())));
        Self { folder, variables }
    }

    /// The folder with the programs.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The search path: the programs, and then what the system has.
    pub fn path(&self) -> OsString {
        let system = std::env::var_os("PATH").unwrap_or_default();
        let system: Vec<PathBuf> = std::env::split_paths(&system).collect();
        let all = [self.folder().to_owned()].into_iter().chain(system);
        std::env::join_paths(all).expect("a search path can be joined")
    }

    /// The variables that lead them to the model, and nowhere else.
    pub fn variables(&self) -> &BTreeMap<OsString, OsString> {
        &self.variables
    }

    /// The command with all of this.
    pub fn settle(&self, mut command: Command) -> Command {
        command.envs(&self.variables).env("PATH", self.path());
        command
    }
}

/// A folder in which programs may be looked for: it lies below nothing that anybody may write to.
fn programs() -> TempDir {
    let [target, _] = targets();
    let folder = target.join("tmp");
    fs::create_dir_all(&folder).expect("a folder can be made in the target folder");
    TempDir::new_in(folder).expect("a temporary folder can be made")
}

/// A named model keeps it from asking one which to take; one attempt, from trying for minutes.
fn settle_gemini(project: &Project) {
    let settings = json!({
        "security": { "auth": { "selectedType": "gemini-api-key" } },
        "model": { "name": "gemini-2.5-pro" },
        "general": { "maxAttempts": 1, "enableAutoUpdate": false },
        "privacy": { "usageStatisticsEnabled": false },
    });
    let folder = project.home().join(".gemini");
    fs::create_dir_all(&folder).expect("a folder of the home can be made");
    fs::write(folder.join("settings.json"), settings.to_string())
        .expect("the settings can be written");
}
