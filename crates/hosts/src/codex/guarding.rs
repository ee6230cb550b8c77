//! Our hooks in one process of Codex: they and the trust in them stand on its command line.
//!
//! A hook that nobody trusts is skipped without a word. Trust is the hash of the hook, under its place;
//! given so it holds for our hooks alone, and not for those that a project brings.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use super::wire::{self, Trusted, TrustedHook};
use crate::agent_process::{Guard, Guarding, OwnPlace, Unguardable};
use crate::shell::shell_word;

/// Where it would note that a person trusts a folder.
pub const OWN: OwnPlace = OwnPlace {
    variable: "CODEX_HOME",
    below_variable: "",
    below_home: ".codex",
    file: "config.toml",
};

/// What Codex calls the place of settings that stand on its command line.
const PLACE: &str = "/<session-flags>/config.toml";

/// The events, the word for each in the trust, and the time for an answer. Codex gives the last one
/// no more than three seconds.
const EVENTS: [(&str, &str, u64); 5] = [
    ("SessionStart", "session_start", 10),
    ("PreToolUse", "pre_tool_use", 10),
    ("PostToolUse", "post_tool_use", 10),
    ("Stop", "stop", 10),
    ("SessionEnd", "session_end", 3),
];

/// What is typed into a running command reaches no hook, so there are no such commands.
const SWITCHES: [&str; 4] = ["--enable", "hooks", "--disable", "unified_exec_tty"];

pub fn guarding(guard: &Guard<'_>) -> Result<Guarding, Unguardable> {
    let mut arguments = Vec::new();
    let mut trust = Vec::new();
    for (event, word, seconds) in EVENTS {
        let command = format!("{} hook codex {event}", shell_word(guard.program));
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
    arguments.extend(trusted_folders(guard));
    arguments.extend(SWITCHES.map(str::to_owned));
    Ok(Guarding {
        arguments,
        ..Guarding::default()
    })
}

/// A folder of which its settings say nothing it would note there as trusted, for ever. Said on the
/// command line, it holds for this process alone. What the person has said of a folder stays.
fn trusted_folders(guard: &Guard<'_>) -> Vec<String> {
    let said = guard.own.and_then(|own| own.settings).unwrap_or_default();
    let folders = guard.ground.folders.iter();
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
    // Texts and numbers always become JSON. Should they not, the hook is not trusted, and is missed.
    let bytes = serde_json::to_vec(&trusted).unwrap_or_default();
    let digest = Sha256::digest(&bytes);
    let mut text = "sha256:".to_owned();
    for byte in digest {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
