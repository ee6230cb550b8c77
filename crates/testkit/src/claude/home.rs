//! A home in which Claude Code asks nothing at its first start and calls nobody but the model.

use std::ffi::OsString;
use std::fs;

use serde_json::json;

use super::VERSION;
use crate::Project;

/// No real key looks like this. The host shows its end to the person, who has approved it below.
const KEY: &str = "sk-ant-scripted-model-needs-no-key";

/// What else is set: nothing is fetched or reported, and nothing goes beyond loopback.
const FIXED: [(&str, &str); 12] = [
    ("ANTHROPIC_API_KEY", KEY),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
    ("NO_PROXY", "127.0.0.1"),
    // Nobody listens there: what would leave this machine fails at once.
    ("HTTPS_PROXY", "http://127.0.0.1:9"),
    // A scripted failure is tried again once, not for minutes.
    ("CLAUDE_CODE_MAX_RETRIES", "1"),
    // Root may bypass permissions only where it says that it is in a sandbox.
    ("IS_SANDBOX", "1"),
    ("SHELL", "/bin/bash"),
    ("TERM", "dumb"),
];

/// Makes the folders, answers the first-run questions, and tells the variables to set.
pub(crate) fn prepare(project: &Project, url: &str) -> Vec<(OsString, OsString)> {
    let configuration = project.home().join(".claude");
    let temporary = project.home().join("tmp");
    for folder in [&configuration, &temporary] {
        fs::create_dir_all(folder).expect("a folder of the home can be made");
    }
    let answers = configuration.join(".claude.json");
    // The host writes to this file, too: what a first session has noted is kept for a second one.
    if !answers.exists() {
        fs::write(&answers, first_answers(project)).expect("the answers can be written");
    }
    let fixed = FIXED.map(|(name, value)| (name.into(), value.into()));
    let own: [(OsString, OsString); 3] = [
        ("CLAUDE_CONFIG_DIR".into(), configuration.into()),
        ("TMPDIR".into(), temporary.into()),
        ("ANTHROPIC_BASE_URL".into(), url.into()),
    ];
    fixed.into_iter().chain(own).collect()
}

/// The answers of a person who has seen all first-run questions. Trust in a folder covers everything
/// below it, so we trust the parent of the project: a worktree may be beside it. A repository needs its
/// own trust.
fn first_answers(project: &Project) -> String {
    let path = project.path().canonicalize().expect("the project is there");
    let around = path
        .parent()
        .expect("a project lies in a folder")
        .to_string_lossy()
        .into_owned();
    let trusted = json!({ "hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true });
    let answers = json!({
        "hasCompletedOnboarding": true,
        "lastOnboardingVersion": VERSION,
        "lastReleaseNotesSeen": VERSION,
        "hasSeenAutoDefaultNotice": true,
        "theme": "dark",
        // The host remembers a key by its last 20 characters.
        "customApiKeyResponses": { "approved": [&KEY[KEY.len() - 20..]], "rejected": [] },
        "projects": { around: trusted.clone(), path.to_string_lossy(): trusted },
    });
    answers.to_string()
}
