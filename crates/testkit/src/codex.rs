//! The real Codex, pinned, with a home of its own and a scripted model.
//!
//! ```no_run
//! use testkit::Project;
//! use testkit::codex::{self, CodexModel, run, say};
//!
//! let project = Project::new("gatewright");
//! let model = CodexModel::start([run("ls > list"), say("DONE")]);
//! codex::settle(&project, &model);
//! // ... something starts `codex exec` with the project's home and `codex::folder()` on its path ...
//! assert!(model.told().contains("list"));
//! ```

mod model;

use std::fs;
use std::path::PathBuf;

pub use model::{CodexModel, CodexTurn, fail, run, say};

use crate::Project;
use crate::claude::targets;

/// The version that the tests are written for. `cargo xtask test` reads the same file.
pub const VERSION: &str = include_str!("codex/version.txt").trim_ascii();

/// The folder with the program, which `cargo xtask test` has installed.
///
/// # Panics
/// When it is not there: a test is never left out in silence.
pub fn folder() -> PathBuf {
    let mut places = targets().into_iter().map(|target| {
        target
            .join("agents")
            .join(format!("codex-{VERSION}/vendor"))
    });
    let found = places.find_map(|vendor| {
        let platforms = fs::read_dir(vendor).ok()?.filter_map(Result::ok);
        let mut folders = platforms.map(|platform| platform.path().join("bin"));
        folders.find(|folder| folder.join("codex").is_file())
    });
    let found = found.unwrap_or_else(|| {
        panic!("Codex {VERSION} is missing: run `cargo xtask test`, which installs it")
    });
    found.canonicalize().expect("the folder is there")
}

/// Gives the project's home the settings with which Codex calls this model and nobody else.
pub fn settle(project: &Project, model: &CodexModel) {
    settle_for(project, &model.url());
}

/// The same with the model at this address.
pub(crate) fn settle_for(project: &Project, url: &str) {
    let folder = project.home().join(".codex");
    fs::create_dir_all(&folder).expect("a folder of the home can be made");
    let settings = format!(
        r#"model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
"#
    );
    fs::write(folder.join("config.toml"), settings).expect("the settings can be written");
}
