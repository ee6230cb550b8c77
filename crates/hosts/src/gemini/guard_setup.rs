//! Our hooks in one process of Gemini CLI: a separate home folder with the person's settings and ours.
//!
//! The variable for system settings would be simpler, but Gemini CLI accepts that file only if root owns
//! it in folders that nobody else may write to, and otherwise prints a warning and ignores it.

use std::path::{Path, PathBuf};

use super::wire;
use crate::agent_process::{
    GuardError, GuardInputs, GuardSetup, PersonalSettings, PersonalSettingsLocation, SettingsText,
};
use crate::shell::shell_word;

pub(super) const PERSONAL_SETTINGS: PersonalSettingsLocation = PersonalSettingsLocation {
    variable: "GEMINI_CLI_HOME",
    below_variable: ".gemini",
    below_home: ".gemini",
    file: "settings.json",
};

/// The events with their timeouts in milliseconds.
const EVENTS: [(&str, u64); 5] = [
    ("SessionStart", 10_000),
    ("BeforeTool", 10_000),
    ("AfterTool", 10_000),
    ("AfterAgent", 10_000),
    ("SessionEnd", 5_000),
];

/// Credentials and customisations of the person. Conversations are not among them: a run has its own.
const SHARED: [&str; 16] = [
    ".env",
    "GEMINI.md",
    "a2a-oauth-tokens.json",
    "acknowledgments",
    "agents",
    "commands",
    "extensions",
    "gemini-credentials.json",
    "google_accounts.json",
    "installation_id",
    "mcp-oauth-tokens.json",
    "oauth_creds.json",
    "policies",
    "policy_integrity.json",
    "skills",
    "trustedFolders.json",
];

pub(super) fn guard_setup(inputs: &GuardInputs<'_>) -> Result<GuardSetup, GuardError> {
    let home = inputs.folder.join("gemini");
    let variable = home
        .to_str()
        .ok_or_else(|| GuardError::NotText(home.clone()))?;
    not_switched_off(inputs.workplace.settings)?;
    let folder = home.join(PERSONAL_SETTINGS.below_variable);
    let program = shell_word(inputs.program);
    let hooks = EVENTS.map(|(event, timeout)| {
        let command = format!("{program} hook gemini {event}");
        (event, command, timeout)
    });
    let settings = settings(inputs.personal.as_ref())?;
    Ok(GuardSetup {
        arguments: Vec::new(),
        variables: vec![(PERSONAL_SETTINGS.variable.to_owned(), variable.to_owned())],
        files: vec![(
            folder.join(PERSONAL_SETTINGS.file),
            wire::with_hooks(settings, &hooks),
        )],
        links: inputs
            .personal
            .map(|own| links(&folder, own.folder))
            .unwrap_or_default(),
    })
}

/// The project's settings win over those in the home folder.
fn not_switched_off(project: Option<SettingsText<'_>>) -> Result<(), GuardError> {
    let Some(SettingsText { file, text }) = project else {
        return Ok(());
    };
    // Gemini CLI cannot read an invalid file either, and reports it.
    match serde_json::from_str(&without_comments(text)) {
        Ok(settings) if wire::switches_off(&settings) => {
            Err(GuardError::SwitchedOff(file.to_owned()))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

fn links(folder: &Path, own: &Path) -> Vec<(PathBuf, PathBuf)> {
    SHARED
        .iter()
        .map(|name| (folder.join(name), own.join(name)))
        .collect()
}

fn settings(own: Option<&PersonalSettings<'_>>) -> Result<wire::Settings, GuardError> {
    let Some((own, text)) = own.and_then(|own| Some((own, own.settings?))) else {
        return Ok(wire::Settings::new());
    };
    let file = || own.folder.join(PERSONAL_SETTINGS.file);
    let plain = without_comments(text);
    if plain.trim().is_empty() {
        return Ok(wire::Settings::new());
    }
    match serde_json::from_str(&plain) {
        Ok(serde_json::Value::Object(settings)) => Ok(settings),
        Ok(_) => Err(GuardError::NotAnObject(file())),
        Err(error) => Err(GuardError::Settings {
            file: file(),
            line: error.line(),
            column: error.column(),
        }),
    }
}

/// Replaces comments by spaces, as Gemini CLI does.
fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (length, is_comment) = match first {
            '"' => (text_end(rest), false),
            '/' if rest.starts_with("//") => (rest.find('\n').unwrap_or(rest.len()), true),
            '/' if rest.starts_with("/*") => {
                (rest.find("*/").map_or(rest.len(), |at| at + 2), true)
            }
            first => (first.len_utf8(), false),
        };
        let (piece, after) = rest.split_at(length);
        if is_comment {
            // Keep line breaks, so that an error has the right position.
            plain.extend(piece.chars().map(|c| if c == '\n' { c } else { ' ' }))
        } else {
            plain.push_str(piece)
        }
        rest = after;
    }
    plain
}

/// The end of the string that begins here.
fn text_end(rest: &str) -> usize {
    let mut escaped = false;
    let end = rest.char_indices().skip(1).find(|(_, c)| {
        let is_end = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        is_end
    });
    end.map_or(rest.len(), |(at, _)| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_become_spaces_and_strings_stay() {
        for (text, expected) in [
            ("{} // x", "{}     "),
            ("{ /* x\n */ }", "{     \n    }"),
            (r#"{"a": "b // c"}"#, r#"{"a": "b // c"}"#),
            (r#"{"a\"//": 1}"#, r#"{"a\"//": 1}"#),
            (r#"{"a\\"//x"#, r#"{"a\\"   "#),
            ("/* never ends", "             "),
            ("\"never ends //", "\"never ends //"),
        ] {
            assert_eq!(without_comments(text), expected);
        }
    }
}
