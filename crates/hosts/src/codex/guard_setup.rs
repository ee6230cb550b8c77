//! Our hooks in one process of Codex. The command line has the hooks and the trust in them.
//!
//! Codex skips an untrusted hook without a message. Trust is the hash of the hook, stored under the
//! location of the hook, so it covers our hooks alone and not those of a project.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use super::wire::{self, Trusted, TrustedHook};
use crate::agent_process::{GuardError, GuardInputs, GuardSetup, PersonalSettingsLocation};
use crate::shell::shell_word;

/// Where Codex records that a person trusts a folder.
pub(super) const PERSONAL_SETTINGS: PersonalSettingsLocation = PersonalSettingsLocation {
    variable: "CODEX_HOME",
    below_variable: "",
    below_home: ".codex",
    file: "config.toml",
};

/// The name that Codex uses for the location of settings on its command line.
const PLACE: &str = "/<session-flags>/config.toml";

/// The events, the name of each in the trust record, and the timeout in seconds. Codex allows the last
/// one at most three seconds.
const EVENTS: [(&str, &str, u64); 5] = [
    ("SessionStart", "session_start", 10),
    ("PreToolUse", "pre_tool_use", 10),
    ("PostToolUse", "post_tool_use", 10),
    ("Stop", "stop", 10),
    ("SessionEnd", "session_end", 3),
];

/// Hooks do not see what an agent types into a running command, so we disable interactive commands.
const SWITCHES: [&str; 4] = ["--enable", "hooks", "--disable", "unified_exec_tty"];

pub(super) fn guard_setup(inputs: &GuardInputs<'_>) -> Result<GuardSetup, GuardError> {
    let mut arguments = Vec::new();
    let mut trust = Vec::new();
    for (event, word, seconds) in EVENTS {
        let command = format!("{} hook codex {event}", shell_word(inputs.program));
        let text = wire::toml_text(&command);
        arguments.push("-c".to_owned());
        arguments.push(format!(
            r#"hooks.{event}=[{{hooks=[{{type="command",command={text},timeout={seconds}}}]}}]"#
        ));
        let hash = hash(word, &command, seconds);
        trust.push(format!(r#""{PLACE}:{word}:0:0"={{trusted_hash="{hash}"}}"#));
    }
    arguments.push("-c".to_owned());
    arguments.push(format!("hooks.state={{{}}}", trust.join(",")));
    arguments.extend(trusted_folders(inputs));
    arguments.extend(SWITCHES.map(str::to_owned));
    Ok(GuardSetup {
        arguments,
        ..GuardSetup::default()
    })
}

/// Codex would record an unknown folder as trusted for ever. Trust on the command line applies to this
/// process alone. Folders that the person's settings mention keep what they say.
fn trusted_folders(inputs: &GuardInputs<'_>) -> Vec<String> {
    let said = inputs
        .personal
        .and_then(|own| own.settings)
        .unwrap_or_default();
    let folders = inputs.workplace.folders.iter();
    let folders = folders.filter_map(|folder| Some(wire::toml_text(folder.to_str()?)));
    let new = folders.filter(|folder| !said.contains(folder));
    let new: Vec<String> = new
        .map(|folder| format!(r#"{folder}={{trust_level="trusted"}}"#))
        .collect();
    if new.is_empty() {
        Vec::new()
    } else {
        vec!["-c".to_owned(), format!("projects={{{}}}", new.join(","))]
    }
}

fn hash(event_name: &'static str, command: &str, timeout: u64) -> String {
    let trusted = Trusted {
        event_name,
        hooks: [TrustedHook {
            r#async: false,
            command,
            timeout,
            r#type: "command",
        }],
    };
    // This cannot fail for strings and numbers. If it does, Codex does not trust the hook, and we notice
    // that it is missing.
    let bytes = serde_json::to_vec(&trusted).unwrap_or_default();
    let digest = Sha256::digest(&bytes);
    let mut text = "sha256:".to_owned();
    for byte in digest {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
